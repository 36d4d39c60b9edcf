"""Records as lines: whatever is kept from before, a line says what the message is now."""

import json
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from peerline.core.ids import MessageId
from peerline.core.message import Message
from peerline.wire.messages import Lines, record
from tests.core.test_message import LEAD, REVIEWER, a_message

LATER: list[Callable[[Message], Message]] = [
    lambda message: message,
    lambda message: message.acknowledged(REVIEWER, 5),
    lambda message: message.replied(REVIEWER, 'it "works"\n', 6),
    lambda message: message.cancelled(LEAD, 7),
    lambda message: message.changed(seq=message.seq + 1),
    lambda message: message.expired(10_000_000),
]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, len(LATER) - 1)), max_size=30), st.integers(1, 3_000))
def test_a_line_is_the_record_whatever_was_written_before(steps: list[tuple[int, int]], most_bytes: int) -> None:
    lines = Lines(most_bytes)
    messages = [a_message().changed(id=MessageId(f"msg_{number}"), body="x" * number * 100) for number in range(4)]
    for number, change in steps:
        assert json.loads(lines.line(LATER[change](messages[number]))) == json.loads(
            json.dumps(record(LATER[change](messages[number])))
        )


def test_what_is_kept_stays_small() -> None:
    lines = Lines(10_000)
    for number in range(1_000):
        lines.line(a_message().changed(id=MessageId(f"msg_{number}"), body="x" * 900))
    assert lines._bytes <= 10_000


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    [',"delivery":', ',"content":"', ',"reply":{', '\\",\\"delivery\\":"', '"}', "\\"]
)


@given(TEXTS, TEXTS, TEXTS, st.integers(0, len(LATER) - 1))
def test_a_short_line_is_the_record_without_its_texts_whatever_they_are(
    body: str, reply: str, name: str, change: int
) -> None:
    message = LATER[change](a_message().changed(body=body, sender_name=name, recipient_name=name))
    if message.reply is not None:
        message = message.changed(reply=reply)
    whole = json.loads(json.dumps(record(message)))
    lines = Lines()
    assert json.loads(lines.short(message)) == {k: v for k, v in whole.items() if k not in ("content", "reply")}
    assert json.loads(b"".join(lines.outcome(message))) == {k: v for k, v in whole.items() if k != "content"}
    assert json.loads(lines.line(message)) == whole
