"""What the machine is like under the hub: versions, limits, disk and file system."""

import os
import platform
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from peerline import __version__
from peerline.cli.doctor.finding import Finding, fail, ok, warn

FILES_ENOUGH: Final = 1_024
ROOM_LITTLE: Final = 500 * 1024 * 1024
ROOM_NONE: Final = 20 * 1024 * 1024
# SQLite's write-ahead log needs memory that all openers share; these do not give it, or not with its locks.
UNSAFE: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "virtiofs", "9p", "vboxsf", "afs", "afpfs", "ceph", "drvfs", "fuse"}
    | {"glusterfs", "prl_fs"}
)
VANISHING: Final = frozenset({"tmpfs", "ramfs"})
MOUNTS: Final = Path("/proc/self/mountinfo")


def machine(store: Path | None) -> Iterator[Finding]:
    yield versions()
    yield files()
    if store is not None:
        yield room(store)
        yield file_system(store, MOUNTS)


def versions() -> Finding:
    import apsw

    from peerline.database.connection import SAFE_WAL_RESET

    detail = f"peerline {__version__}, Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}"
    if SAFE_WAL_RESET:
        return ok("versions", detail)
    return warn("versions", f"{detail}: SQLite before 3.51.3 needs special care", "pip install --upgrade apsw")


def files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    hard_text = "no limit" if hard == resource.RLIM_INFINITY else str(hard)
    detail = f"{soft} open files, {hard_text} when the hub asks"
    if hard != resource.RLIM_INFINITY and hard < FILES_ENOUGH:
        return warn("files", f"{detail}: too few for many agents", f"ulimit -n {FILES_ENOUGH * 4}")
    return ok("files", detail)


def room(store: Path) -> Finding:
    folder = existing(store.parent)
    free = shutil.disk_usage(folder).free
    detail = f"{free // (1024 * 1024):,} MiB free at {folder}"
    if free < ROOM_NONE:
        return fail("disk", detail, "free some space; the hub goes on by itself")
    if free < ROOM_LITTLE:
        return warn("disk", detail, "free some space")
    return ok("disk", detail)


def file_system(store: Path, mounts: Path) -> Finding:
    """Where the store lies, by the kernel's own table; other systems than Linux do not tell it as text."""
    folder = existing(store.parent)
    if not sys.platform.startswith("linux"):
        return ok("file system", "not looked at on this system")
    kind = _kind(folder, mounts)
    fix = "KXM_DATA_PATH=/a/local/disk/kxm.db kxm hub start"
    if kind.partition(".")[0] in UNSAFE:
        return fail("file system", f"{folder} is on {kind}: SQLite is not safe there", fix)
    if kind in VANISHING:
        return warn("file system", f"{folder} is on {kind}: a restart of the machine loses all messages", fix)
    return ok("file system", f"{folder} is on {kind}")


def _kind(folder: Path, mounts: Path) -> str:
    best, kind = "", "unknown"
    place = os.path.realpath(folder)
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return kind
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = _plain(fields[4])
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, after.split(" ")[0]
    return kind


def _plain(field: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    while not folder.exists():
        folder = folder.parent
    return folder
