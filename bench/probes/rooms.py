"""A room of any size in a bare repository, made at once by `git fast-import`: one commit a post, over twenty days."""

import os
import subprocess
import time
from pathlib import Path
from typing import Final

from peerline.core.post_draft import draft
from peerline.core.ulid import Ulids
from peerline.network.clone import Clone, Surroundings
from peerline.network.engine import Engine
from peerline.network.place import Identity, MemorySubscriptions, Place
from peerline.wire.post_file import post_path, write_post

ROOM: Final = "build"
MENTIONS: Final = 10  # posts for the reader, whatever the size: its inbox is the same
_DAYS_MS: Final = 20 * 86_400_000
_WORDS: Final = "what was tried, what it showed and what is left to do " * 8


def now() -> int:
    return time.time_ns() // 1_000_000


def git(*words: str, env: dict[str, str], data: bytes = b"") -> bytes:
    return subprocess.run(["git", *words], env=env, input=data, capture_output=True, check=True).stdout


def user(folder: Path, agent: str) -> dict[str, str]:
    """An environment with a home of its own and nothing else in it."""
    home = folder / f"home-{agent}"
    home.mkdir(exist_ok=True)
    who = {f"GIT_{role}_{part}": agent for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **who}


def remote(folder: Path, posts: int) -> Path:
    """A network with one room of so many posts."""
    path, env = folder / f"remote-{posts}.git", user(folder, "writer")
    git("init", "-q", "--bare", "--template=", str(path), env=env)
    ulids, began = Ulids(now, os.urandom), now() - _DAYS_MS
    stream = bytearray(_commit("main", began, {".komnet/net.yaml": b"v: 1\nid: net\nauthenticity: none\n"}))
    stream += _commit(f"room/{ROOM}", began, {})
    for number in range(posts):
        at = began + number * _DAYS_MS // posts
        mentions = ("reader",) if number < MENTIONS else ()
        post = draft(room=ROOM, body=f"{number}: {_WORDS}", mentions=mentions).post(
            id=ulids.next(), sender="writer", ts=at
        )
        stream += _commit(f"room/{ROOM}", at, {post_path(post): write_post(post)})
    git(f"--git-dir={path}", "fast-import", "--quiet", env=env, data=bytes(stream))
    git(f"--git-dir={path}", "repack", "-adq", env=env)
    return path


def _commit(branch: str, at: int, files: dict[str, bytes]) -> bytes:
    head = f"commit refs/heads/{branch}\ncommitter writer <writer> {at // 1000} +0000\ndata 1\nm\n".encode()
    return head + b"".join(b"M 100644 inline %b\ndata %d\n%b\n" % (p.encode(), len(d), d) for p, d in files.items())


def engine(folder: Path, remote: Path, agent: str) -> Engine:
    place = Place(folder=folder / agent / remote.stem, remote=str(remote), network="net")
    identity = Identity(agent=agent, display_name=agent, human=agent)
    around = Surroundings(now=now, entropy=os.urandom, environ=user(folder, agent))
    return Engine(Clone(place, identity, around), MemorySubscriptions([ROOM]))
