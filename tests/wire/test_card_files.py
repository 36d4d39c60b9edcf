"""Cards, profiles and receipts: the recorded ones come out byte for byte, unknown members stay, faults are named."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from peerline.core.card import Session, Stamp, Status
from peerline.core.profile import Environment, InvalidProfile, Profile
from peerline.core.room import Receipt
from peerline.wire.card_files import card_path, read_card, read_receipt, receipt_path, write_card, write_receipt
from peerline.wire.members import MalformedFile
from peerline.wire.profile_file import profile_path, read_profile, write_profile
from tests.network.fixtures import START, card
from tests.network.golden import golden_repositories, needs_golden

ID = "01M8NZR3XVZK0P3M99YTFG63X7"
PROFILE = Profile(
    id="alice-cursor",
    updated_at=START,
    role="Builder",
    mission="Build: it",
    current_focus="The build",
    environment=Environment(client="cli", workspace="github.com/acme/payments"),
    capabilities=("Read",),
)


def main_files(repository: Path) -> dict[str, bytes]:
    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=True).stdout

    names = git("ls-tree", "-r", "-z", "--name-only", "refs/heads/main").decode().split("\0")
    return {name: git("cat-file", "blob", f"refs/heads/main:{name}") for name in names if name}


@needs_golden
def test_every_recorded_card_profile_and_receipt_comes_out_byte_for_byte() -> None:
    cards = profiles = receipts = 0
    for repository in golden_repositories().values():
        for path, data in main_files(repository).items():
            parts, stem = path.split("/"), Path(path).stem
            if parts[0] == "agents":
                # The one card that was made by hand, with a member in flow style.
                assert write_card(read_card(stem, data)) == data.replace(b"x_future: {a: 1}", b"x_future:\n  a: 1")
                assert card_path(stem) == path
                cards += 1
            elif parts[:2] == ["rooms", "komnet"]:
                assert write_profile(read_profile(stem, data)) == data
                assert profile_path(stem) == path
                profiles += 1
            elif "receipts" in parts:
                assert write_receipt(read_receipt(parts[1], stem, data)) == data
                assert receipt_path(parts[1], stem) == path
                receipts += 1
    assert (cards, profiles, receipts) == (15, 14, 5)


def test_a_card_of_ours_comes_out_byte_for_byte() -> None:
    data = card("bob-codex", "build", "small")
    read = read_card("bob-codex", data)
    assert write_card(read) == data
    assert read.subscriptions == ("build", "small")
    assert read.git_author is not None
    assert read.git_author.email == "bob-codex@example.test"
    assert read.presence == Stamp(status=Status.AWAY, last_seen=START)


def test_a_rewritten_card_keeps_what_is_unknown_at_every_level() -> None:
    data = (
        card("bob-codex", "build").replace(b"  timezone: UTC\n", b"  timezone: UTC\n  pronouns: they\n") + b"x: [1]\n"
    )
    read = read_card("bob-codex", data)
    here = replace(read, presence=Stamp(status=Status.LIVE, last_seen=START, sessions=(Session(id="7", since=START),)))
    assert write_card(here).decode() == (
        data.decode().replace("x: [1]", "x:\n  - 1").replace("status: away", "status: live")[: -len("x:\n  - 1\n")]
        + '  sessions:\n    - id: "7"\n      since: 2026-11-30T10:20:00.000Z\nx:\n  - 1\n'
    )
    gone = replace(here, git_author=None, subscriptions=None, presence=Stamp(last_seen=START))
    text = write_card(gone).decode()
    assert "git_author" not in text
    assert "subscriptions" not in text
    assert "sessions" not in text
    assert "pronouns: they" in text


def test_a_card_of_two_lines_is_a_card_that_does_not_say_where_it_is() -> None:
    read = read_card("bob", b"v: 1\nid: bob\n")
    assert (read.display_name, read.tool, read.subscriptions, read.git_author) == ("bob", "unknown", None, None)
    assert read.presence == Stamp()
    assert read_card("bob", b"v: 1\nid: bob\npresence: {status: live, last_seen: soon}\n").presence.last_seen is None


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the file is no mapping"),
        (b"- a\n", "the file is no mapping"),
        (b"v: 2\nid: bob\n", "v is 2; understood here: 1"),
        (b"v: 1\nid: alice\n", "id is not the one that its path names"),
        (b"v: 1\nid: Bob\n", "id is not acceptable"),
        (b"v: 1\n", "id is missing"),
        (b"v: 1\nid: bob\nhuman: [a]\n", "human is no mapping"),
        (b"v: 1\nid: bob\ngit_author: {name: b}\n", "git_author.email is missing"),
        (b"v: 1\nid: bob\nsubscriptions: [1]\n", "subscriptions is not acceptable"),
        (b"v: 1\nid: bob\nid: bob\n", "a key said twice"),
        (b"v: 1\nid: \xff\n", "not UTF-8"),
        (b"v: 1\nid: bob\nx: " + b"x" * 300_000, "larger than"),
    ],
)
def test_a_card_that_is_none_says_why(data: bytes, told: str) -> None:
    with pytest.raises(MalformedFile, match=told):
        read_card("bob", data)


def test_a_profile_is_a_header_and_the_same_for_people() -> None:
    data = write_profile(PROFILE)
    assert read_profile("alice-cursor", data) == PROFILE
    assert data.decode().endswith(
        "## Environment\n\n- Client: cli\n- Platform: unknown\n- Architecture: unknown\n"
        "- Workspace: github.com/acme/payments\n\n## Capabilities\n\n- Read\n\n"
        "## Responsibilities\n\n- None declared\n\n"
        "## Constraints\n\n- None declared\n\n## Can help with\n\n- Ask the agent to update this profile\n"
    )
    assert 'mission: "Build: it"\n' in data.decode()


def test_blanks_in_a_profile_are_collapsed() -> None:
    assert replace(PROFILE, mission="  two\n\nlines ").mission == "two lines"


@pytest.mark.parametrize(
    "change",
    [
        {"role": "r" * 121},
        {"mission": ""},
        {"current_focus": "f" * 501},
        {"capabilities": ("c",) * 21},
        {"constraints": ("c" * 241,)},
        {"responsibilities": ("\x1b[2J",)},
        *(
            {"environment": Environment(client="cli", workspace=place)}
            for place in (
                "/home/bob",
                "~/x",
                "C:x",
                "https://a/b",
                "a\\b",
                "a/../b",
                "./a",
                "a;b",
                "$HOME",
                "a@b",
                "a`b",
            )
        ),
    ],
)
def test_a_profile_that_says_too_much_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidProfile, match="agent profile"):
        replace(PROFILE, **change)  # type: ignore[arg-type]


def test_a_profile_of_somebody_else_that_breaks_the_rules_is_a_malformed_file() -> None:
    data = write_profile(PROFILE).replace(b"role: Builder", b"role: " + b"r" * 121)
    with pytest.raises(MalformedFile, match="agent profile 'role'"):
        read_profile("alice-cursor", data)
    with pytest.raises(MalformedFile, match="no header"):
        read_profile("alice-cursor", b"# alice\n")


def test_a_receipt_comes_back_and_a_wrong_one_says_why() -> None:
    receipt = Receipt(agent="bob", room="build", read_through=ID, total=3, updated_at=START)
    data = write_receipt(receipt)
    assert read_receipt("build", "bob", data) == receipt
    for bad, told in (
        (data.replace(b'"bob"', b'"carol"'), "agent and room"),
        (data.replace(ID.encode(), b"x"), "read_through is not acceptable"),
        (data.replace(b": 3", b": -3"), "count is not acceptable"),
        (b"[" * 100_000, "not JSON"),
        (json.dumps([1]).encode(), "no mapping"),
    ):
        with pytest.raises(MalformedFile, match=told):
            read_receipt("build", "bob", bad)
