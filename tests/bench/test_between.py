"""The probe of two machines on one repository: which figures it gives, never how large."""

import sys
from pathlib import Path

from bench.probes.between import measured, most_within
from bench.targets import TARGETS


def test_two_daemons_give_every_figure_that_is_promised(tmp_path: Path) -> None:
    found = measured(tmp_path, Path(sys.executable).parent, times=2, idle_s=0.5)
    promised = {one for t in TARGETS if t.id == "NET" for one in (t.ours, t.theirs) if one is not None}
    assert set(found) == promised
    assert all(figure > 0 for reading, figure in found.items() if reading.load not in ("commits", "pushed"))


def test_looks_are_counted_over_any_stretch_not_over_fixed_ones() -> None:
    assert most_within(8.0, [0.0, 7.9, 8.1, 15.0, 30.0]) == 3
    assert most_within(8.0, [0.0, 8.0, 16.0]) == 1
    assert most_within(8.0, []) == 0
