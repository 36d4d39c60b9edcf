"""P15: rooms over Git. What one post costs on its way to the remote, whether a full room slows anything, first sync."""

import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.probes.rooms import ROOM, engine, git, remote, user
from bench.probes.timing import in_turn
from bench.run import Failed, Run
from bench.targets import Reading
from peerline.core.post_draft import draft
from peerline.network.engine import Engine
from peerline.wire.post_file import FILE_BYTES

SMALL: Final = 100
LARGE: Final = 10_000
FIRST: Final = 2_000
BATCH: Final = 50


class Network:
    """Engines in this process on bare repositories of this machine, beside git's own commands in a work tree."""

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        pass

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        times = 5 if run.quick else 15
        large = LARGE // 10 if run.quick else LARGE
        with run.folder() as folder:
            small_remote, large_remote = remote(folder, SMALL), remote(folder, large)
            small, full = engine(folder, small_remote, "reader"), engine(folder, large_remote, "reader")
            for one in (small, full):
                _require(one.sync().failed is None, "the first sync failed")
            copy = folder / "porcelain.git"
            shutil.copytree(large_remote, copy)  # each has the branch for itself: nobody is refused
            porcelain = Porcelain(folder, copy)
            pushes = {
                "push-small": Plain(folder, small_remote, times + 1).push,
                "push": Plain(folder, large_remote, times + 1).push,
            }
            sends = in_turn(
                times,
                {
                    "send-small": lambda: _send(small),
                    "send": lambda: _send(full),
                    "porcelain": porcelain.send,
                    **pushes,
                },
            )
            batches = in_turn(max(2, times // 5), {"batch": lambda: _batch(full)})
            reads = in_turn(
                times * 4,
                {
                    "inbox-small": small.inbox,
                    "inbox": full.inbox,
                    "status-small": lambda: _status(small),
                    "status": lambda: _status(full),
                    "read": lambda: full.read(ROOM),
                },
            )
            kept = in_turn(times, {"kept-small": lambda: _keep(small), "kept": lambda: _keep(full)})
            first = in_turn(3, _first_sync(folder, remote(folder, FIRST if not run.quick else FIRST // 10)))
        taken = sends | reads | kept | first | {"batch": batches["batch"] / BATCH}
        found = {Reading("network", name, "ms"): seconds * 1000 for name, seconds in taken.items()}
        growth = {name: taken[name] / taken[f"{name}-small"] for name in ("send", "push")}
        return found | {Reading("network", name, "growth"): ratio for name, ratio in growth.items()}


class Porcelain:
    """`git add`, `git commit`, `git push` in a work tree of the room."""

    def __init__(self, folder: Path, remote: Path) -> None:
        self._env, self._tree, self._number = user(folder, "porcelain"), folder / "tree", 0
        git("clone", "-q", "--branch", f"room/{ROOM}", str(remote), str(self._tree), env=self._env)

    def send(self) -> None:
        self._number += 1
        name = f"rooms/{ROOM}/other/{self._number}.md"
        (self._tree / name).parent.mkdir(parents=True, exist_ok=True)
        (self._tree / name).write_text("x" * 500)
        self._git_timed("add", name)
        self._git_timed("commit", "-q", "-m", "post")
        self._git_timed("push", "-q")

    def _git_timed(self, *words: str) -> None:
        git("-C", str(self._tree), *words, env=self._env)


class Plain:
    """Git's own `git push` of the same change as a send's, from a copy of its own: a commit with one file more on the
    room's branch. The commits are made beforehand, so that only the push is timed."""

    def __init__(self, folder: Path, remote: Path, times: int) -> None:
        self._env, self._number = user(folder, f"plain-{remote.stem}"), 0
        self._remote, self._copy = folder / f"plain-{remote.name}", folder / f"plain-copy-{remote.name}"
        shutil.copytree(remote, self._remote)  # the branch for itself, as the one that the engine sends to
        git("clone", "-q", "--bare", str(self._remote), str(self._copy), env=self._env)
        stream = bytearray()
        for number in range(1, times + 1):
            at = datetime.now(UTC)
            path = f"rooms/{ROOM}/msg/{at:%Y/%m/%d}/{at:%Y%m%dT%H%M%SZ}-plain-{number:010}.md"
            tip = f"refs/heads/room/{ROOM}^0" if number == 1 else f":{number - 1}"
            stream += (
                f"commit refs/made/{number}\nmark :{number}\ncommitter p <p> {int(at.timestamp())} +0000\n".encode()
            )
            stream += f"data 1\nm\nfrom {tip}\nM 100644 inline {path}\ndata 500\n{'x' * 500}\n\n".encode()
        git(f"--git-dir={self._copy}", "fast-import", "--quiet", env=self._env, data=bytes(stream))

    def push(self) -> None:
        self._number += 1
        change = f"refs/made/{self._number}:refs/heads/room/{ROOM}"
        git(f"--git-dir={self._copy}", "push", "-q", str(self._remote), change, env=self._env)


def _send(engine: Engine) -> None:
    sent = engine.send(draft(room=ROOM, body="x" * 300))
    _require(sent.delivery == "pushed", f"a post waits: {sent.reason}")


def _keep(engine: Engine) -> None:
    """As far as the promise: durable here, before anything is pushed."""
    _require(engine.send(draft(room=ROOM, body="x" * 300), push=False).delivery == "queued", "a post did not wait")


def _batch(engine: Engine) -> None:
    for _ in range(BATCH):
        engine.send(draft(room=ROOM, body="x" * 300), push=False)
    flushed = engine.flush()
    _require(flushed.left == 0, f"posts wait: {flushed.reason}")


def _status(engine: Engine) -> None:
    engine.health()
    engine.rooms()
    engine.heads()
    engine.waiting()
    engine.started()


def _first_sync(folder: Path, remote: Path) -> dict[str, Callable[[], object]]:
    """Ours into an empty home, and what git alone needs for the same objects."""
    number = 0

    def ours() -> None:
        nonlocal number
        number += 1
        one = engine(folder, remote, f"reader-{number}")
        report = one.sync()
        _require(report.failed is None and report.recorded > 0, "the first sync failed")
        one.close()

    def gits() -> None:
        env, path = user(folder, "git"), folder / f"first-{number}.git"
        git("init", "-q", "--bare", "--template=", str(path), env=env)
        git(f"--git-dir={path}", "fetch", "-q", str(remote), "+refs/heads/*:refs/heads/*", env=env)
        listed = git(f"--git-dir={path}", "ls-tree", "-r", f"refs/heads/room/{ROOM}", env=env).decode()
        oids = "\n".join(line.split()[2] for line in listed.splitlines())
        held = git(f"--git-dir={path}", "cat-file", "--batch", env=env, data=oids.encode())
        _require(len(held) < FILE_BYTES * FIRST, "more than posts")

    return {"first": ours, "first-git": gits}


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise Failed(why)
