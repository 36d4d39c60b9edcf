"""Numbers that rise survive whatever the memory that counts them does not."""

from pathlib import Path

import pytest

from peerline.core.draft import Draft
from peerline.core.errors import RecipientQueueFull
from tests.hub.parts import RETENTION_MS, Parts, draft


def test_after_a_kill_every_number_goes_on_where_the_messages_stopped(tmp_path: Path) -> None:
    hub = Parts(tmp_path)
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = [hub.send(lead, "reviewer") for _ in range(3)]
    hub.messages.reply(sent[0].id, reviewer, "ok").result()
    hub.connection.close()  # nothing was flushed
    hub = Parts(tmp_path, hub.time)
    after = hub.send(lead, "reviewer")
    assert (after.number, after.seq) == (4, 4)
    assert hub.messages.reply(sent[1].id, reviewer, "ok").result().sender_event == 2
    assert hub.messages.cancel(sent[2].id, lead).result().recipient_event == 1


def test_after_a_purge_and_a_kill_no_number_comes_again(tmp_path: Path) -> None:
    hub = Parts(tmp_path)
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")
    hub.messages.reply(sent.id, reviewer, "ok").result()
    hub.time.step(1 + RETENTION_MS / 1000)
    assert hub.messages.purge(RETENTION_MS, 100).result() == 1
    hub.connection.close()
    hub = Parts(tmp_path, hub.time)
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    after = hub.send(lead, "reviewer")
    assert (after.number, after.seq) == (2, 2)
    assert hub.messages.reply(after.id, reviewer, "ok").result().sender_event == 2


def test_a_full_queue_is_counted_anew_when_it_matters(tmp_path: Path) -> None:
    hub = Parts(tmp_path, queue_limit=5)
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    for _ in range(40):
        sent = hub.send(lead, "reviewer")
        hub.messages.reply(sent.id, reviewer, "ok").result()
    for _ in range(5):
        hub.send(lead, "reviewer")
    with pytest.raises(RecipientQueueFull):
        hub.send(lead, "reviewer")
    hub.connection.close()
    hub = Parts(tmp_path, hub.time, queue_limit=5)
    with pytest.raises(RecipientQueueFull):
        hub.send(lead, "reviewer")


def test_work_that_was_undone_leaves_a_gap_and_no_twin(tmp_path: Path) -> None:
    hub = Parts(tmp_path)
    lead = hub.agent("lead")
    hub.agent("reviewer")
    pages = int(str(hub.connection.pragma("page_count")))
    hub.connection.pragma("max_page_count", pages + 2)
    results = [hub.messages.send(lead, _large()) for _ in range(3)]
    assert all(result.failed for result in results)
    hub.connection.pragma("max_page_count", pages + 1_000)
    numbers = [hub.send(lead, "reviewer").seq for _ in range(3)]
    assert numbers == sorted(set(numbers))


def _large() -> Draft:
    return draft("reviewer", "x" * 31_000)
