"""PostgreSQL of the distribution with its default settings (fsync and synchronous commit on); more connections only."""

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from bench.servers.process import Process, accepts, free_port

PACKAGE = "postgresql"


def programs() -> Path | None:
    """The folder of `initdb` and `postgres`, newest version first; None when it is not installed."""
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda found: -int(found.parts[-3].split(".")[0])
    )
    if installed:
        return installed[0].parent
    if shutil.which("pg_config"):
        folder = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
        if (Path(folder) / "postgres").exists():
            return Path(folder)
    found = shutil.which("postgres")
    return Path(found).resolve().parent if found else None


def start(folder: Path, env: dict[str, str]) -> Process:
    installed = programs()
    assert installed is not None
    user = _other_user(folder)
    data, port = folder / "data", free_port()
    initdb = [
        str(installed / "initdb"),
        "-D",
        str(data),
        "-U",
        "bench",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
    ]
    with Process(initdb, folder / "initdb.log", user=user) as made:
        made.wait_until(lambda: made.ended)
    command = [str(installed / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder)]
    command += ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]
    server = Process(command, folder / "log", env=env, user=user)
    server.address = {"port": port}
    return server.wait_until(lambda: accepts(port) and "ready to accept connections" in server.output())


def _other_user(folder: Path) -> str | None:
    """PostgreSQL refuses to run as root: then its own user does, or nobody."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in known else "nobody"
    shutil.chown(folder, user)
    return user
