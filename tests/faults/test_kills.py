"""R1: `kill -9` under load loses nothing that was acknowledged, and the checker that says so catches defects."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from . import stored
from .history import Act, Found, Outcome, violations
from .kills import AT_RANDOM, HOOKED, KillCampaign, now_ms

FULL = [AT_RANDOM] * 20 + [point for point in HOOKED for _ in range(20)]
READY_P99_S = 2.0


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[KillCampaign]:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # shown when the test fails
    campaign = KillCampaign(tmp_path, random.Random(seed))
    yield campaign
    campaign.hub.kill()


@pytest.mark.requirement("MSG-STORE-SQLITE", "MSG-STATE-QUEUED-HUB-RESTART")
def test_a_few_kills_under_load_lose_nothing(campaign: KillCampaign, say: Callable[[str], None]) -> None:
    campaign.begin()
    for fault in (AT_RANDOM, *HOOKED):
        campaign.round(fault)
    campaign.end()
    say(campaign.figures())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_hundred_kills_under_load_lose_nothing(campaign: KillCampaign, say: Callable[[str], None]) -> None:
    faults = list(FULL)
    campaign.chance.shuffle(faults)
    campaign.begin()
    for fault in faults:
        campaign.round(fault)
    campaign.end()
    say(campaign.figures())
    assert all(campaign.kills[point] >= 20 for point in HOOKED)
    assert campaign.never((AT_RANDOM, *HOOKED)) == []
    assert sorted(campaign.ready_s)[int(len(campaign.ready_s) * 0.99) - 1] <= READY_P99_S


def test_defects_put_into_the_real_store_are_caught(campaign: KillCampaign) -> None:
    campaign.begin()
    replied = None
    while replied is None:  # on a slow disk the first kill may come before the first reply
        campaign.round(HOOKED[2])
        before = stored.rows(stored.copied(campaign.hub.data, campaign.folder / "defects"))
        replied = next((row for row in before if row.status == "replied"), None)
    operations = campaign.load.history.operations
    accepted = next(
        op for op in operations if op.act is Act.SEND and op.outcome is Outcome.DONE and op.message != replied.id
    )

    def after(*statements: tuple[str, str]) -> str:
        """The violations once `statements` have changed a copy of the store."""
        changed = stored.copied(campaign.hub.data, campaign.folder / "defects")
        connection = apsw.Connection(str(changed))
        for statement, id_ in statements:
            connection.execute(statement, (id_,)).fetchall()
        connection.close()
        return "\n".join(violations(operations, Found(rows=stored.rows(changed), now_ms=now_ms())))

    assert after() == ""
    dropped = after(("DELETE FROM message WHERE id = ?", accepted.message or ""))
    assert "I1 lost" in dropped
    number = "(SELECT number FROM message WHERE id = ?)"
    second = after((f"UPDATE reply SET text = 'another answer' WHERE message = {number}", replied.id))
    assert "I3" in second
    wrong = after(
        ("UPDATE message SET status = 'cancelled' WHERE id = ?", replied.id),
        (f"DELETE FROM reply WHERE message = {number}", replied.id),
    )
    assert "I2" in wrong
