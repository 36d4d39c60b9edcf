"""`peerline uninstall [--purge]`: take out what setup wrote; with --purge the hub's state too."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from peerline.cli.hot_output import Failure
from peerline.cli.hub.claim import holder
from peerline.cli.hub.stop import stop
from peerline.cli.person_hub import Heard
from peerline.cli.person_self import Person
from peerline.cli.setup.client import home
from peerline.cli.setup.command import root
from peerline.cli.setup.record import Manifest, emptied
from peerline.cli.setup.removing import removed
from peerline.cli.setup.report import Report, told
from peerline.cli.up.login import installed, login, remove
from peerline.cli.up.record import Record

# What kxm keeps in its state folder; anything else there is somebody else's and stays.
OURS: Final = (
    "agents",
    "backups",
    "hub-*",
    "hub.*",
    "kxm.db*",
    "kxm-*",
    "local-tokens.json*",
    "logs",
    "sessions",
    "setup.json*",
    "supervisor.*",
)


@click.command("uninstall")
@click.option("--purge", is_flag=True, help="Stop the hub, and remove its messages, backups, tokens and logs as well.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed; remove nothing.")
@click.pass_obj
def uninstall(person: Person, purge: bool, dry_run: bool) -> int:
    """Remove every line that setup wrote into the clients' files, and its backups."""
    place = root(person.env)
    manifest = Manifest(place)
    at_login = _at_login(person.env, dry_run=dry_run)
    reports = removed(manifest, {record.client for record in manifest.files}, dry_run=dry_run)
    if purge:
        return _purge(person, place, manifest, reports, at_login, dry_run=dry_run)
    if not manifest.files and not dry_run:
        manifest.remove()
    last = at_login or ([] if reports else ["Setup has written nothing; nothing to remove."])
    if place.is_dir() and not dry_run:
        last.append(f"The hub's messages stay in {place}; `peerline uninstall --purge` removes them.")
    last += ["Nothing was removed."] if dry_run else ["The program itself goes with: uv tool uninstall peerline"]
    return told(person.voice, reports, person.env, last, purged=False, dryRun=dry_run)


def _at_login(env: Mapping[str, str], *, dry_run: bool) -> list[str]:
    """The unit of `peerline up --at-login`."""
    file = installed(env)
    if file is None:
        return []
    if dry_run:
        return [f"would remove {file}, by which everything starts at login"]
    remove(login(env))
    return [f"{file} is removed: nothing starts at login any more."]


def _purge(
    person: Person, place: Path, manifest: Manifest, reports: list[Report], at_login: list[str], *, dry_run: bool
) -> int:
    if dry_run:
        found, supervisor = holder(place), Record(person.env).pid
        last = [*at_login, *([f"would stop the supervisor (process {supervisor})"] if supervisor else [])]
        last += [f"would stop the hub (process {found.pid})"] if found else []
        last += [f"would remove {path}" for path in _state(place)]
        return told(person.voice, reports, person.env, [*last, "Nothing was removed."], purged=False, dryRun=True)
    if manifest.files:
        last = [
            *at_login,
            f"{place} was kept, since it knows what is still to be removed; put it right and run this again.",
        ]
        return told(person.voice, reports, person.env, last, purged=False, dryRun=False)
    supervisor = Record(person.env).end()
    stopped = _stopped(person, place)
    living = _sessions(place)
    last = [*at_login, *([f"What `peerline up` kept has stopped (process {supervisor})."] if supervisor else [])]
    last += [f"The hub has stopped (process {stopped})."] if stopped else []
    last.append(_removed(place, manifest.folders, person.env))
    if living:
        last.append(
            f"Agent sessions that still run kxm: {living}. They may write there again; end them, then run this again."
        )
    last.append("The program itself goes with: uv tool uninstall peerline")
    return told(person.voice, reports, person.env, last, purged=True, dryRun=False, stopped=stopped)


def _stopped(person: Person, place: Path) -> int | None:
    """The hub's process that was ended; None if none ran.

    Raises:
        Failure: it does not end.
    """
    found = holder(place)
    if found is None:
        return None
    stop.main(["--wait-ms", "15000"], standalone_mode=False, obj=Heard(env=person.env))
    return found.pid


def _removed(place: Path, folders: list[Path] | None, env: Mapping[str, str]) -> str:
    try:
        for path in _state(place):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    except OSError as error:
        raise Failure(f"{error.filename} cannot be removed: {error.strerror}") from None
    emptied(folders if folders is not None else _with_parents(place, env))
    left = sorted(path.name for path in place.iterdir()) if place.is_dir() else []
    return f"{place} was removed." if not left else f"{place} holds what is not kxm's, which stays: {', '.join(left)}"


def _with_parents(place: Path, env: Mapping[str, str]) -> list[Path]:
    """The state folder and those above it, below the home folder: whoever made them, empty ones are in nobody's way."""
    base = home(env)
    return [place, *(one for one in place.parents if one != base and one.is_relative_to(base))]


def _state(place: Path) -> list[Path]:
    return sorted({path for pattern in OURS for path in place.glob(pattern)})


def _sessions(place: Path) -> int:
    return sum(_alive(path) for path in (place / "sessions").glob("*.json"))


def _alive(path: Path) -> bool:
    try:
        body: Any = json.loads(path.read_bytes())
        os.kill(int(body["pid"]), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True
