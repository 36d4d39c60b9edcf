"""R21, R29, G1 to G6: a gateway that is killed after any step of its journal sends once and delivers once."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.hub_process import HubProcess

from .gateway_defects import DEFECTS
from .gateway_kills import CALL, LATE, POINTS, UNMET, GatewayCampaign

TIMES = 50
A_FEW = ("sending", "told", "pushed", "filed", "confirmed", "answering")
# Where lives must end for the defect to show, and what the campaign says of it then.
SHOWS = {
    "sent_before_it_is_noted": ((CALL,), "sent twice"),
    "drained_when_pushed": (("pushed", "filed"), "drained and not delivered"),
    "filed_and_pushed": (("pushing",), r"G4: .* files and pushes|filed twice"),
    "drained_by_room": (("drained", "held"), "drained"),
    "told_before_it_is_written": (("refused", "told"), "FileNotFoundError|'state'|KeyError|assert 'sent' =="),
    "routes_written_in_place": ((CALL,), "JSONDecodeError"),
    "persons_answered": (("waits-for-person",), "G1|pushed twice"),
}


@pytest.fixture
def campaign(tmp_path: Path, start_hub: Callable[..., HubProcess]) -> Iterator[GatewayCampaign]:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # shown when the test fails
    campaign = GatewayCampaign(tmp_path, random.Random(seed), start_hub())
    yield campaign
    campaign.close()


@pytest.mark.requirement("RELAY-TRUST-NO-DRAIN", "RELAY-TRUST-DRAIN-AFTER", "RELAY-NO-FALSE-DELIVERY")
def test_a_few_kills_send_once_and_deliver_once(campaign: GatewayCampaign, say: Callable[[str], None]) -> None:
    campaign.begin()
    campaign.until(1, A_FEW)
    campaign.end()
    say(campaign.figures())


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.requirement("RELAY-TRUST-NO-DRAIN", "RELAY-TRUST-DRAIN-AFTER", "RELAY-REPLY-FILE-OR-PUSH")
def test_fifty_kills_after_every_step_send_once_and_deliver_once(
    campaign: GatewayCampaign, say: Callable[[str], None]
) -> None:
    campaign.begin()
    campaign.until(TIMES)
    campaign.end()
    campaign.expire(TIMES)
    say(campaign.figures())
    assert all(campaign.kills[point] >= TIMES for point in (*POINTS, LATE, CALL))
    assert campaign.steps_seen <= {*POINTS, LATE, UNMET}, "a step of the journal that the campaign doesn't know"


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_put_into_the_gateway_is_caught(campaign: GatewayCampaign, defect: str) -> None:
    campaign.defect = defect
    points, says = SHOWS[defect]
    with pytest.raises((AssertionError, OSError, ValueError, KeyError)) as caught:
        _rounds(campaign, points * 100)  # where a kill lands is chance; it ends when the defect shows
    assert re.search(says, f"{caught.type.__name__}: {caught.value}"), caught.value


def _rounds(campaign: GatewayCampaign, points: Sequence[str]) -> None:
    campaign.begin()
    for point in points:
        campaign.round(point)
    campaign.end()
