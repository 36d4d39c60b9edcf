"""From the samples of all rounds to one line a target: medians, ratio, verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from bench.targets import Reading, Target

# One mapping a round; a reading that failed, or whose system is missing, is absent.
Samples = Sequence[Mapping[Reading, float]]


class Verdict(Enum):
    AIM = "aim reached"
    MUST = "must met"
    MISSED = "MISSED"
    UNKNOWN = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`ours` and `theirs` are medians; `value` is what the bounds judge, None when it could not be measured."""

    target: Target
    ours: float | None
    theirs: float | None
    value: float | None
    verdict: Verdict


def judge(target: Target, samples: Samples) -> Line:
    """The median over the rounds; of a ratio, the median of the rounds' ratios: the machine drifts between them."""
    ours = _median([one[target.ours] for one in samples if target.ours in one])
    if target.theirs is None:
        return Line(target=target, ours=ours, theirs=None, value=ours, verdict=_verdict(target, ours))
    theirs = _median([one[target.theirs] for one in samples if target.theirs in one])
    both = [one for one in samples if target.ours in one and target.theirs in one]
    value = _median([one[target.ours] / one[target.theirs] for one in both])
    return Line(target=target, ours=ours, theirs=theirs, value=value, verdict=_verdict(target, value))


def _verdict(target: Target, value: float | None) -> Verdict:
    if value is None:
        return Verdict.UNKNOWN
    if target.holds(value, target.aim):
        return Verdict.AIM
    return Verdict.MUST if target.holds(value, target.must) else Verdict.MISSED


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def exit_code(lines: Sequence[Line]) -> int:
    """1: a must was missed; 3: none was, but one could not be measured; 0: all hold."""
    verdicts = {line.verdict for line in lines}
    if Verdict.MISSED in verdicts:
        return 1
    return 3 if Verdict.UNKNOWN in verdicts else 0


def rotated(arms: Sequence[str], round_number: int) -> list[str]:
    """Every arm once, each round beginning one further: none always runs on the warmest, or the busiest, machine."""
    shift = round_number % len(arms) if arms else 0
    return [*arms[shift:], *arms[:shift]]
