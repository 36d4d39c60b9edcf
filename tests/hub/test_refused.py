"""What the hub refused somebody to send is remembered for that sender, for an hour and in bounds."""

from typing import Final

import pytest

from peerline.core.errors import HopLimitReached, RecipientQueueFull, TargetNotFound
from peerline.core.ids import AgentId
from peerline.core.limits import REFUSAL_KEPT_MS, REFUSALS
from peerline.core.next_step import AWAY, NO_GATEWAY
from peerline.hub.refused import SENDERS, Refused
from tests.hub.parts import Parts

ABSENT: Final = TargetNotFound("online target not found: reviewer")
FULL: Final = RecipientQueueFull("recipient has 6 open requests")


@pytest.fixture
def refused(hub: Parts) -> Refused:
    return Refused(hub.agents, hub.clock.now)


def test_a_repetition_counts_and_comes_first(hub: Parts, refused: Refused) -> None:
    lead = hub.agent("lead")
    for _ in range(3):
        refused.note(lead, "reviewer", FULL)
    refused.note(lead, "other", FULL)
    refused.note(lead, "reviewer", FULL)
    assert [(one.target, one.times) for one in refused.of(lead)] == [("reviewer", 4), ("other", 1)]


def test_each_sender_has_its_own(hub: Parts, refused: Refused) -> None:
    lead, other = hub.agent("lead"), hub.agent("other")
    refused.note(lead, "reviewer", FULL)
    assert refused.of(other) == []


def test_who_is_away_and_who_was_never_here_are_told_apart(hub: Parts, refused: Refused) -> None:
    lead = hub.agent("lead")
    hub.agent("reviewer", project="another")
    refused.note(lead, "reviewer", ABSENT)
    (never,) = refused.of(lead)
    assert never.why == "nobody named reviewer has been in project demo"
    hub.agent("reviewer")
    refused.note(lead, "reviewer", ABSENT)
    (away,) = refused.of(lead)
    assert (away.why, away.next) == ("reviewer is offline in project demo", AWAY)


def test_of_an_address_in_a_room_the_gateway_is_what_is_missing(hub: Parts, refused: Refused) -> None:
    lead = hub.agent("lead")
    refused.note(lead, "bob@build", ABSENT)
    (one,) = refused.of(lead)
    assert (one.why, one.next) == ("bob@build is in a room, and no gateway of project demo is at work", NO_GATEWAY)


def test_an_hour_later_it_is_over(hub: Parts, refused: Refused) -> None:
    lead = hub.agent("lead")
    refused.note(lead, "reviewer", FULL)
    hub.time.step(REFUSAL_KEPT_MS / 1_000)
    assert refused.of(lead) == []


def test_however_much_is_refused_little_is_kept(hub: Parts, refused: Refused) -> None:
    lead = hub.agent("lead")
    for number in range(REFUSALS + 5):
        refused.note(lead, f"target {number}" + "x" * 10_000, HopLimitReached("hop limit reached"))
    kept = refused.of(lead)
    assert len(kept) == REFUSALS
    assert kept[0].target.startswith(f"target {REFUSALS + 4}")
    assert max(len(one.target) for one in kept) < 200
    for number in range(SENDERS):
        refused.note(lead._replace(id=AgentId(f"agt_{number}")), "reviewer", FULL)
    assert refused.of(lead) == []
