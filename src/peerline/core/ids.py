"""Identifiers as they stand on the wire: `<prefix>_<32 hex digits>`."""

from collections.abc import Callable
from typing import NewType

Millis = int
AgentId = NewType("AgentId", str)
MessageId = NewType("MessageId", str)
Entropy = Callable[[int], bytes]


def ordered_id(prefix: str, now: Millis, entropy: Entropy) -> str:
    """An id whose first 12 digits are the time: rows stored one after another stay neighbours in the index."""
    return f"{prefix}_{((now & 0xFFFF_FFFF_FFFF).to_bytes(6, 'big') + entropy(10)).hex()}"


def random_id(prefix: str, entropy: Entropy) -> str:
    return f"{prefix}_{entropy(16).hex()}"
