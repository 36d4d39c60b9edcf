"""The order in which a model heard of things, where a client puts a message before answers that did not know of it."""

from collections import defaultdict
from dataclasses import replace

from tests.clients.model.conversation import Conversation, Turn


class Heard:
    """Each text stands behind all that the model had said when the text first came; conversations are told apart by
    their first text.

    OpenCode sorts a message that joins a turn by when it was written. One that comes while the last answer is being
    asked for stands before that answer in the next request; a model reads it there all the same, a script that counts
    its answers would take the exchange for over.
    """

    def __init__(self) -> None:
        self._answers_before: dict[tuple[str, str], int] = {}

    def __call__(self, conversation: Conversation) -> Conversation:
        opening = next((turn.text for turn in conversation.turns if turn.text), "")
        answers = sum(turn.role == "assistant" for turn in conversation.turns)
        late: defaultdict[int, list[Turn]] = defaultdict(list)
        turns, said = list[Turn](), 0
        for turn in conversation.turns:
            if turn.role == "assistant":
                turns.append(turn)
                said += 1
                turns.extend(late.pop(said, ()))
            elif turn.text and not turn.results:
                place = self._answers_before.setdefault((opening, turn.text), answers)
                (late[place] if said < place <= answers else turns).append(turn)
            else:
                turns.append(turn)
        return replace(conversation, turns=tuple(turns))
