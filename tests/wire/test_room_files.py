"""What main records of rooms: recorded files come out byte for byte, defaults fill two-line ones, seals are read."""

import re

import pytest

from peerline.core.room import Authenticity, Manifest, Room
from peerline.wire.members import MalformedFile
from peerline.wire.room_files import (
    ALLOWED_SIGNERS,
    DECISION_PATH,
    DIGEST_PATH,
    MANIFEST,
    read_allowed_signers,
    read_decision,
    read_digest,
    read_manifest,
    read_room,
    read_seal_lock,
    read_seal_transaction,
    room_path,
    seal_lock_path,
    seal_transaction_path,
    signer_line,
    write_manifest,
    write_room,
)
from tests.network.fixtures import START, manifest
from tests.network.golden import added_files, golden_repositories, needs_golden
from tests.wire.test_card_files import main_files

ID = "01M8NZR3XVZK0P3M99YTFG63X7"
ROOM = Room(id="build", title="Build", created=START, created_by="alice-cursor")


@needs_golden
def test_every_recorded_room_and_manifest_comes_out_byte_for_byte() -> None:
    rooms = 0
    for repository in golden_repositories().values():
        for path, data in main_files(repository).items():
            if path == MANIFEST:
                assert write_manifest(read_manifest(data, "elsewhere")) == data
            elif path.endswith("/room.yaml"):
                room = read_room(path.split("/")[1], data)
                assert room_path(room.id) == path
                # The two-line file of the network made by hand is completed when it is rewritten.
                assert write_room(room).startswith(data) if room.created is None else write_room(room) == data
                rooms += 1
    assert rooms == 8


@needs_golden
def test_the_recorded_seal_is_read() -> None:
    files = main_files(golden_repositories()["sealed"])
    decisions = [read_decision(data) for path, data in files.items() if DECISION_PATH.fullmatch(path)]
    assert [(one.seq, one.title, one.decided_by, one.supersedes) for one in decisions] == [
        (1, "Refunds are partial-capable", "alice-cursor", None),
        (2, "Second decision", "alice-cursor", None),
    ]
    assert decisions[0].body == "Refunds are partial-capable\n\nAgreed with bob.\n"
    (digest,) = [read_digest(path, data) for path, data in files.items() if DIGEST_PATH.fullmatch(path)]
    assert (digest.room, digest.period, digest.seal) == ("architecture", "2026-11", "cb3917e31ee068b5")
    assert digest.pinned == "7eb492b84763c178d416a3e1a1b3cd9eca59e420"
    assert len(digest.paths) == 32
    added = added_files(golden_repositories()["sealed"], "refs/heads/room/architecture")
    locks = [read_seal_lock(data) for path, data in added if path == seal_lock_path("architecture")]
    seals = [read_seal_transaction(data) for path, data in added if path == seal_transaction_path("architecture")]
    assert {lock.holder for lock in locks} == {"alice-cursor", "bob-codex"}
    assert all(lock.expires_at - lock.acquired_at == 900_000 for lock in locks)
    assert [(seal.id, len(seal.posts)) for seal in seals] == [("cb3917e31ee068b5", 32), ("ada9a46466558e18", 7)]


@needs_golden
def test_the_recorded_signers_are_read() -> None:
    signers = read_allowed_signers(main_files(golden_repositories()["signed"])[ALLOWED_SIGNERS])
    assert [one.agents for one in signers] == [("alice-a",), ("bob-b",)]
    assert all(one.key.startswith("ssh-ed25519 AAAAC3Nza") for one in signers)


def test_a_room_is_written_with_everything_and_read_from_two_lines() -> None:
    data = write_room(ROOM)
    assert read_room("build", data)._replace(kept={}) == ROOM
    assert data.decode().startswith('v: 1\nid: build\ntitle: Build\npurpose: ""\nstatus: open\n')
    assert read_room("build", b"v: 1\nid: build\n")._replace(kept={}) == Room(id="build", title="build")


def test_a_rewritten_room_keeps_what_is_unknown() -> None:
    data = write_room(ROOM).replace(b"  window:\n", b"  archive: forever\n  window:\n    hours: 1\n")
    closed = write_room(read_room("build", data)._replace(closed=True)).decode()
    assert "status: closed\n" in closed
    assert closed.endswith("    hours: 1\n  seal:\n    min_interval_hours: 24\n  archive: forever\n")
    assert read_room("build", closed.encode()).closed


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ((b"v: 1", b"v: true"), "v is True"),
        ((b"id: build", b"id: other"), "id is not the one"),
        ((b"id: build", b"id: main"), "id is not acceptable"),
        ((b"reply_budget: 12", b"reply_budget: 0"), "policy.reply_budget is not acceptable"),
        ((b"days: 30", b"days: many"), "retention.window.days is not acceptable"),
        ((b"title: Build", b"title: [x]"), "title is not acceptable"),
    ],
)
def test_a_room_that_is_none_says_why(change: tuple[bytes, bytes], told: str) -> None:
    with pytest.raises(MalformedFile, match=told):
        read_room("build", write_room(ROOM).replace(*change))


@pytest.mark.parametrize(
    ("data", "mode"),
    [
        (manifest("none"), Authenticity.NONE),
        (manifest("git"), Authenticity.GIT),
        (manifest("signed"), Authenticity.SIGNED),
        (manifest("quantum"), Authenticity.SIGNED),
        (None, Authenticity.GIT),
        (b"", Authenticity.GIT),
        (b"{{{", Authenticity.GIT),
        (b"id: x\n", Authenticity.GIT),
    ],
)
def test_the_mode_of_a_network_is_git_where_nothing_is_said_and_signed_where_it_is_unknown(
    data: bytes | None, mode: Authenticity
) -> None:
    assert read_manifest(data, "net").authenticity is mode


def test_a_manifest_is_five_lines() -> None:
    assert write_manifest(Manifest(id="sample", name="sample")) == manifest("git")


def test_odd_lines_of_allowed_signers_are_left_out() -> None:
    data = b'# people\n\nalice,bob namespaces="komnet" ssh-ed25519 AAAA a comment\nnobody\n\xff\xfe x\n'
    (signer,) = read_allowed_signers(data)
    assert (signer.agents, signer.key) == (("alice", "bob"), "ssh-ed25519 AAAA")
    assert signer_line("alice", "ssh-ed25519 AAAA alice@host\n") == b"alice ssh-ed25519 AAAA\n"


DECISION = f"""\
---
v: 1
seq: 3
title: "A: b"
decided_by: alice
decided_at: 2026-11-30T10:20:00.000Z
source_message: {ID}
supersedes: {ID}
---

A: b
"""


def test_a_decision_is_read_and_a_wrong_one_says_why() -> None:
    read = read_decision(DECISION.encode())
    assert (read.seq, read.title, read.decided_at, read.supersedes, read.body) == (3, "A: b", START, ID, "A: b\n")
    for name in ("seq", "title", "decided_by", "decided_at", "source_message"):
        with pytest.raises(MalformedFile, match=f"{name} is missing"):
            read_decision(re.sub(f"{name}: .*\n", "", DECISION).encode())


def test_a_digest_without_a_pinned_commit_is_still_a_text() -> None:
    digest = read_digest("rooms/build/digest/2026-11-0123456789abcdef.md", b"# build\n")
    assert (digest.pinned, digest.paths, digest.text) == (None, (), "# build\n")
    with pytest.raises(MalformedFile, match="path"):
        read_digest("rooms/build/digest/x.md", b"")


def test_the_files_of_a_seal_say_what_is_wrong() -> None:
    with pytest.raises(MalformedFile, match="holder is missing"):
        read_seal_lock(b'{"v": 2}')
    with pytest.raises(MalformedFile, match="message_ids is not acceptable"):
        read_seal_transaction(
            b'{"v": 1, "id": "0", "created_at": "2026-11-30T10:20:00Z", "source_head": "", "message_ids": [1]}'
        )
