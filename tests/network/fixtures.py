"""Network repositories made by plain git plumbing: what other people's programs, careless or hostile, may have pushed.

`Remote` is a bare repository; `sample_network` fills one with one file of every kind that a reader has to judge.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from peerline.core.ids import Millis
from peerline.core.post import Post
from peerline.core.post_draft import draft
from peerline.core.ulid import Ulids
from peerline.wire.post_file import post_path, write_post

START: Final[Millis] = 1_796_034_000_000  # 2026-11-30T10:20:00Z
_CLEAN: Final = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "LC_ALL": "C",
}


class Remote:
    """A bare repository that stands in for the shared one. Times rise by a second a commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._clock = START // 1000
        if not folder.exists():
            folder.mkdir(parents=True)
            self.git("init", "--quiet", "--bare", "--initial-branch=main")

    @property
    def url(self) -> str:
        return str(self.folder)

    def git(self, *words: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=_CLEAN, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr.decode(errors="replace"))
        return done.stdout

    def tip(self, reference: str) -> str | None:
        done = self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{reference}")
        return done.decode().strip() or None

    def commit(
        self, reference: str, files: Mapping[str, bytes | None], author: str = "alice-cursor", text: str = "by plumbing"
    ) -> str:
        """Add `files` (None removes one) to a branch in one commit by `<author>@example.test`; the new tip."""
        self._clock += 1
        who = f"{author} <{author}@example.test> {self._clock} +0000"
        said = text.encode()
        head = f"commit refs/heads/{reference}\nauthor {who}\ncommitter {who}\ndata {len(said)}\n"
        lines = [head.encode(), said, b"\n"]
        if parent := self.tip(reference):
            lines.append(f"from {parent}\n".encode())
        for path, data in files.items():
            if data is None:
                lines.append(f"D {path}\n".encode())
            else:
                lines.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
        self.git("fast-import", "--quiet", stdin=b"".join(lines))
        tip = self.tip(reference)
        assert tip is not None
        return tip

    def open_room(self, room: str, author: str = "alice-cursor", budget: int = 12) -> None:
        """The branch with its empty root, and room.yaml on main."""
        self.commit(f"room/{room}", {}, author, f"komnet: open room {room}")
        config = (
            f'v: 1\nid: {room}\ntitle: {room}\npurpose: ""\nstatus: open\ncreated: 2026-11-30T10:20:00.000Z\n'
            f"created_by: {author}\npolicy:\n  reply_budget: {budget}\nretention:\n  window:\n    days: 30\n"
            "    messages: 500\n  seal:\n    min_interval_hours: 24\n"
        )
        self.commit("main", {f"rooms/{room}/room.yaml": config.encode()}, author, f"komnet: create room {room}")

    def post(self, *posts: Post, author: str | None = None) -> str:
        """Add posts to their rooms' branch (one room a call) in one commit by the first one's sender."""
        files: dict[str, bytes | None] = {post_path(post): write_post(post) for post in posts}
        first = posts[0]
        return self.commit(f"room/{first.room}", files, author or first.sender, f"komnet: {first.kind} in {first.room}")


def manifest(authenticity: str = "git", network: str = "sample") -> bytes:
    return f"v: 1\nid: {network}\nname: {network}\nprotocol_version: 1\nauthenticity: {authenticity}\n".encode()


def card(agent: str, *rooms: str, email: str | None = None) -> bytes:
    """A card whose git author is `<agent>@example.test` or `email`."""
    listed = "".join(f"\n  - {room}" for room in sorted(rooms)) if rooms else " []"
    return (
        f"v: 1\nid: {agent}\ndisplay_name: {agent}\nhuman:\n  name: {agent.partition('-')[0]}\n  timezone: UTC\n"
        f"tool: cli\ngit_author:\n  name: {agent}\n  email: {email or agent + '@example.test'}\nexpertise: []\n"
        f"speaks_for: []\nsubscriptions:{listed}\npresence:\n  status: away\n  last_seen: 2026-11-30T10:20:00.000Z\n"
    ).encode()


class Author:
    """Writes posts of one agent with rising ids, one second after another."""

    def __init__(self, agent: str, start: Millis = START) -> None:
        self.agent = agent
        self._at = start
        self._ulids = Ulids(lambda: self._at, os.urandom)

    def post(self, room: str, body: str = "hello", *, to: tuple[str, ...] = (), parent: Post | None = None) -> Post:
        self._at += 1000
        made = draft(
            room=room,
            body=body,
            kind="answer" if parent else "msg",
            mentions=to,
            in_reply_to=parent.id if parent else None,
            thread=parent.thread if parent else None,
        )
        return made.post(id=self._ulids.next(), sender=self.agent, ts=self._at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What `sample_network` put into the room `build`: path → how it must be judged."""

    remote: Remote
    judged: Mapping[str, str]


def sample_network(folder: Path, authenticity: str = "git") -> Sample:
    """A network of alice-cursor and bob-codex with one file of every kind a reader has to judge.

    Judgements: `read` (and verified), `forged`, `no card`, `malformed`, `unsupported`, `ignored`.
    """
    remote = Remote(folder)
    cards = {f"agents/{agent}.yaml": card(agent, "build") for agent in ("alice-cursor", "bob-codex")}
    remote.commit("main", {".komnet/net.yaml": manifest(authenticity), **cards}, text="komnet: initialise network")
    remote.open_room("build")
    alice, bob, ghost = Author("alice-cursor"), Author("bob-codex"), Author("ghost-x")
    judged: dict[str, str] = {}

    def put(path: str, data: bytes, judgement: str, author: str) -> None:
        remote.commit("room/build", {path: data}, author)
        judged[path] = judgement

    asked = alice.post("build", "which one?", to=("bob-codex",))
    for post in (asked, bob.post("build", "this one", to=("alice-cursor",), parent=asked)):
        put(post_path(post), write_post(post), "read", post.sender)
    late = alice.post("build", "unknown members stay")._replace(extra={"x_list": [1, 2], "x_word": "é"})
    put(post_path(late), write_post(late), "read", "alice-cursor")
    for body, old, new in (
        ("no last newline", b"line\n", b"line"),
        ("crlf", b"\n", b"\r\n"),
        ("no UTF-§", "§".encode(), b"\xff"),
    ):
        post = alice.post("build", body)
        put(post_path(post), write_post(post).replace(old, new), "read", "alice-cursor")
    forged = alice.post("build", "by bob, in alice's name", to=("bob-codex",))
    put(post_path(forged), write_post(forged), "forged", "bob-codex")
    unknown = ghost.post("build", "no card", to=("bob-codex",))
    put(post_path(unknown), write_post(unknown), "no card", "ghost-x")
    for before, after, judgement in (
        (b"v: 1\n", b"v: 2\n", "unsupported"),
        (b"v: 1\n", b"v: one\n", "malformed"),
        (b"room: build\n", b"room: other\n", "malformed"),
        (b"from: alice-cursor\n", b"from: bob-codex\n", "malformed"),
        (b"kind: msg\n", b"kind: foo\n", "malformed"),
        (b"needs: none\n", b"needs: maybe\n", "malformed"),
        (b"priority: normal\n", b"priority: urgent\n", "malformed"),
        (b"priority: normal\n", b"priority: normal\npriority: high\n", "malformed"),
        (b"priority: normal\n", b"tags: [1]\n", "malformed"),
        (b"priority: normal\n", b"in_reply_to: 7\n", "malformed"),
        (b"priority: normal\n", b"task_id: 01M8NZR3XVZK0P3M99YTFG63X7\n", "malformed"),
        (b"priority: normal\n", b"x: &a [b]\ny: *a\n", "malformed"),
        (b"ts: 2", b"ts: 3", "malformed"),
        (b"---\nhello", b"hello", "malformed"),
        (b"---\nv", b"v", "malformed"),
    ):
        post = alice.post("build")
        data = write_post(post)
        assert before in data
        put(post_path(post), data.replace(before, after, 1), judgement, "alice-cursor")
    stray = alice.post("build", "in a folder of its own")
    put(post_path(stray).replace("/msg/", "/msg/x/"), write_post(stray), "ignored", "alice-cursor")
    put("rooms/build/.seal/lock.json", b"{}\n", "ignored", "alice-cursor")
    return Sample(remote=remote, judged=judged)
