"""What a harness does, in words that all of them share."""

from dataclasses import dataclass
from typing import Final

ABORTED: Final = "aborted"
QUOTA: Final = "quota"
PROVIDER: Final = "provider_error"
_QUOTA_WORDS: Final = ("quota", "rate limit", "rate_limit", "usage limit", "insufficient_quota", "429", "credit")


@dataclass(frozen=True, slots=True)
class Ready:
    """It takes turns now; `session` is what its session can be resumed by."""

    session: str


@dataclass(frozen=True, slots=True)
class Unresumable:
    """The session's history cannot be gone on with."""

    why: str


@dataclass(frozen=True, slots=True)
class Began:
    """The text handed in as `key` is in a turn."""

    key: str


@dataclass(frozen=True, slots=True)
class Declined:
    """The text handed in as `key` was not taken; it may be handed in again."""

    key: str
    why: str


@dataclass(frozen=True, slots=True)
class ToolBegan:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    id: str


@dataclass(frozen=True, slots=True)
class Settled:
    """It rests. `text` is its last word in the turn; `failure`: there is none, for this class of reason."""

    text: str
    failure: str | None = None
    why: str = ""


Happening = Ready | Unresumable | Began | Declined | ToolBegan | ToolEnded | Settled


def failure_class(why: str) -> str:
    """`quota` or `provider_error`, by the words of a provider's error."""
    low = why.lower()
    return QUOTA if any(word in low for word in _QUOTA_WORDS) else PROVIDER
