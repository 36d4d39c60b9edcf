"""A verdict and its reason for every file: of the recorded networks and of one made by plumbing."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from peerline.core.card import Card
from peerline.core.room import Authenticity
from peerline.network.authenticity import UNCHECKED, Signed, Verdict, by_commit, verdict
from peerline.network.signing import Verifier
from peerline.wire.card_files import card_path, read_card
from peerline.wire.members import MalformedFile
from peerline.wire.post_file import PATH, MalformedPost, UnsupportedVersion, read_post
from peerline.wire.room_files import ALLOWED_SIGNERS, MANIFEST, read_manifest
from tests.network.fixtures import Author, Remote, card, sample_network
from tests.network.golden import golden_repositories, needs_golden
from tests.network.keys import ENVIRON, needs_ssh_keygen
from tests.wire.test_card_files import main_files

POST = Author("alice-cursor").post("build")
CARD = read_card("alice-cursor", card("alice-cursor", "build"))


def added(repository: Path, room: str) -> Iterator[tuple[str, str, bytes]]:
    """The e-mail of its commit's author, the path and the bytes of each file that was ever added."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=True).stdout

    words = ("--reverse", "--diff-filter=A", "--raw", "--no-abbrev", "--no-renames", "--format=%ae")
    email = ""
    for line in git("log", *words, f"refs/heads/room/{room}").decode().splitlines():
        if line.startswith(":"):
            meta, path = line.split("\t")
            yield email, path, git("cat-file", "blob", meta.split()[3])
        elif line:
            email = line


def judged(repository: Path, room: str) -> dict[str, Verdict]:
    """The verdict on each readable post of a room, by path."""
    main = main_files(repository)
    mode = read_manifest(main.get(MANIFEST), "net").authenticity
    signers = main.get(ALLOWED_SIGNERS, b"")
    found: dict[str, Verdict] = {}
    with Verifier(signers, ENVIRON) as verifier:
        for email, path, data in added(repository, room):
            if PATH.fullmatch(path):
                try:
                    post = read_post(path, data)
                except (MalformedPost, UnsupportedVersion):
                    continue
                found[path] = verdict(
                    mode,
                    post,
                    data,
                    card=a_card(main, post.sender),
                    author_email=email,
                    signed=Signed(signers, verifier),
                )
    return found


def a_card(main: Mapping[str, bytes], agent: str) -> Card | None:
    try:
        return read_card(agent, main[card_path(agent)])
    except (KeyError, MalformedFile):
        return None


@needs_golden
@needs_ssh_keygen
@pytest.mark.parametrize(
    ("name", "room", "verified", "failed"),
    [
        ("preseal", "architecture", 40, {}),
        ("preseal", "small", 3, {}),
        ("signed", "r", 1, {}),
        ("malformed-and-sealed", "r", 11, {}),
        ("tiny", "r", 2, {}),
        (
            "plumbing-made",
            "r",
            4,
            {
                "WT6XF76K8V": "committed by py@x.test, but the card of alice-a says alice-a@example.test",
                "99YTFG63X7": "there is no card for ghost-x",
            },
        ),
    ],
)
def test_every_recorded_post_has_its_verdict(name: str, room: str, verified: int, failed: dict[str, str]) -> None:
    verdicts = judged(golden_repositories()[name], room)
    assert sum(one.verified for one in verdicts.values()) == verified
    refused = {path.removesuffix(".md")[-10:]: one.reason for path, one in verdicts.items() if one.failed}
    assert refused == failed


def test_every_post_of_a_network_made_by_plumbing_has_its_verdict(tmp_path: Path) -> None:
    sample = sample_network(tmp_path / "net.git")
    wanted = {path: how for path, how in sample.judged.items() if how in ("read", "forged", "no card")}
    verdicts = judged(sample.remote.folder, "build")
    assert verdicts.keys() == wanted.keys()
    assert {path for path, one in verdicts.items() if one.failed} == {
        path for path, how in wanted.items() if how != "read"
    }


def test_a_network_that_asks_for_nothing_verifies_nothing_and_fails_nothing(tmp_path: Path) -> None:
    verdicts = judged(sample_network(tmp_path / "net.git", "none").remote.folder, "build").values()
    assert {*verdicts} == {UNCHECKED}
    assert not UNCHECKED.verified
    assert not UNCHECKED.failed


def test_an_unsigned_post_fails_in_a_signed_network_and_in_one_of_an_unknown_mode(tmp_path: Path) -> None:
    for mode in ("signed", "quantum"):
        remote = Remote(tmp_path / mode)
        remote.commit("main", {MANIFEST: f"v: 1\nid: n\nauthenticity: {mode}\n".encode()})
        remote.post(Author("alice-cursor").post("build"))
        (one,) = judged(remote.folder, "build").values()
        assert (one.failed, one.reason) == (True, "it is not signed")


@pytest.mark.parametrize(
    ("known", "email", "reason"),
    [
        (CARD, "alice-cursor@example.test", None),
        (CARD, "ALICE-Cursor@Example.test", None),
        (CARD, "eve@example.test", "committed by eve@example.test, but the card of alice-cursor says"),
        (CARD, "eve\x1b[2J@x", "committed by eve"),
        (CARD, None, "the author of its commit is not known"),
        (CARD, "", "the author of its commit is not known"),
        (None, "alice-cursor@example.test", "there is no card for alice-cursor"),
        (read_card("a", b"v: 1\nid: a\n"), "a@b", "names no git author"),
    ],
)
def test_mode_git_compares_the_commits_author_with_the_card(
    known: Card | None, email: str | None, reason: str | None
) -> None:
    found = by_commit(POST, known, email)
    assert found.verified is (reason is None)
    assert found.failed is (reason is not None)
    assert (reason or "") in found.reason
    assert "\x1b" not in found.reason


def test_without_signers_nothing_signed_is_believed() -> None:
    found = verdict(Authenticity.SIGNED, POST, b"", card=CARD, author_email="alice-cursor@example.test", signed=None)
    assert found.failed
