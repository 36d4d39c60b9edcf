"""The sessions of this machine, as the relay sees them: by way of the hub, or not at all."""

from typing import Literal, Protocol

from peerline.core.errors import Unavailable

Standing = Literal["waiting", "confirmed", "gone"]


class Unreachable(Unavailable):
    """Nothing was pushed, and nothing can be now; a file is the way."""

    code = "SESSION_UNREACHABLE"


class Uncertain(Unavailable):
    """Whether the push arrived is not known; the same push again settles it, a file might say it twice."""

    code = "PUSH_UNCERTAIN"


class Sessions(Protocol):
    """What was pushed twice under one key arrives once."""

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


class NoSessions:
    """No hub: every answer becomes a file."""

    def push(self, session: str, project: str | None, text: str, *, key: str, thread: str) -> str:
        raise Unreachable("no hub runs here")

    def reply(self, hub_message: str, text: str) -> str:
        raise Unreachable("no hub runs here")

    def standing(self, hub_message: str) -> Standing:
        raise Unreachable("no hub runs here")
