"""What a sender can do after a refusal: the sentence for a person beside the code for a program."""

from collections.abc import Mapping
from typing import Final

from peerline.core.errors import (
    Busy,
    HopLimitReached,
    HumanNotHere,
    IdempotencyConflict,
    PairHeld,
    PeerlineError,
    RecipientQueueFull,
    RingDetected,
    SelfTarget,
    StorageFailed,
    StorageFull,
    TargetAmbiguous,
    TargetNotFound,
    TooMany,
    Unavailable,
    WorkflowContextForbidden,
)

CORRECT: Final = "correct the request and send it again"
LATER: Final = "send it again in a moment, with the same idempotency key"
_ANSWER: Final = "answer the request at hand instead of passing it on"

STEPS: Final[Mapping[str, str]] = {
    TargetNotFound.code: "see who is here with `peerline list`, and correct the name",
    TargetAmbiguous.code: "send it to one of the addresses that the text names",
    SelfTarget.code: "ask another agent",
    HumanNotHere.code: "send it without needs, or ask your own user",
    HopLimitReached.code: _ANSWER,
    RingDetected.code: _ANSWER,
    RecipientQueueFull.code: "ask another agent, cancel what nobody needs any more, or wait until it has caught up",
    PairHeld.code: "a person lets the two agents go on with `peerline continue`; `peerline why` names them",
    TooMany.code: "wait a minute, then send it again; wait for replies with await instead of asking in a loop",
    IdempotencyConflict.code: "repeat the first request exactly, or use a new idempotency key",
    WorkflowContextForbidden.code: "send it without workflowContext",
    StorageFull.code: "free space on the disk of the hub, then send it again",
    StorageFailed.code: "look at the disk and the log of the hub, then send it again",
    Busy.code: "find the process that holds the hub's database (`peerline doctor`), then send it again",
}
AWAY: Final = "send it with allowOffline (`kxm peer send --allow-offline`), and it goes out when that agent connects"

NO_GATEWAY: Final = (
    "join a network with `peerline join` if this project has none; `peerline up` keeps its gateway running"
)


def next_step(refused: PeerlineError) -> str:
    return STEPS.get(refused.code) or (LATER if isinstance(refused, Unavailable) else CORRECT)
