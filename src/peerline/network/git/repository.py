"""The bare repository of one network on this machine: a cache that can be thrown away, never a place to work in."""

import os
import stat
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Final

from peerline.database.folder import private_folder
from peerline.network.git.address import RemoteAddress
from peerline.network.git.branches import BRANCH, MAIN, OID, ROOM, SEEN
from peerline.network.git.errors import GitFailed
from peerline.network.git.runner import Git, Limits

PACKS: Final = 50  # from which on they are joined
_CONFIG: Final = """[core]
\trepositoryformatversion = 0
\tbare = true
[remote "origin"]
\turl = "{url}"
\tfetch = +refs/heads/main:refs/remotes/origin/main
\tfetch = +refs/heads/room/*:refs/remotes/origin/room/*
"""


class UnsafeRepository(GitFailed):
    """The folder is not ours alone."""

    code = "UNSAFE_REPOSITORY"


def open_repository(
    folder: Path,
    address: RemoteAddress,
    environ: Mapping[str, str],
    *,
    limits: Limits = Limits(),  # noqa: B008
) -> Git:
    """Git on the network's bare repository, made if it isn't there. Its configuration is written anew if it differs
    from ours in any byte.

    Raises:
        UnsafeRepository: the folder is a link, another user's, or borrows objects from elsewhere.
        GitNotFound, GitFailed
    """
    git = Git(folder, environ, protocol=address.protocol, limits=limits)
    try:
        found = folder.lstat()
    except FileNotFoundError:
        _make(folder, git)
        found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise UnsafeRepository(f"{folder} is not a folder of this user; move it away, it is fetched anew")
    if (folder / "objects" / "info" / "alternates").exists():
        raise UnsafeRepository(f"{folder} borrows objects from another repository; move it away, it is fetched anew")
    wanted = _CONFIG.format(url=address.url.replace("\\", "\\\\").replace('"', '\\"'))
    config = folder / "config"
    if config.is_symlink() or not config.is_file() or config.read_bytes() != wanted.encode():
        part = folder / f"config.{os.getpid()}"
        part.unlink(missing_ok=True)
        part.write_text(wanted, encoding="utf-8")
        part.replace(config)
    return git


def seen_tips(git: Git) -> dict[str, str]:
    """The remote's branches as last fetched or pushed. Read from the files themselves: nobody here packs refs."""
    folder = git.repository / SEEN
    tips: dict[str, str] = {}
    for path in (folder / MAIN, *(folder / ROOM).glob("*")):
        try:
            oid = path.read_bytes().decode("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        branch = path.relative_to(folder).as_posix()
        if BRANCH.fullmatch(branch) and OID.fullmatch(oid):
            tips[branch] = oid
    return tips


def many_packs(git: Git) -> bool:
    """Whether it is time to join them."""
    return sum(1 for _ in (git.repository / "objects" / "pack").glob("*.pack")) > PACKS


def join_packs(git: Git) -> bool:
    """Each fetch and each write leaves a small pack; many of them make every look at the repository slower.

    Raises: GitFailed
    """
    if not many_packs(git):
        return False
    git.run("repack", "--geometric=2", "-d", "-q")
    return True


def is_damaged(git: Git) -> bool:
    """Whether what the remote's branches need is not all here; asked when git complained, since it costs a walk."""
    return not git.succeeds("fsck", "--connectivity-only", "--no-dangling", "--no-progress")


def set_aside(folder: Path) -> Path:
    """Move a repository that git can't read any more out of the way; the next fetch fills a new one."""
    target = next(p for n in count(1) if not (p := folder.with_name(f"{folder.name}.broken-{n}")).exists())
    folder.rename(target)
    return target


def _make(folder: Path, git: Git, rename: Callable[[Path, Path], None] = os.rename) -> None:
    import shutil  # here: it takes longer to load than a reading command has for it

    private_folder(folder.parent)
    part = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(mode=0o700)
    git.run("init", "--quiet", "--bare", "--template=", "--", str(part))
    try:
        rename(part, folder)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)  # another process was first
        if not folder.is_dir():
            raise
