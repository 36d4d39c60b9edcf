"""A text that a client sorts before answers which did not know of it."""

from tests.clients.model.conversation import Conversation, Turn
from tests.clients.model.heard import Heard

ASKED, NOTICE = Turn("user", "a request came"), Turn("user", "a reply came")
CALLED, RESULT = Turn("assistant", calls=("kxm_send",)), Turn("user", results=("sent",))
READ, REPLY = Turn("assistant", calls=("kxm_get",)), Turn("user", results=("the reply",))
DONE, LAST = Turn("assistant", "done"), Turn("assistant", "read")


def heard(heard: Heard, *turns: Turn) -> Conversation:
    return heard(Conversation("", "m", (), turns))


def test_a_text_that_came_while_the_last_answer_was_asked_for_is_what_the_model_is_asked_next() -> None:
    order = Heard()
    heard(order, ASKED)
    heard(order, ASKED, CALLED, RESULT)
    joined = heard(order, ASKED, CALLED, RESULT, NOTICE, DONE)
    assert joined.turns == (ASKED, CALLED, RESULT, DONE, NOTICE)
    assert (joined.asked, joined.answered) == ("a reply came", 0)


def test_it_keeps_that_place_in_all_later_requests() -> None:
    order = Heard()
    for turns in ((ASKED,), (ASKED, CALLED, RESULT), (ASKED, CALLED, RESULT, NOTICE, DONE)):
        heard(order, *turns)
    later = heard(order, ASKED, CALLED, RESULT, NOTICE, DONE, READ, REPLY)
    assert later.turns == (ASKED, CALLED, RESULT, DONE, NOTICE, READ, REPLY)
    assert (later.answered, later.result) == (1, "the reply")


def test_what_is_in_order_stays_as_it_is() -> None:
    order = Heard()
    turns = (ASKED, CALLED, RESULT, DONE, NOTICE, READ, REPLY, LAST, ASKED)
    for end in range(1, len(turns) + 1):
        assert heard(order, *turns[:end]).turns == turns[:end]


def test_another_shorter_conversation_with_the_same_text_stays_as_it_is() -> None:
    order = Heard()
    for turns in ((ASKED,), (ASKED, DONE, NOTICE), (NOTICE,)):
        heard(order, *turns)
    assert heard(order, NOTICE, DONE).turns == (NOTICE, DONE)
