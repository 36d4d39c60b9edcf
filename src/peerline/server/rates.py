"""The rate limit as each answer shows it (spec/hub.md 3.2)."""

from peerline.core.errors import TooMany
from peerline.core.ids import Millis
from peerline.core.rate import RateWindow
from peerline.server.exchange import Request


def count(rates: RateWindow, request: Request, key: str, monotonic: Millis) -> None:
    """One more request of that caller. Raises: TooMany."""
    verdict = rates.count(key, monotonic)
    request.lines += f"x-ratelimit-limit: {verdict.limit}\r\nx-ratelimit-remaining: {verdict.remaining}\r\n"
    if not verdict.allowed:
        raise TooMany("request rate limit exceeded", retryAfter=verdict.retry_after_s, nextAction="wait")
