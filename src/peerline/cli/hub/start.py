"""`kxm hub start`: everything around the hub that is not the hub (spec/hub.md 6.3, 3.4)."""

import errno
import os
import resource
import signal
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from peerline.cli.doctor.finding import Level
from peerline.cli.doctor.machine import MOUNTS, file_system
from peerline.cli.hot_output import Failure, usage, write
from peerline.cli.hot_paths import socket_path
from peerline.cli.hub.claim import Claim
from peerline.cli.hub.credentials import Credentials, credentials
from peerline.cli.hub.log import HubLog
from peerline.cli.options import Asked, refused
from peerline.core.errors import Invalid, PeerlineError
from peerline.settings import HubSettings

FILES_WANTED: Final = 65_536
FILES_ENOUGH: Final = 1_024
FORCE_AFTER_S: Final = 10.0
WIDEST_PORT: Final = 65_535
# What to do about a store that a hub does not start on, by the code of the refusal.
NEXT: Final = {
    "storage_held": "kxm hub stop",
    "runtime_schema_shape_invalid": "KXM_DATA_PATH=/another/file kxm hub start",
    "runtime_schema_newer": "install the newer Peerline, or go back: kxm restore DIR --force",
    "restore_unfinished": "kxm restore DIR --force",
    "storage_path_unsafe": "KXM_DATA_PATH=/another/file kxm hub start",
    "database_corrupted": "kxm doctor --repair",
}


@click.command("start")
@click.option("--background", is_flag=True, help="Detach; print the URL and the process number once it is ready.")
@click.pass_obj
def start(asked: Asked, background: bool) -> int:
    """Run the hub on this machine.

    Settings come from KXM_... variables (docs/reference/configuration.md). The first line says where it listens, on
    which file and who may call. Ctrl-C, SIGTERM and `kxm hub stop` end it in order.
    """
    try:
        settings = HubSettings.from_env(asked.env)
    except Invalid as error:
        raise usage(error.text) from None
    if asked.dry_run:
        return asked.planned(
            "hub start", host=settings.host, port=settings.port, storage=settings.data_path, log=settings.log_path
        )
    if background:
        from peerline.cli.hub.background import start_detached

        return start_detached(asked, settings)
    return run(settings, asked.env)


def run(settings: HubSettings, env: Mapping[str, str]) -> int:
    """Run the hub in this process until it is told to stop; the exit code.

    Raises:
        Failure: it was refused. Nothing stays but an empty state folder.
    """
    if not settings.any_file_system:
        check_place(Path(settings.data_path), MOUNTS)
    found = credentials(settings)
    settings = replace(settings, auth_token=found.auth_token, project_tokens=found.project_tokens)
    raise_file_limit()
    claim = Claim(Path(settings.state_root))
    try:
        claim.take()
    except OSError as error:
        raise refused(
            "hub_start_failed", f"the state folder cannot be used: {error.strerror}: {settings.state_root}"
        ) from None
    try:
        claim.watch(_stop_in_order)
        return _run(settings, found, env)
    finally:
        claim.release()


def check_place(store: Path, mounts: Path) -> None:
    """Raises: Failure: the store lies where SQLite's log is not safe: what is acknowledged there could be lost."""
    if str(store) == ":memory:":
        return
    looked = file_system(store, mounts)
    if looked.level is Level.FAIL:
        detail = f"{looked.detail}; KXM_ANY_FILE_SYSTEM=1 starts all the same"
        beside = {"code": "file_system_unsafe", "nextAction": looked.fix}
        raise Failure(detail, error="hub_start_refused", exit_code=2, beside=beside)


def _run(settings: HubSettings, found: Credentials, env: Mapping[str, str]) -> int:
    import apsw

    from peerline.cli.compose import run_hub
    from peerline.database.connection import NotOurs, RestoreUnfinished, UnsafeFile
    from peerline.database.lock import Held
    from peerline.database.migrations import TooNew

    log = HubLog(Path(settings.log_path))

    def announce(line: str) -> None:
        found.save(datetime.now(UTC))
        _say(line)
        if found.source != "environment":
            _say(f"kxm hub: using {found.source} KXM_AUTH_TOKEN from {found.path}")
        log.echo = not settings.daemon

    try:
        settings = replace(settings, socket_path=_socket_path(env, settings.port))
        return run_hub(settings, announce=announce, log=log)
    except PeerlineError as error:
        raise refused("hub_start_refused", error.text, exit_code=2) from None
    except (Held, NotOurs, RestoreUnfinished, TooNew, UnsafeFile) as error:
        raise _unusable(error.code, str(error)) from None
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        taken = {"nextAction": "KXM_PORT=7332 kxm hub start"} if error.errno == errno.EADDRINUSE else {}
        raise Failure(f"{error.strerror or error}{where}", error="hub_start_failed", beside=taken) from None
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise _unusable("database_corrupted", f"the store is damaged: {error}: {settings.data_path}") from None
    except apsw.Error as error:
        raise refused("hub_start_failed", f"the store cannot be used: {error}: {settings.data_path}") from None
    finally:
        log.close()


def _unusable(code: str, detail: str) -> Failure:
    beside = {"code": code, "nextAction": NEXT[code]}
    return Failure(detail, error="hub_start_failed", beside=beside)


def _socket_path(env: Mapping[str, str], port: int) -> str:
    """The user's socket; a port that is free only once it is bound stands in the name as `{port}`."""
    if port != 0:
        return socket_path(env, port)
    return socket_path(env, WIDEST_PORT).replace(f"-{WIDEST_PORT}.sock", "-{port}.sock")


def _say(line: str) -> None:
    try:
        write(1, line + "\n")
    except OSError:
        pass  # a hub goes on when nobody reads what it says


def _stop_in_order() -> None:
    """What `kxm hub stop` asks for is what SIGTERM does; a hub that hangs in it is ended."""
    timer = threading.Timer(FORCE_AFTER_S, os._exit, (1,))
    timer.daemon = True
    timer.start()
    os.kill(os.getpid(), signal.SIGTERM)


def raise_file_limit() -> None:
    """Every stream is an open file: take what the system allows, and say so when it is little."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError):
            pass
    if soft != resource.RLIM_INFINITY and soft < FILES_ENOUGH:
        write(
            2,
            f"kxm hub: only {soft} files may be open at once, so about {max(0, soft - 64)} agents can listen;"
            f" raise it with: ulimit -n {FILES_ENOUGH * 4}\n",
        )
