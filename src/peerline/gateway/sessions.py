"""The sessions of this machine, as the relay sees them: by way of the hub, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from peerline.core.directory import Remote
from peerline.core.errors import Conflict, Unavailable
from peerline.core.ids import Millis

Far = Literal["refused", "waits", "taken there", "held there", "in turn there"]
Standing = Literal["waiting", "confirmed", "gone"]


class Unreachable(Unavailable):
    """Nothing was pushed, and nothing can be now; a file is the way."""

    code = "SESSION_UNREACHABLE"


class Away(Unreachable):
    """The hub can't be asked now: of what was pushed before, nothing is known."""

    code = "HUB_AWAY"


class Uncertain(Unavailable):
    """Whether the push arrived is not known; the same push again settles it, a file might say it twice."""

    code = "PUSH_UNCERTAIN"


class Unanswered(Conflict):
    """What was pushed is final, and nobody replied to it."""

    code = "UNANSWERED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A message on the hub that is for a room: `target` as its sender typed it; it is open until `until`.

    `needs` None: an agent's.
    """

    hub_message: str
    project: str
    session: str
    target: str
    body: str
    until: Millis
    needs: str | None = None


class Sessions(Protocol):
    """What was pushed twice under one key arrives once."""

    def find(self, session: str, project: str | None) -> None:
        """Make sure that the session can be pushed to.

        Raises: Unreachable
        """

    def push(self, session: str, project: str | None, text: str, *, key: str, thread: str) -> str:
        """A new message for a session; the hub's id of it.

        Raises:
            Unreachable, Uncertain
        """

    def reply(self, hub_message: str, text: str) -> str:
        """The reply of the message that asked; the hub's id of it.

        Raises:
            Unreachable: it is final already, or no hub is here.
            Uncertain
        """

    def standing(self, hub_message: str) -> Standing:
        """Whether what was pushed has entered a turn, was read or answered; `gone`: it never will.

        Raises:
            Unreachable: the hub can't be asked now.
        """

    def answer(self, hub_message: str) -> str | None:
        """What the session replied to what was pushed to it; None: nothing yet.

        Raises:
            Unanswered, Unreachable
        """

    def asked(self) -> Sequence[Asked]:
        """What sessions want said in rooms and nobody has taken yet, in the order of arrival."""

    def take(self, hub_message: str) -> None:
        """The room's remote has it.

        Raises:
            Unreachable: it is final already, or the hub can't be asked now.
        """

    def cancelled(self, hub_message: str) -> bool:
        """Whether its asker has cancelled it.

        Raises: Unreachable
        """

    def report(self, hub_message: str, fact: Far, by: str, why: str) -> None:
        """Let the asker's trail say where its request stands.

        Raises: Unreachable
        """

    def publish(self, known: Sequence[Remote]) -> None:
        """Tell the hub who can be reached in rooms; where it can't be told now, it is told later."""

    def ended(self, hub_message: str) -> bool:
        """Whether nobody waits for it any more: cancelled, expired or answered.

        Raises: Unreachable
        """


class NoSessions:
    """No hub: every answer becomes a file."""

    def find(self, session: str, project: str | None) -> None:
        raise Unreachable("no hub runs here")

    def push(self, session: str, project: str | None, text: str, *, key: str, thread: str) -> str:
        raise Unreachable("no hub runs here")

    def reply(self, hub_message: str, text: str) -> str:
        raise Away("no hub runs here")

    def standing(self, hub_message: str) -> Standing:
        raise Away("no hub runs here")

    def answer(self, hub_message: str) -> str | None:
        raise Away("no hub runs here")

    def asked(self) -> Sequence[Asked]:
        return ()

    def take(self, hub_message: str) -> None:
        raise Away("no hub runs here")

    def cancelled(self, hub_message: str) -> bool:
        raise Away("no hub runs here")

    def report(self, hub_message: str, fact: Far, by: str, why: str) -> None:
        raise Away("no hub runs here")

    def publish(self, known: Sequence[Remote]) -> None:
        pass

    def ended(self, hub_message: str) -> bool:
        raise Away("no hub runs here")
