"""Messages as the hub would tell them, read by the client's own records."""

from typing import Any

import msgspec

from peerline.client.records import Message
from tests.client.scripted_hub import message, replied


def a_message(status: str = "queued", **members: Any) -> Message:
    given = replied() if status == "replied" else message(status)
    return msgspec.convert({**given, **members}, Message)
