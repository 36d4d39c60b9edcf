"""The report: one line a target, then each system's own figures."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from bench.targets import LOADS, NAMES, Reading
from bench.verdict import Line, Samples, Verdict

CAVEATS: Final = (
    "P2: at 64 pairs redis-py, not Redis, is the limit; server CPU (P5) is the fair comparison.",
    "P4: A2A keeps the answering agent inside the server and crosses the wire once; it does less than the others.",
    "P11: the SDK's server lists the same tools but knows no hub; ours is registered, and listens, when weighed.",
    "LINE: the promise names no percentile of the round trip; the row against its p50 is the strict reading.",
)


def report(lines: Sequence[Line], samples: Samples, reasons: Mapping[str, str], machine: str) -> str:
    """`reasons` names, an arm, why it gave no figures; `machine` says where this ran."""
    parts = [_targets(lines, reasons), _systems(samples)]
    parts += [f"not measured: {NAMES[arm]}: {reason}" for arm, reason in reasons.items()]
    parts += [*CAVEATS, f"medians of {len(samples)} round{'s' * (len(samples) != 1)}; only ratios inside one run count"]
    parts.append(f"this machine: {machine}")
    return "\n".join(part for part in parts if part)


def _targets(lines: Sequence[Line], reasons: Mapping[str, str]) -> str:
    rows: list[tuple[str, ...]] = [("", "what", "ours", "theirs", "result", "must", "aim", "")]
    for line in lines:
        target = line.target
        sign = "×" if target.theirs else f" {target.unit}"
        bounds = [f"{target.bound} {_bound(bound)}{sign}" for bound in (target.must, target.aim)]
        value = "–" if line.value is None else f"{line.value:.2f}{sign}"
        ours = _figure(line.ours) if target.theirs else ""
        rows.append((target.id, target.what, ours, _figure(line.theirs), value, *bounds, _verdict(line, reasons)))
    return _aligned(rows, left=(0, 1, 7))


def _verdict(line: Line, reasons: Mapping[str, str]) -> str:
    word = str(line.verdict.value)
    if line.verdict is not Verdict.UNKNOWN:
        return word
    readings = [line.target.ours, *([line.target.theirs] if line.target.theirs else [])]
    named = [NAMES[reading.arm] for reading in readings if reading.arm in reasons]
    return f"{word}: {', '.join(named)}" if named else word


def _systems(samples: Samples) -> str:
    """Round trips a second, p50 and p99 (ms), and server CPU (µs) a round trip, for each load."""
    found = {reading for one in samples for reading in one if reading.metric == "rate"}
    if not found:
        return ""
    rows: list[tuple[str, ...]] = [("", *(f"{load}: /s  p50  p99  cpu" for load in LOADS))]
    for arm in (arm for arm in NAMES if any(reading.arm == arm for reading in found)):
        cells = []
        for load in LOADS:
            figures = [_over(samples, Reading(arm, load, metric)) for metric in ("rate", "p50", "p99", "cpu")]
            cells.append("" if figures[0] is None else "  ".join(_figure(figure) for figure in figures))
        rows.append((NAMES[arm], *cells))
    return "\n" + _aligned(rows, left=(0,)) + "\n"


def _over(samples: Samples, reading: Reading) -> float | None:
    values = [one[reading] for one in samples if reading in one]
    return median(values) if values else None


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _bound(value: float) -> str:
    return f"{value:g}"


def _aligned(rows: Sequence[Sequence[str]], left: Sequence[int]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        padded = [cell.ljust(w) if at in left else cell.rjust(w) for at, (cell, w) in enumerate(cells)]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)
