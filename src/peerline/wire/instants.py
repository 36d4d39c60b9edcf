"""Moments on the wire: ISO-8601, UTC, exactly three fractional digits and `Z` (spec/hub.md 15.6)."""

from datetime import UTC, datetime
from functools import lru_cache

from peerline.core.ids import Millis


@lru_cache(maxsize=256)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


_MILLIS: list[str] = []  # made at the first use, which many a short command never comes to


@lru_cache(maxsize=4096)
def instant(at: Millis) -> str:
    if not _MILLIS:
        _MILLIS.extend(f".{millis:03d}Z" for millis in range(1000))
    return _second(at // 1000) + _MILLIS[at % 1000]


def millis(text: str) -> Millis:
    """The moment that `text` names; other fractions are accepted.

    Raises:
        ValueError: not an ISO-8601 moment with a zone.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a moment needs a zone")
    return round(moment.timestamp() * 1000)
