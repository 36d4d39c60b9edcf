"""A stranger's file before every reader of a room's files, mutated and steered by coverage (R25).

What is looked for: anything but the promised errors, and a post that does not come back from its own writing.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from peerline.core.post import Post
from peerline.wire import card_files, post_file, profile_file, room_files
from peerline.wire.members import MalformedFile
from peerline.wire.post_file import MalformedPost, UnsupportedVersion

Reader = Callable[[bytes], Any]

PLACE: Final = "rooms/build/msg/2026/11/30/20261130T102000Z-alice-cursor-99YTFG63X7.md"
POST: Final = b"""\
---
v: 1
id: 01M8NZR3XVZK0P3M99YTFG63X7
room: build
from: alice-cursor
author_kind: agent
ts: 2026-11-30T10:20:00.999Z
kind: msg
thread: 01M8NZR3XVZK0P3M99YTFG63X7
needs: none
mentions:
  - bob
priority: normal
tags: [a, "b", 'c']
refs: []
---
hello
"""
OTHER_READERS: Final[tuple[Reader, ...]] = (
    lambda data: room_files.read_manifest(data, "net"),
    lambda data: room_files.read_room("build", data),
    room_files.read_allowed_signers,
    room_files.read_decision,
    lambda data: room_files.read_digest("rooms/build/archive/digest.md", data),
    room_files.read_seal_lock,
    room_files.read_seal_transaction,
    lambda data: card_files.read_card("bob", data),
    lambda data: card_files.read_receipt("build", "bob", data),
    lambda data: profile_file.read_profile("bob", data),
)


TOKENS: Final = (
    b"---\n", b"&a ", b"*a", b"<<: ", b"? ", b"|-\n", b">+\n", b"!!python/object:os.system ", b"\xef\xbb\xbf",
    b"\r\n", b"\0", b"\xe2\x80\xa8", b"0x1F", b".nan", b"~", b"9" * 50, b"[" * 30, b"{a: " * 30, b"task_id: ",
    b"claim_id: ", b"sig: ", b"\t", b"in_reply_to: ", b"needs: human\n", b"kind: question\n",
    b"priority: blocking\n", b"unsafe_reason: ", b": ", b"- ",
)  # fmt: skip


def try_file(data: bytes) -> None:
    """The first byte chooses the reader; a post's path may stand before a NUL. Raises what no reader may raise."""
    if not data:
        return
    choice, rest = data[0], data[1:]
    if choice < len(OTHER_READERS):
        with suppress(MalformedFile):
            OTHER_READERS[choice](rest)
        return
    path, nul, file = rest.partition(b"\0")
    try_post(*((path.decode("utf-8", "replace"), file) if nul and path.startswith(b"rooms/") else (PLACE, rest)))


def try_post(path: str, data: bytes) -> None:
    with suppress(MalformedPost):
        post_file.signed_form(data)
    try:
        post = post_file.read_post(path, data)
    except (MalformedPost, UnsupportedVersion):
        return
    try:
        written = post_file.write_post(post)
    except UnicodeEncodeError:
        raise AssertionError("read, and cannot be written") from None
    if len(written) <= post_file.FILE_BYTES:  # what was written compactly may be too long in our own style
        with suppress(MalformedPost):
            again = post_file.read_post(path, written)
            assert _plain(again) == _plain(post), (again, post)


def _plain(post: Post) -> Post:
    """As it comes back: the newline that writing adds may make a CR LF of a lone CR."""
    body = post.body if post.body.endswith("\n") or not post.body else f"{post.body}\n"
    return post._replace(body=body.replace("\r\n", "\n"))


def seeds(folder: Path) -> None:
    """Write the inputs that the mutations begin with."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(beginnings()):
        (folder / f"seed-{number}").write_bytes(data)


def beginnings() -> list[bytes]:
    """A post and each other kind of file, as they should be and as they should not."""
    begin: list[bytes] = [
        b"\xff" + POST,
        b"\xff" + PLACE.encode() + b"\0" + POST,
        b"\xff" + POST.replace(b"priority: normal", b"x: &a [*a, !!python/object:os.system {}, <<: {b: 1}, 0x1F, ~]"),
        b"\xff" + POST.replace(b"priority: normal", b"task_id: t\ntask_state: open\nfrom: no\n? y\n: |-\n  a\n\n  b"),
        b"\x00v: 1\nid: net\nauthenticity: signed\n",
        b"\x01v: 1\nid: build\ntitle: The build\npolicy:\n  reply_budget: 8\nretention:\n  window_days: 3\n",
        b'\x02bob namespaces="komnet" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE\n',
        b"\x07v: 1\nid: bob\ndisplay_name: Bob\nhuman:\n  name: Bob\n  timezone: UTC\nsubscriptions: [build]\n",
        b'\x08{"v":1,"agent":"bob","room":"build","read_through":"01M8NZR3XVZK0P3M99YTFG63X7","count":3}',
        b"\x09---\nv: 1\nid: bob\n---\n# Role\n\ntext\n\n# Focus\n- a\n- b\n",
    ]
    return begin + [bytes([number]) + POST for number in range(len(OTHER_READERS))]


def mutated(chance: Random, known: list[bytes]) -> bytes:
    """One of `known`, changed in a few places: bytes flipped, cut out, said twice, put in from another one."""
    data = bytearray(chance.choice(known))
    for _ in range(chance.randint(1, 4)):
        at, until = sorted(chance.randint(0, len(data)) for _ in range(2))
        match chance.randrange(5):
            case 0 if data:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case 1:
                del data[at : min(until, at + 40)]
            case 2:
                data[at:at] = data[at : min(until, at + 200)] * chance.choice((1, 1, 2, 30))
            case 3:
                data[at:at] = chance.choice(TOKENS)
            case _:
                other = chance.choice(known)
                first = chance.randint(0, len(other))
                data[at:until] = other[first : first + chance.randint(0, 80)]
    return bytes(data[: 2 * post_file.FILE_BYTES])
