"""`kxm hub start --background`: a child that outlives this command, watched until it listens."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import private_write
from peerline.cli.hub.claim import already, holder
from peerline.cli.options import Asked, refused
from peerline.settings import HubSettings

READY_S: Final = 20.0
LOOK_S: Final = 0.02
LISTENING: Final = re.compile(r"^kxm hub listening at (\S+); storage=(.*); auth=\w+$", re.MULTILINE)


def start_detached(asked: Asked, settings: HubSettings) -> int:
    """Start the hub as a child of its own session and wait until it listens; the exit code.

    Raises:
        Failure: it ended before it listened, for the reason that it gave; or it is not ready in time.
    """
    root = Path(settings.state_root)
    if found := holder(root):
        raise already(found.pid)
    said = root / "hub.out"
    try:
        private_write(str(said), b"")
    except OSError as error:
        raise refused("hub_start_failed", f"the state folder cannot be used: {error.strerror}: {root}") from None
    with said.open("ab") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "peerline.cli.hot", "kxm", "hub", "start"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**{name: value for name, value in asked.env.items() if name != "KXM_WORKER_SEAT"}, "KXM_DAEMON": "1"},
            start_new_session=True,
        )
    listening = _wait(child, said)
    url, storage = listening[1], listening[2]
    text = f"{listening[0]}\nkxm hub: running in the background as PID {child.pid}; stop it with: kxm hub stop"
    return asked.done("hub start", text, url=url, pid=child.pid, storage=storage)


def _wait(child: "subprocess.Popen[bytes]", said: Path) -> re.Match[str]:
    end = time.monotonic() + READY_S
    while True:
        ended = child.poll()
        text = said.read_text(encoding="utf-8", errors="replace")
        if match := LISTENING.search(text):
            return match
        if ended is not None:
            raise _ended(text, ended)
        if time.monotonic() > end:
            child.terminate()
            raise refused("hub_start_failed", f"the hub was not ready after {READY_S:.0f} s; see {said}")
        time.sleep(LOOK_S)


def _ended(text: str, code: int) -> Failure:
    """What the child said last: its failure, or the line itself."""
    last = text.strip().rpartition("\n")[2]
    exit_code = 2 if code == 2 else 1
    try:
        told = json.loads(last)
        beside = {name: told[name] for name in ("code", "nextAction") if name in told}
        return Failure(str(told["detail"]), error="hub_start_failed", exit_code=exit_code, beside=beside)
    except (ValueError, TypeError, KeyError):
        return refused("hub_start_failed", last or "the hub ended without a word", exit_code=exit_code)
