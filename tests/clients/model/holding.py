"""A model that a test holds in the middle of its answer."""

import re
import threading
from typing import Final

from tests.clients.model.conversation import Answer, Conversation
from tests.hub_process import PATIENCE_S

MARKED: Final = re.compile(r"│ (.*)")


def texts(conversation: Conversation) -> list[str]:
    """The lines of other agents' texts that were said in this exchange, as the frame marks them."""
    return MARKED.findall(conversation.asked)


class Holding:
    """It answers with the newest body; with one that holds `text` it begins, and ends when it may `go`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begun, self._go = threading.Event(), threading.Event()

    def __call__(self, conversation: Conversation) -> Answer:
        body = (texts(conversation) or [conversation.asked])[-1]
        if self._text in body:
            self._begun.set()
            self._go.wait(PATIENCE_S)
        return Answer(f"answer to {body}")

    def begun(self) -> None:
        assert self._begun.wait(PATIENCE_S), "the model was not asked"

    def go(self) -> None:
        self._go.set()
