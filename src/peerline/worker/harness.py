"""What a worker needs of a harness: how it is started, and its protocol as a state machine without a process.

`feed` takes what the process wrote and gives what happened; whatever is to be written to it in turn lies in `out`.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from peerline.worker.happenings import Happening
from peerline.worker.plan import Launch, Plan

Frame = Mapping[str, Any]


class Harness(Protocol):
    """One life of the process: made anew for each start."""

    name: str
    steers: bool  # whether a text can go into a turn that is under way
    out: list[dict[str, Any]]

    def __init__(self, plan: Plan, launch: Launch, seat: str) -> None: ...

    def command(self) -> list[str]:
        """What starts the process."""
        ...

    def variables(self) -> dict[str, str]:
        """What its environment has beside the worker's own."""
        ...

    def open(self) -> None:
        """The first frames."""
        ...

    def feed(self, frame: Frame) -> list[Happening]: ...

    def turn(self, key: str, text: str) -> None:
        """Begin a turn with this text; it is at rest."""
        ...

    def steer(self, key: str, text: str) -> None:
        """Put the text into the turn that is under way."""
        ...

    def abort(self) -> None:
        """End the turn that is under way."""
        ...
