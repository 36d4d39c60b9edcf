"""The list of promised figures, the arms that give them, and the report about them."""

import os

from bench.__main__ import loads_of
from bench.arms import ARMS
from bench.drive import figures
from bench.proc import cpu_seconds, resident_bytes, tree
from bench.table import report
from bench.targets import LOADS, NAMES, TARGETS, Reading
from bench.verdict import Verdict, judge
from bench.window import Window

PROMISED = {
    "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P13", "P14", "P15", "LINE", "NET", "RELAY",
}  # fmt: skip


def test_every_promised_figure_so_far_is_a_target() -> None:
    assert {target.id for target in TARGETS} == PROMISED


def test_an_aim_is_never_easier_than_its_must() -> None:
    assert all(target.holds(target.aim, target.must) for target in TARGETS)


def test_every_reading_names_an_arm_that_exists_and_has_a_name_for_people() -> None:
    arms = set(loads_of(TARGETS))
    assert arms <= set(ARMS)
    assert arms <= set(NAMES)


def test_an_arm_runs_only_the_loads_that_its_targets_need_and_light_ones_first() -> None:
    loads = loads_of(TARGETS)
    assert loads["peerline"] == ["1", "8", "64", "8x32k"]
    assert loads["postgres"] == ["8", "64"]
    assert loads["rabbitmq"] == ["64"]
    only_p5 = loads_of([target for target in TARGETS if target.id == "P5"])
    assert only_p5 == {"peerline": ["64"], "nats": ["64"], "redis": ["64"]}


def test_the_report_has_a_line_for_every_target_with_both_bounds_and_the_verdict() -> None:
    target = next(target for target in TARGETS if target.id == "P1")
    assert target.theirs is not None
    samples = [{target.ours: 5000.0, target.theirs: 1000.0}]
    text = report(
        [judge(one, samples) for one in TARGETS], samples, {"redis": "missing, apt-get install redis-server"}, "2 cores"
    )
    row = next(line for line in text.splitlines() if line.startswith("P1") and "8 pairs" in line)
    assert all(part in row for part in ("5,000", "1,000", "5.00×", "≥ 2×", "≥ 3×", Verdict.AIM.value))
    assert sum("≥" in line or "≤" in line for line in text.splitlines()) == len(TARGETS)
    assert "not measured: Redis: missing, apt-get install redis-server" in text
    assert "this machine: 2 cores" in text
    assert "only ratios inside one run count" in text


def test_figures_are_counted_over_the_measured_time() -> None:
    found = figures([0.004, 0.001, 0.002, 0.003], seconds=2.0, cpu=0.001)
    assert found == {"rate": 2.0, "p50": 3.0, "p99": 4.0, "cpu": 250.0}


def test_only_what_ends_while_the_window_is_open_counts() -> None:
    window = Window()
    window.ended(0.0)
    window.open()
    window.ended(0.0)
    assert window.going
    window.shut()
    window.ended(0.0)
    assert len(window.latencies) == 1
    assert not window.going


def test_a_process_has_cpu_time_memory_and_itself_in_its_tree() -> None:
    here = os.getpid()
    assert here in tree(here)
    assert cpu_seconds(here) > 0
    assert resident_bytes(here) > 1_000_000


def test_a_process_that_is_gone_counts_nothing() -> None:
    gone = 2**22 + 1  # above the largest process id
    assert (cpu_seconds(gone), resident_bytes(gone)) == (0, 0)


def test_readings_are_named_by_arm_load_and_metric() -> None:
    assert str(Reading("nats", "8x32k", "rate")) == "nats.8x32k.rate"
    assert set(LOADS) == {"1", "8", "64", "8x32k"}
