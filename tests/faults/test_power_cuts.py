"""R2: a power cut loses nothing that was acknowledged; with `synchronous=NORMAL` it must, or the rig proves nothing."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from .power_campaign import PowerCampaign
from .power_cut import plug, skip_unless_possible


def campaign(folder: Path, *, cuts: int, **settings: str) -> PowerCampaign:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # shown when the test fails
    with plug(folder) as rig:
        run = PowerCampaign(rig, random.Random(seed), dict(settings))
        run.run(busy=cuts // 2, paced=cuts - cuts // 2)
    return run


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_sixty_power_cuts_lose_nothing_and_the_weaker_setting_does(tmp_path: Path, say: Callable[[str], None]) -> None:
    skip_unless_possible()
    control = campaign(tmp_path, cuts=20, FAULT_SYNCHRONOUS="normal")
    say(f"control with synchronous=NORMAL: {control.figures()}")
    assert control.lost or control.unsound, "void: the rig did not lose what was never synced"
    ours = campaign(tmp_path, cuts=60)
    say(ours.figures())
    assert ours.lost == []
    assert ours.unsound == []
    assert ours.cuts == 60


def test_four_power_cuts_lose_nothing(tmp_path: Path, say: Callable[[str], None]) -> None:
    skip_unless_possible()
    ours = campaign(tmp_path, cuts=4)
    say(ours.figures())
    assert ours.lost + ours.unsound == []
