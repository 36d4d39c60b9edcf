"""The rate limit as each answer shows it (spec/hub.md 3.2)."""

from peerline.core.errors import TooMany
from peerline.core.ids import Millis
from peerline.core.rate import RateWindow
from peerline.server.exchange import Request


def count(rates: RateWindow, request: Request, key: str, monotonic: Millis) -> None:
    """One more request of that caller. Raises: TooMany."""
    left = request.remaining = rates.count(key, monotonic)
    if left < 0:
        request.remaining = 0
        raise TooMany("request rate limit exceeded", retryAfter=rates.retry_after_s(key, monotonic), nextAction="wait")
