"""Open messages in memory: bounded, and only while nothing was undone."""

from pathlib import Path

import pytest

from peerline.core.ids import MessageId
from peerline.core.message import Message
from peerline.store.api import Tx
from peerline.store.recent import SMALL, Recent
from peerline.store.tables import messages as sql
from tests.core.test_message import a_message
from tests.hub.parts import Parts


def numbered(number: int, size: int = 100) -> Message:
    return a_message().changed(id=MessageId(f"msg_{number}"), body="x" * size)


def test_what_is_kept_stays_below_its_bound() -> None:
    recent = Recent(10 * (SMALL + 100))
    for number in range(100):
        recent.keep(numbered(number))
        assert len(recent) <= 10
    assert recent.get(MessageId("msg_99")) == numbered(99)


def test_a_message_that_changes_or_goes_is_weighed_once() -> None:
    recent = Recent(2 * (SMALL + 100))
    recent.keep(numbered(0))
    for _ in range(10):
        recent.keep(numbered(1))
        recent.drop(MessageId("msg_1"))
        recent.drop(MessageId("msg_1"))
    recent.keep(numbered(1))
    assert len(recent) == 2


@pytest.mark.parametrize("most_bytes", [0, SMALL])
def test_what_does_not_fit_is_not_kept(most_bytes: int) -> None:
    recent = Recent(most_bytes)
    recent.keep(numbered(0))
    assert not len(recent)


@pytest.fixture
def hub(tmp_path: Path) -> Parts:
    return Parts(tmp_path)


def test_a_request_is_taken_and_replied_without_being_read_again(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")
    readings: list[str] = []

    def ran(cursor: object, statement: str, bindings: object) -> bool:
        readings.append(statement.strip())
        return True

    hub.connection.exec_trace = ran
    hub.messages.acknowledge(sent.id, reviewer).result()
    hub.messages.reply(sent.id, reviewer, "ok").result()
    assert readings
    assert sql.GET.strip() not in readings
    hub.messages.get(sent.id, lead).result()
    assert sql.GET.strip() in readings


def test_what_a_transaction_that_was_undone_changed_is_not_remembered(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")

    def broken(tx: Tx) -> None:
        tx.messages.save_delivered(tx.messages.get(sent.id).acknowledged(reviewer.id, hub.now()))
        raise RuntimeError("broken on purpose")

    assert isinstance(hub.store.write(broken).error, RuntimeError)
    assert hub.messages.acknowledge(sent.id, reviewer).result()[1]
