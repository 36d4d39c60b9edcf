"""`komnet daemon …`: start, stop, watch over, at login."""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from peerline.cli.hot_output import Failure, write
from peerline.cli.komnet.desk import Desk
from peerline.core.errors import Conflict
from peerline.database.folder import private_folder
from peerline.network.config import load_config
from peerline.network.daemon.client import PING_S, DaemonLink, Unreachable
from peerline.network.daemon.protocol import Refusal

START_S, STOP_S, LOOK_S = 4.0, 3.0, 0.02
LOG_AT_MOST: Final = 4 * 1024 * 1024


def status(desk: Desk) -> int:
    served = _served(desk)
    unit = _unit(desk)
    value: dict[str, Any] = {
        "running": served is not None,
        "socket": str(desk.home.socket),
        "serviceInstalled": unit.is_file(),
        "supervisor": "systemd",
        "unit": str(unit),
    }
    shown = [f"{'● running' if served else '○ not running'} · {desk.home.socket}"]
    shown += [f"supervisor systemd · {'installed' if unit.is_file() else 'no unit'}", f"unit       {unit}"]
    if served is None:
        shown += ["", "start it:   komnet daemon start", "or at login: komnet daemon install"]
        return desk.show(shown, value, 1)
    return desk.show(shown, {**value, "detail": served})


def start(desk: Desk) -> int:
    load_config(desk.home)
    if served := _served(desk):
        return desk.show(["already running"], {"running": True, "pid": served["pid"]})
    private_folder(desk.home.log.parent)
    with os.fdopen(_appended(desk.home.log), "ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "peerline.cli.hot", "komnet", "daemon", "run"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**desk.env, "KOMNET_HOME": str(desk.home.folder), "KOMNET_AGENT": ""},
            start_new_session=True,
        )
    end = time.monotonic() + START_S
    while time.monotonic() < end and child.poll() is None:
        if served := _served(desk):
            return desk.show([f"✓ running (pid {served['pid']})"], {"running": True, "pid": served["pid"]})
        time.sleep(LOOK_S)
    raise Failure(
        f"the daemon did not start within {START_S:.0f} s; its log says why: {desk.home.log}", error="NOT_STARTED"
    )


def _appended(log: Path) -> int:
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def stop(desk: Desk) -> int:
    served = _served(desk)
    if served is None:
        return desk.show(["not running"], {"running": False})
    try:
        link = DaemonLink(desk.home.socket)
        link.call("shutdown", {}, timeout=PING_S)
        link.close()
    except (Unreachable, Refusal):
        pass
    end = time.monotonic() + STOP_S
    while time.monotonic() < end:
        if _served(desk) is None:
            return desk.show(["✓ stopped"], {"running": False})
        time.sleep(LOOK_S)
    raise Failure(
        f"the daemon (pid {served['pid']}) still answers after {STOP_S:.0f} s; end it with: kill {served['pid']}"
    )


def run(desk: Desk) -> int:
    from peerline.network.daemon.serve import Daemon
    from peerline.network.daemon.server import Taken

    private_folder(desk.home.log.parent)
    log = desk.home.log
    if log.is_file() and log.stat().st_size > LOG_AT_MOST:
        log.replace(log.with_suffix(".log.1"))

    def say(line: str) -> None:
        with os.fdopen(_appended(log), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    async def serve() -> None:
        daemon = Daemon(desk.home, now=desk.now, entropy=os.urandom, environ=desk.env, log=say)
        await daemon.run(lambda line: write(1, line + "\n"))

    try:
        asyncio.run(serve())
    except Taken:
        raise Conflict("a daemon serves this home already: komnet daemon status") from None
    return 0


def install(desk: Desk) -> int:
    load_config(desk.home)
    unit = _unit(desk)
    if shutil.which("systemctl", path=desk.env.get("PATH")) is None:
        raise Failure("there is no systemd for your user here; start it in your login shell: komnet daemon start")
    unit.parent.mkdir(parents=True, exist_ok=True)
    unit.write_text(
        "[Unit]\nDescription=komnet daemon\n\n[Service]\n"
        f"Environment=KOMNET_HOME={desk.home.folder}\n"
        f'ExecStart="{sys.executable}" -m peerline.cli.hot komnet daemon run\n'
        "Restart=on-failure\n\n[Install]\nWantedBy=default.target\n"
    )
    done = subprocess.run(
        ["systemctl", "--user", "enable", "--now", unit.name], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise Failure(
            f"the unit is written to {unit}, but systemd does not run it: {said[:300]}\n"
            "  for now: komnet daemon start   ·   take the unit out again: komnet daemon uninstall"
        )
    return desk.show([f"✓ starts at login: {unit}"], {"unit": str(unit), "installed": True})


def uninstall(desk: Desk) -> int:
    unit = _unit(desk)
    if not unit.is_file():
        return desk.show(["no unit to remove"], {"unit": str(unit), "installed": False})
    if shutil.which("systemctl", path=desk.env.get("PATH")):
        subprocess.run(["systemctl", "--user", "disable", "--now", unit.name], capture_output=True, check=False)
    unit.unlink()
    return desk.show([f"✓ removed {unit}"], {"unit": str(unit), "installed": False})


def _served(desk: Desk) -> dict[str, Any] | None:
    """What the daemon says of itself; None when none answers."""
    try:
        link = DaemonLink(desk.home.socket)
        found = link.call("ping", {}, timeout=PING_S)
        link.close()
    except (Unreachable, Refusal, TimeoutError):
        return None
    return found if isinstance(found, dict) else None


def _unit(desk: Desk) -> Path:
    base = desk.env.get("XDG_CONFIG_HOME")
    folder = Path(base) if base else Path(desk.env.get("HOME") or Path.home()) / ".config"
    name = "komnet.service" if desk.home.root is None else f"komnet-{desk.home.folder.name}.service"
    return folder / "systemd" / "user" / name


RUN = {
    "daemon status": status,
    "daemon start": start,
    "daemon stop": stop,
    "daemon run": run,
    "daemon install": install,
    "daemon uninstall": uninstall,
}
