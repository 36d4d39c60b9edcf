"""The bench's arithmetic: medians, ratios of the same round, verdicts and exit codes."""

import pytest
from bench.targets import Reading, Target
from bench.verdict import Line, Verdict, exit_code, judge, rotated

OURS, THEIRS = Reading("peerline", "8", "rate"), Reading("nats", "8", "rate")


def a_target(**changed: object) -> Target:
    about: dict[str, object] = {
        "id": "P1", "what": "round trips/s", "ours": OURS, "theirs": THEIRS, "bound": "≥", "must": 2, "aim": 3,
    }  # fmt: skip
    return Target(**{**about, **changed})  # type: ignore[arg-type]


def a_line(verdict: Verdict) -> Line:
    return Line(target=a_target(), ours=None, theirs=None, value=None, verdict=verdict)


def test_a_ratio_is_the_median_of_the_rounds_ratios_and_not_the_ratio_of_the_medians() -> None:
    samples = [{OURS: 200.0, THEIRS: 100.0}, {OURS: 300.0, THEIRS: 300.0}, {OURS: 1000.0, THEIRS: 200.0}]
    line = judge(a_target(), samples)
    assert (line.ours, line.theirs) == (300.0, 200.0)
    assert line.value == 2.0  # of 2, 1 and 5; the medians alone would say 1.5


@pytest.mark.parametrize(
    ("bound", "must", "aim", "value", "verdict"),
    [
        ("≥", 2, 3, 3.0, Verdict.AIM),
        ("≥", 2, 3, 2.99, Verdict.MUST),
        ("≥", 2, 3, 2.0, Verdict.MUST),
        ("≥", 2, 3, 1.99, Verdict.MISSED),
        ("≤", 1.4, 1.0, 1.0, Verdict.AIM),
        ("≤", 1.4, 1.0, 1.4, Verdict.MUST),
        ("≤", 1.4, 1.0, 1.41, Verdict.MISSED),
    ],
)
def test_a_bound_includes_its_own_value(bound: str, must: float, aim: float, value: float, verdict: Verdict) -> None:
    target = a_target(theirs=None, bound=bound, must=must, aim=aim)
    assert judge(target, [{OURS: value}]).verdict is verdict


def test_a_round_in_which_one_side_gave_no_figure_makes_no_ratio() -> None:
    assert judge(a_target(), [{OURS: 400.0, THEIRS: 100.0}, {OURS: 1.0}, {THEIRS: 1.0}]).value == 4.0


def test_what_has_no_figure_at_all_is_not_measured() -> None:
    assert judge(a_target(), [{OURS: 400.0}]).verdict is Verdict.UNKNOWN
    assert judge(a_target(theirs=None), [{}]).verdict is Verdict.UNKNOWN
    assert judge(a_target(), []).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([Verdict.AIM, Verdict.MUST], 0),
        ([Verdict.AIM, Verdict.UNKNOWN], 3),
        ([Verdict.UNKNOWN, Verdict.MISSED], 1),
        ([Verdict.MISSED, Verdict.AIM], 1),
    ],
)
def test_a_missed_must_counts_before_one_that_could_not_be_measured(verdicts: list[Verdict], code: int) -> None:
    assert exit_code([a_line(verdict) for verdict in verdicts]) == code


def test_every_round_has_every_arm_once_and_begins_with_another() -> None:
    arms = ["peerline", "nats", "redis"]
    rounds = [rotated(arms, number) for number in range(4)]
    assert [order[0] for order in rounds] == ["peerline", "nats", "redis", "peerline"]
    assert all(sorted(order) == sorted(arms) for order in rounds)
    assert rotated([], 2) == []
