"""The lists by agent may be a moment behind, and nobody ever sees it."""

import json
from pathlib import Path

import pytest

from peerline.core.agent import Agent
from peerline.core.message import Message
from peerline.hub.messages import SENT
from peerline.store.tables import messages as sql
from tests.hub.parts import LEASE_MS, RETENTION_MS, Parts, ids


class Two:
    """A hub with two agents; `sent` was sent from one to the other."""

    def __init__(self, folder: Path, hub: Parts | None = None) -> None:
        self.folder, self.hub = folder, hub or Parts(folder)
        self.lead, self.reviewer = self.hub.agent("lead"), self.hub.agent("reviewer")

    def exchange(self, count: int) -> list[Message]:
        sent = [self.hub.send(self.lead, "reviewer", str(number)) for number in range(count)]
        return [self.hub.messages.reply(message.id, self.reviewer, "ok").result() for message in sent]

    def rows(self, table: str) -> int:
        return len(self.hub.connection.execute(f"SELECT 1 FROM {table}").fetchall())

    def listed(self, agent: Agent, state: str = "all") -> list[str]:
        return ids(self.hub.messages.sent(agent, state, 100).result())

    def replayed(self, after: int) -> list[str]:
        feed, screen = self.hub.watch(self.lead, resume_after=after)
        self.hub.leave(feed)
        return [json.loads(data)["message"]["id"] for data in screen.frames("reply")]

    def killed(self) -> "Two":
        """The hub after a kill: what was only in memory is gone."""
        self.hub.connection.close()
        self.hub.time.step(LEASE_MS / 1000)  # so that the names are free
        return Two(self.folder, Parts(self.folder, self.hub.time))


@pytest.fixture
def two(tmp_path: Path) -> Two:
    return Two(tmp_path)


def test_a_commit_of_messages_does_not_touch_the_lists(two: Two) -> None:
    two.exchange(1)  # an agent's first event looks for the newest one
    two.hub.store.take_in()
    two.exchange(3)
    assert (two.rows("sent"), two.rows("event")) == (1, 1)
    two.hub.store.take_in()
    assert (two.rows("sent"), two.rows("event")) == (4, 4)


def test_with_nothing_new_nothing_is_written(two: Two) -> None:
    two.exchange(1)
    two.hub.store.take_in()
    groups = two.hub.writer.groups
    two.hub.store.take_in()
    assert two.hub.writer.groups == groups


@pytest.mark.parametrize("state", sorted(SENT))
def test_a_reading_sees_what_was_committed_before_it(two: Two, state: str) -> None:
    final = ids(two.exchange(2))
    waiting = two.hub.send(two.lead, "reviewer").id
    wanted = {"all": [waiting, *final[::-1]], "open": [waiting], "undelivered": [waiting]}
    assert two.listed(two.lead, state) == wanted.get(state, final[::-1])


def test_outcomes_are_replayed_that_no_list_held(two: Two) -> None:
    outcomes = ids(two.exchange(4))
    assert two.replayed(after=1) == outcomes[1:]


def test_after_a_kill_the_lists_take_in_what_they_had_not(two: Two) -> None:
    before = ids(two.exchange(2))
    two.hub.store.take_in()
    after = ids(two.exchange(3))
    again = two.killed()
    assert again.listed(again.lead) == [*after[::-1], *before[::-1]]
    assert again.replayed(after=0) == [*before, *after]
    assert (again.rows("sent"), again.rows("event")) == (5, 5)


def test_after_a_kill_no_event_comes_under_a_number_that_was_used(two: Two) -> None:
    assert [message.sender_event for message in two.exchange(2)] == [1, 2]
    again = two.killed()
    assert [message.sender_event for message in again.exchange(2)] == [3, 4]
    assert len(again.replayed(after=0)) == 4


def test_what_is_purged_leaves_the_lists_taken_in_or_not(two: Two) -> None:
    two.exchange(2)
    two.hub.store.take_in()
    two.exchange(2)
    two.hub.messages.cancel(two.hub.send(two.lead, "reviewer").id, two.lead).result()
    two.hub.time.step(1 + RETENTION_MS / 1000)
    assert two.hub.messages.purge(RETENTION_MS, 100).result() == 5
    assert (two.rows("sent"), two.rows("event"), two.rows("message")) == (0, 0, 0)
    again = two.killed()
    assert [message.sender_event for message in again.exchange(1)] == [5]
    assert again.replayed(after=0) == again.listed(again.lead)


@pytest.mark.parametrize("statement", sorted(sql.BY_AGENT))
def test_no_reading_by_agent_sorts_or_goes_through_a_whole_table(two: Two, statement: str) -> None:
    plan = two.hub.connection.execute(
        f"EXPLAIN QUERY PLAN {statement}", {"agent": two.lead.id, "after": 0, "most": 10}
    ).fetchall()
    steps = [str(row[3]) for row in plan]
    assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step], steps
