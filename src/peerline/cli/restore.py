"""`kxm restore`: bring a backup back into the place of the hub's store (spec/hub.md 6.8)."""

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from peerline.cli.backup import place
from peerline.cli.options import Asked, refused

if TYPE_CHECKING:
    from peerline.database.restore import Verified


@click.command("restore")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace the store that is there; it is kept aside.")
@click.pass_obj
def restore(asked: Asked, folder: Path, force: bool) -> int:
    """Bring back the backup in DIR, once all of it has been verified.

    No hub may run on the store. What happened since the backup is not in it.
    """
    store, _ = place(asked)
    found = verified(folder.absolute())
    if asked.dry_run:
        return asked.planned("restore", backup=str(found.folder), store=str(store), verified=True, force=force)
    aside = put_back(found, store, force=force)
    text = f"restored {store} from {found.folder}, as it was at {found.created_at}"
    if aside is not None:
        text += f"\nthe replaced store is kept at {aside}"
    text += "\nstart the hub with: kxm hub start"
    return asked.done("restore", text, store=str(store), backup=str(found.folder), aside=aside and str(aside))


def verified(folder: Path) -> "Verified":
    """Raises Failure: the backup is not whole or not sound, or too new. Nothing was changed."""
    from peerline.database.backup import Damaged
    from peerline.database.migrations import TooNew
    from peerline.database.restore import Incomplete, verify
    from peerline.store.migrations import MIGRATIONS

    try:
        return verify(folder, MIGRATIONS[-1].version)
    except (Incomplete, Damaged, TooNew) as error:
        raise refused(error.code, f"{error}; nothing was changed") from None
    except OSError as error:
        raise refused("restore_failed", f"{folder} cannot be read: {error.strerror}") from None


def put_back(found: "Verified", store: Path, *, force: bool) -> Path | None:
    """Raises Failure: a store is there and not to be replaced, a hub runs on it, or the disk refused."""
    from peerline.database.lock import Held
    from peerline.database.restore import Incomplete, WouldReplace, restore

    try:
        return restore(found, store, datetime.now(UTC), replace=force)
    except WouldReplace as error:
        detail = f"{error}; to replace it (it is kept aside): kxm restore {shlex.quote(str(found.folder))} --force"
        raise refused(error.code, detail, exit_code=2) from None
    except Held as error:
        pid = f"PID {error.pid}" if error.pid else "another process"
        detail = f"a hub runs on {store} ({pid}); stop it first: kxm hub stop"
        raise refused(error.code, detail, pid=error.pid, nextAction="kxm hub stop") from None
    except Incomplete as error:
        raise refused(error.code, str(error)) from None
    except OSError as error:
        raise refused("restore_failed", f"{error.strerror}: {error.filename or store}; run it again") from None
