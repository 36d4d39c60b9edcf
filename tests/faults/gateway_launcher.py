"""Lives of a gateway for the kill campaign: each is `komnet gateway run` in a process of its own, forked from this one.

It reads one JSON line for each life and answers with one when the process has ended, so that what costs most, loading
the program, is done once. A life ends by SIGKILL, at the place that its order names:

kill_at   steps of the journal; `call`: before a rename, a removal or a child process; none: when nothing moves
hit       at which hit of any of them
later_ms  how far the gateway's clock is ahead
defect    a fault that is put into the program first
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import watchfiles  # noqa: F401 - what a life would load is loaded here

from peerline.cli.komnet import gateway, gateway_hub  # noqa: F401
from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.parse import Call, parse
from peerline.gateway.journal import Journal
from peerline.gateway.looks import Looks
from peerline.gateway.relay import Relay
from peerline.network import sync  # noqa: F401
from peerline.network.calls import Calls
from peerline.network.direct import DirectCalls  # noqa: F401
from peerline.network.home import Home
from tests.faults.gateway_defects import DEFECTS

CALLS = frozenset(("os.rename", "os.remove", "subprocess.Popen"))
QUIET_PASSES = 3
LOOK_S = 0.03
LIFE_S = 60  # no life takes so long: what hangs is ended, and found


@dataclass
class Life:
    kill_at: list[str]
    hit: int
    steps: IO[str]
    passes: int = 0
    looked: bool = False  # at the remote, once

    def probe(self, step: str) -> None:
        self.passes = 0
        self.steps.write(f"{step}\n")
        self.steps.flush()
        self._reached(step)

    def called(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and Path(os.fsdecode(args[0])).name != "git":
            self.steps.write(f"started {args[0]}\n")
        if event in CALLS:
            self._reached("call")

    def passed(self) -> None:
        """A whole pass of the relay; several in a row without a step are the end, once the remote was looked at."""
        self.passes += self.looked
        if self.passes > QUIET_PASSES:
            os.kill(os.getpid(), signal.SIGKILL)

    def _reached(self, place: str) -> None:
        if place in self.kill_at:
            self.hit -= 1
            if self.hit == 0:
                self.steps.write(f"killed {place}\n")
                self.steps.flush()
                os.kill(os.getpid(), signal.SIGKILL)


def live(order: dict[str, Any], steps: str, output: str) -> None:
    """Never returns."""
    signal.alarm(LIFE_S)
    os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 1)
    life = Life(order["kill_at"], order["hit"], Path(steps).open("w", encoding="utf-8"))  # noqa: SIM115
    _put_in_place(life, order["later_ms"])
    if order["defect"]:
        DEFECTS[order["defect"]]()
    call = Call()
    parse(["gateway", "run"], call)
    sys.addaudithook(life.called)
    gateway.run(Desk(call, os.environ))


def _put_in_place(life: Life, later_ms: int) -> None:
    gateway.LOOK_S = LOOK_S  # type: ignore[misc]
    step, now = Relay.step, Desk.now

    def stepped(relay: Relay) -> None:
        step(relay)
        life.passed()

    def looking(home: Home, *, direct: Callable[[], Calls], ring: Callable[[], None]) -> Looks:
        def rung() -> None:
            life.looked = True
            ring()

        return Looks(home, direct=direct, ring=rung)

    vars(gateway).update(Journal=partial(Journal, probe=life.probe), Looks=looking)
    Relay.step = stepped  # type: ignore[method-assign, assignment]
    Desk.now = lambda desk: now(desk) + later_ms  # type: ignore[method-assign, assignment]


def main(fork: Callable[[], int] = os.fork) -> None:
    steps, output = sys.argv[1:]
    for line in sys.stdin:
        child = fork()
        if child == 0:
            try:
                live(json.loads(line), steps, output)
            except BaseException:
                import traceback

                traceback.print_exc()
            os._exit(1)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
