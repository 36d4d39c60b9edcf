"""`Prefer: return=minimal` (RFC 7240): answers without the texts that the caller has sent or got (decision 37)."""

from collections.abc import Mapping
from typing import Final

from peerline.server.exchange import Request

APPLIED: Final = ("preference-applied", "return=minimal")


def minimal(request: Request) -> bool:
    head = request.head
    if head is None:
        return _asked(request.headers)
    if head.minimal is None:
        head.minimal = _asked(head.headers)
    return head.minimal


def _asked(headers: Mapping[str, str]) -> bool:
    """Of two `return` preferences the first one counts; what is not understood is passed over."""
    for preference in headers.get("prefer", "").lower().split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        if name.strip() == "return":
            return value.strip().strip('"') == "minimal"
    return False
