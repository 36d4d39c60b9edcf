"""What `peerline doctor` looks at on this machine: each look gives findings, and none changes anything."""

import os
import resource
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Level = Literal["ok", "warn", "fail"]

# Kinds of file systems on which SQLite's write-ahead log has been seen to corrupt or lose its locks.
SHARED: Final = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "drvfs",
        "afpfs",
        "ceph",
        "glusterfs",
        "vboxsf",
        "prl_fs",
    ]
)
VANISHING: Final = frozenset(["tmpfs", "ramfs"])
FILES_ENOUGH: Final = 1_024
ROOM_LOW: Final = 1 << 30
ROOM_NONE: Final = 100 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`fix` is a command, or the one sentence that replaces it; empty when all is well."""

    level: Level
    what: str
    detail: str
    fix: str = ""


def python() -> Finding:
    return Finding(level="ok", what="python", detail=f"{'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}")


def open_files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if (
        soft != resource.RLIM_INFINITY
        and soft < FILES_ENOUGH
        and hard != resource.RLIM_INFINITY
        and hard < FILES_ENOUGH
    ):
        detail = f"a hub started here may open {hard} files, so about {max(0, hard - 64)} agents can listen"
        return Finding(level="warn", what="open files", detail=detail, fix=f"ulimit -Hn {FILES_ENOUGH * 4}")
    known = "no limit" if resource.RLIM_INFINITY in (soft, hard) else str(max(soft, hard))
    return Finding(level="ok", what="open files", detail=f"{known} at once")


def modes(root: Path, store: Path | None) -> Iterator[Finding]:
    """Folders and files that hold tokens, keys or messages are for this user only."""
    private = [root, root / "agents", root / "hub-env.json", root / "local-tokens.json"]
    private += sorted(root.glob("agents/*.key")) + sorted(root.glob("hub-*.sock"))
    if store is not None:
        private += [store, store.with_name(store.name + "-wal"), store.with_name(store.name + "-shm")]
    looked = 0
    for path in private:
        try:
            about = path.lstat()
        except OSError:
            continue
        looked += 1
        wanted = "700" if stat.S_ISDIR(about.st_mode) else "600"
        if stat.S_ISLNK(about.st_mode):
            yield Finding(level="warn", what="file modes", detail=f"{path} is a link", fix=f"ls -l {path}")
        elif about.st_uid != os.getuid():
            fix = f"sudo chown {os.getuid()} {path}"
            yield Finding(level="fail", what="file modes", detail=f"{path} belongs to user {about.st_uid}", fix=fix)
        elif about.st_mode & 0o077:
            detail = f"{path} is open to other users (mode {stat.S_IMODE(about.st_mode):o})"
            yield Finding(level="fail", what="file modes", detail=detail, fix=f"chmod {wanted} {path}")
    if looked:
        yield Finding(level="ok", what="file modes", detail=f"{looked} files and folders looked at in {root}")


def file_system(store: Path, mounts: str) -> Finding:
    """`mounts` is the text of /proc/self/mountinfo."""
    kind = kind_of(store, mounts)
    if kind is None:
        return Finding(level="ok", what="file system", detail="of a kind that this system does not tell")
    if kind in SHARED or kind.startswith("fuse."):
        detail = f"{store.parent} is on {kind}, where SQLite's log can corrupt"
        fix = "export KXM_DATA_PATH=/path/on/a/local/disk/kxm.db"
        return Finding(level="fail", what="file system", detail=detail, fix=fix)
    if kind in VANISHING:
        detail = f"{store.parent} is on {kind}: a restart of the machine loses all messages"
        return Finding(
            level="warn", what="file system", detail=detail, fix="export KXM_DATA_PATH=/path/on/a/disk/kxm.db"
        )
    return Finding(level="ok", what="file system", detail=kind)


def kind_of(path: Path, mounts: str) -> str | None:
    """The kind of the file system that `path` lies on, by the longest mount point above it."""
    best, kind = "", None
    for line in mounts.splitlines():
        head, _, tail = line.partition(" - ")
        parts = head.split(" ")
        if len(parts) < 5 or not tail:
            continue
        point = parts[4].replace("\\040", " ")
        if (path == Path(point) or Path(point) in path.parents) and len(point) >= len(best):
            best, kind = point, tail.split(" ")[0]
    return kind


def room(store: Path) -> Finding:
    folder = next(place for place in (store.parent, *store.parent.parents) if place.exists())
    about = os.statvfs(folder)
    free = about.f_bavail * about.f_frsize
    text = f"{free / (1 << 30):.1f} GiB free for {folder}"
    if free < ROOM_NONE:
        return Finding(
            level="fail", what="room", detail=f"only {free >> 20} MiB free for {folder}", fix=f"df -h {folder}"
        )
    if free < ROOM_LOW:
        return Finding(level="warn", what="room", detail=text, fix=f"df -h {folder}")
    return Finding(level="ok", what="room", detail=text)


def integrity(store: Path) -> Finding:
    """The live file, read and not changed."""
    if not store.exists():
        return Finding(level="ok", what="store", detail=f"{store} does not exist yet; the hub makes it")
    import apsw

    from peerline.database.connection import open_reader

    fix = f"peerline down && cp {store} {store}.broken && kxm restore --help"
    try:
        connection = open_reader(str(store))
        try:
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
        finally:
            connection.close()
    except apsw.Error as error:
        return Finding(level="fail", what="store", detail=f"{store} cannot be read: {error}", fix=fix)
    if found != ["ok"]:
        return Finding(level="fail", what="store", detail=f"{store} is damaged: {'; '.join(found)}", fix=fix)
    size = store.stat().st_size / (1 << 20)
    return Finding(level="ok", what="store", detail=f"{store} is whole ({size:.1f} MiB)")


def unix_socket(path: str | None, expected: str) -> Finding:
    """`path` is the socket in use, or None; `expected` where it would be."""
    if path is None:
        detail = f"there is none at {expected}, so a token is needed even on this machine"
        return Finding(level="warn", what="socket", detail=detail, fix="peerline down; peerline up")
    return Finding(level="ok", what="socket", detail=path)
