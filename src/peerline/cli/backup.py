"""`kxm backup`: a checked copy of the hub's store, while the hub runs or not (spec/hub.md 6.8)."""

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path

import click

from peerline.cli.hot_output import usage
from peerline.cli.options import Asked, refused
from peerline.core.errors import Invalid
from peerline.settings import HubSettings

FOLDER = "backups"


@click.command("backup")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Default: backups in the state folder.")
@click.pass_obj
def backup(asked: Asked, out: Path | None) -> int:
    """Copy the hub's store into a new folder below DIR.

    The hub may run. The copy is checked and comes with a manifest; credentials are not in it.
    """
    store, folder = place(asked)
    out = (out or folder).absolute()
    if asked.dry_run:
        return asked.planned("backup", store=str(store), out=str(out))
    import apsw

    from peerline.database import backup as copies

    try:
        made, manifest = copies.backup(store, out, datetime.now(UTC), os.urandom)
    except copies.NoStore as error:
        raise refused(error.code, str(error)) from None
    except copies.Damaged as error:
        raise refused(error.code, f"{error}; see: kxm doctor", nextAction="kxm doctor") from None
    except apsw.FullError:
        raise refused("backup_failed", f"the disk of {out} is full; nothing was left there") from None
    except (OSError, apsw.Error) as error:
        raise refused("backup_failed", f"{getattr(error, 'strerror', None) or error}: {out}") from None
    size = manifest["stores"][0]["bytes"]
    text = f"backed up {store} ({size:,} bytes, checked) to {made}\n"
    text += f"bring it back with: kxm restore {shlex.quote(str(made))}"
    return asked.done("backup", text, folder=str(made), manifest=manifest)


def place(asked: Asked) -> tuple[Path, Path]:
    """The store of a hub that is started with these settings, and where its backups lie.

    Raises Failure: settings that do not fit, or a hub without a file.
    """
    try:
        settings = HubSettings.from_env(asked.env)
    except Invalid as error:
        raise usage(error.text) from None
    if settings.data_path == ":memory:":
        raise refused("store_in_memory", "KXM_DATA_PATH is :memory:, so the hub keeps nothing on the disk")
    return Path(settings.data_path).absolute(), Path(settings.state_root) / FOLDER
