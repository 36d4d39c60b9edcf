"""What a call can end with besides its answer: the hub's refusals as typed errors, and what only a client can say.

    PeerlineError
    ├── Invalid, Unproven, Forbidden, NotFound, Conflict, …    the hub refused; the class is the one of its `code`
    ├── Refused                a code this version does not know; also an instance of its status's class
    ├── Unreachable            nothing was sent: try again as you like
    ├── OutcomeUnknown         sent, no answer: it may or may not have happened
    ├── TimedOut               the wait ended; the request goes on
    ├── InvalidAnswer          what answered does not speak the hub's protocol
    └── AlreadyStarted         start() was called twice

`error.extras` holds what the hub added: `requestId`, `status`, `nextAction`, `retryAfter` …
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from peerline.core import errors
from peerline.core.errors import PeerlineError


class Refused(PeerlineError):
    code = "refused"


class HubFailed(Refused):
    """The hub met a fault of its own; its log has the request id."""

    code = "internal_error"


class Unreachable(PeerlineError):
    code = "hub_unreachable"


class OutcomeUnknown(PeerlineError):
    """A request was sent and no answer came.

    A send is safe to repeat with `idempotency_key`: it has at most one effect. Other acts: look first.
    """

    code = "outcome_unknown"

    def __init__(self, text: str, *, idempotency_key: str | None = None) -> None:
        super().__init__(text)
        self.idempotency_key = idempotency_key


class TimedOut(PeerlineError):
    """A wait ended before its message was final; nothing about the message changed."""

    code = "timed_out"


class InvalidAnswer(PeerlineError):
    code = "invalid_answer"


class AlreadyStarted(PeerlineError):
    code = "already_started"


BY_STATUS: Final[Mapping[int, type[PeerlineError]]] = {
    400: errors.Invalid,
    401: errors.Unproven,
    403: errors.Forbidden,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.TooLarge,
    415: errors.WrongMedia,
    421: errors.Misdirected,
    429: errors.TooMany,
    503: errors.Unavailable,
    507: errors.StorageFull,
}


def _family(kind: type[PeerlineError]) -> dict[str, type[PeerlineError]]:
    return {kind.code: kind} | {code: k for child in kind.__subclasses__() for code, k in _family(child).items()}


BY_CODE: Final[Mapping[str, type[PeerlineError]]] = {
    HubFailed.code: HubFailed,
    **{code: kind for root in BY_STATUS.values() for code, kind in _family(root).items()},
}


def refusal(status: int, body: Mapping[str, Any], retry_after: str | None = None) -> PeerlineError:
    """The typed error for an answer with `status` ≥ 400; at 500 and above its `detail` says more than its text."""
    code = body.get("code")
    text = body.get("detail") if status >= 500 and body.get("detail") else body.get("error")
    extras = {name: value for name, value in body.items() if name not in ("error", "code")} | {"status": status}
    if retry_after is not None and retry_after.isascii() and retry_after.isdigit():
        extras["retryAfter"] = int(retry_after)
    kind = error_class(code if isinstance(code, str) else f"http_{status}", status)
    return kind(text if isinstance(text, str) and text else f"the hub answered HTTP {status}", **extras)


@lru_cache(maxsize=256)
def error_class(code: str, status: int) -> type[PeerlineError]:
    """The class of a code; an unknown one gets a class of its own below `Refused` and its status's class."""
    if known := BY_CODE.get(code):
        return known
    family = BY_STATUS.get(status)
    bases = (Refused, family) if family else (HubFailed,) if status >= 500 else (Refused,)
    return type("Refused", bases, {"code": code})
