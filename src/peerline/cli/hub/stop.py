"""`kxm hub stop`: ask the hub of this state folder to end, and wait until it has."""

import time
from pathlib import Path
from typing import Final

import click

from peerline.cli.hot_paths import StateRootNotAbsolute, state_root
from peerline.cli.hub.claim import Holder, ask_to_stop, holder
from peerline.cli.options import Asked, refused

LOOK_S: Final = 0.05
WAIT_MIN_MS: Final = 100
WAIT_MAX_MS: Final = 30_000


@click.command("stop")
@click.option("--wait-ms", type=int, default=5_000, show_default=True, help="How long to wait: 100 to 30000.")
@click.pass_obj
def stop(asked: Asked, wait_ms: int) -> int:
    """Ask the running hub to stop. Requests and replies stay on its disk."""
    try:
        root = Path(state_root(asked.env))
    except StateRootNotAbsolute as error:
        raise refused(error.code, str(error), exit_code=2) from None
    found = holder(root)
    if found is None:
        raise refused("no_pid_files", f"no hub is running from {root}")
    if asked.dry_run:
        return asked.planned("hub stop", pid=found.pid, waitMs=wait_ms)
    ask_to_stop(root, found)
    if not _gone(root, found, min(max(wait_ms, WAIT_MIN_MS), WAIT_MAX_MS)):
        raise refused(
            "stop_timed_out",
            f"the hub (PID {found.pid}) has not stopped yet; it was asked to, and is ended after 10 s",
            requested=[found.pid],
            stopped=[],
            timedOut=[found.pid],
        )
    return asked.done(
        "hub stop", f"kxm hub stopped (PID {found.pid})", requested=[found.pid], stopped=[found.pid], timedOut=[]
    )


def _gone(root: Path, found: Holder, wait_ms: int) -> bool:
    end = time.monotonic() + wait_ms / 1000
    while (now := holder(root)) is not None and now.started_at == found.started_at:
        if time.monotonic() > end:
            return False
        time.sleep(LOOK_S)
    return True
