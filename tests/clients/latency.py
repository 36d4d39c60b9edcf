"""How long messages took, by route: collected by the tests, printed when they have ended."""

from math import ceil

_TAKEN: dict[str, list[float]] = {}


def took(route: str, seconds: float) -> None:
    _TAKEN.setdefault(route, []).append(seconds)


def taken() -> dict[str, list[float]]:
    """All of this process."""
    return _TAKEN


def add(others: dict[str, list[float]]) -> None:
    """What another process collected."""
    for route, values in others.items():
        _TAKEN.setdefault(route, []).extend(values)


def quantile(values: list[float], share: float) -> float:
    """The smallest value that `share` of the values do not exceed."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def lines() -> list[str]:
    return [
        f"{route}: n={len(values)} p50={quantile(values, 0.5) * 1000:.0f} ms p95={quantile(values, 0.95) * 1000:.0f} ms"
        for route, values in sorted(_TAKEN.items())
    ]
