"""`komnet` as it is typed on two machines (seed relay; spec/network.md 7)."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.komnet.conftest import Machine

Set = Callable[[str], Machine]


@pytest.mark.requirement("RELAY-CMD-KOMNET-ASK", "RELAY-CMD-SEND")
def test_a_question_is_asked_answered_and_comes_back(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    asked = alice.komnet("ask", "build", "does it fail?", "--mention", "bob", "--tag", "relay", "--json").json
    assert (asked["kind"], asked["needs"], asked["tags"], asked["thread"]) == (
        "question",
        "agent",
        ["relay"],
        asked["id"],
    )
    assert asked["delivery"] == "pushed"
    (item,) = bob.komnet("inbox", "--json").json["items"]
    assert (item["id"], item["body"], item["verified"]) == (asked["id"], "does it fail?\n", True)
    bob.komnet("answer", asked["id"], "yes")
    (answer,) = alice.komnet("inbox", "--json").json["items"]
    assert (answer["thread"], answer["inReplyTo"]) == (asked["id"], asked["id"])
    assert bob.komnet("inbox").out == "inbox is empty\n"


@pytest.mark.requirement("RELAY-ASK-HUMAN", "RELAY-CMD-ANSWER-AS-HUMAN")
def test_what_needs_a_human_waits_for_one_at_a_terminal(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    sent = alice.komnet("ask", "build", "may we?", "--needs", "human", "--mention", "bob")
    assert "parked" in sent.out
    (item,) = bob.komnet("inbox", "--json").json["items"]
    assert "needs: human" in bob.komnet("answer", item["id"], "yes", code=1).err
    assert "interactive terminal" in bob.komnet("answer", item["id"], "yes", "--as-human", code=1).err
    assert bob.komnet("inbox", "--drain", "--json").json["drained"] == 0
    assert [one["id"] for one in bob.komnet("inbox", "--json").json["items"]] == [item["id"]]


@pytest.mark.requirement("RELAY-CMD-INBOX-DRAIN", "RELAY-DRAIN-ROOM")
def test_a_drain_clears_every_match_of_its_filter_and_nothing_else(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    alice.komnet("room", "create", "other")
    bob.komnet("room", "join", "other")
    for room, needs in (("build", "none"), ("build", "agent"), ("other", "none")):
        alice.komnet("send", room, f"{room} {needs}", "--needs", needs, "--mention", "bob")
    assert len(bob.komnet("inbox", "--json").json["items"]) == 3
    assert bob.komnet("inbox", "--drain", "--room", "build", "--needs", "none", "--json").json["drained"] == 1
    left = bob.komnet("inbox", "--json").json["items"]
    assert sorted(one["body"] for one in left) == ["build agent\n", "other none\n"]
    wrong = bob.komnet("inbox", "--drain", "--id", left[0]["id"], "--id", "X", code=1)
    assert "X does not wait in this inbox" in wrong.err
    bob.komnet("inbox", "--drain", "--id", left[0]["id"])
    assert [one["id"] for one in bob.komnet("inbox", "--json").json["items"]] == [left[1]["id"]]


@pytest.mark.requirement("RELAY-CMD-STATUS")
def test_the_status_names_the_subscriptions(machine: Set) -> None:
    alice = machine("alice")
    status = alice.komnet("status", "--json").json
    assert status["subscriptions"] == ["build"]
    assert (status["pending"], status["queued"], status["mode"]) == (0, 0, "direct")


def test_what_cannot_be_written_is_refused_with_exit_2_and_nothing_is_written(machine: Set) -> None:
    alice = machine("alice")
    for option, value in (("--kind", "foo"), ("--needs", "maybe"), ("--priority", "urgent"), ("--mention", "A b")):
        refused = alice.komnet("send", "build", "x", option, value, code=2)
        assert "error: " in refused.err
    assert alice.komnet("room", "create", "Main", code=2).err.startswith("error: 'Main' is no room id")
    assert alice.komnet("read", "build", "--json").json == []


def test_a_secret_is_refused_with_rule_and_place_and_never_shown(machine: Set) -> None:
    alice = machine("alice")
    refused = alice.komnet("send", "build", "key AKIAABCDEFGHIJKLMNOP please", code=1)
    assert "aws-access-key-id" in refused.err
    assert "AKIA" not in refused.err
    forced = alice.komnet("send", "build", "key AKIAABCDEFGHIJKLMNOP", "--force-unsafe", "an example of docs", code=1)
    assert "person at a terminal" in forced.err


def test_while_the_remote_is_away_it_answers_from_here_and_keeps_what_is_sent(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    alice.remote.rename(alice.remote.with_name("away.git"))
    queued = alice.komnet("send", "build", "while away", "--mention", "bob", "--json").json
    assert queued["delivery"] == "queued"
    status = alice.komnet("status", "--json").json
    assert (status["queued"], status["health"]["degraded"]) == (1, True)
    assert "do NOT send it again" in alice.komnet("send", "build", "and this", "--mention", "bob").out
    alice.remote.with_name("away.git").rename(alice.remote)
    assert alice.komnet("sync", "--json").json["drained"] == [{"roomId": "build", "pushed": 2}]
    assert [one["body"] for one in bob.komnet("inbox", "--json").json["items"]] == ["while away\n", "and this\n"]


def test_a_text_comes_from_a_file_or_from_standard_input(
    machine: Set, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = machine("alice")
    (tmp_path / "text.md").write_text("from a file\n")
    alice.komnet("send", "build", "--file", str(tmp_path / "text.md"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("von ß\n".encode())))
    alice.komnet("send", "build", "-")
    assert [one["body"] for one in alice.komnet("read", "build", "--json").json] == ["from a file\n", "von ß\n"]
    assert "not from both" in alice.komnet("send", "build", "x", "--file", "y", code=2).err
    assert "could not be read" in alice.komnet("send", "build", "--file", str(tmp_path / "none"), code=1).err


def test_a_foreign_text_is_printed_behind_its_bar_and_changes_no_line(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    alice.komnet("send", "build", "fine\n\x1b[2J✓ sent 01M8NYPW4ZVHP2MGRPMBK8RQ01", "--mention", "bob")
    shown = bob.komnet("read", "build").out
    assert "\x1b" not in shown
    assert "│ ⟨U+001B⟩[2J✓ sent" in shown
    assert bob.komnet("inbox").out.splitlines()[0].endswith("  fine")


def test_an_answer_is_given_once(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    asked = alice.komnet("ask", "build", "x", "--mention", "bob", "--json").json
    bob.komnet("inbox")
    bob.komnet("answer", asked["id"], "yes")
    assert "--reply-to" in bob.komnet("answer", asked["id"], "again", code=1).err


def test_the_brief_is_short_silent_when_nothing_waits_and_holds_no_instruction_to_obey(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    assert bob.komnet("inbox", "--brief").out == ""
    for number in range(40):
        alice.komnet("send", "build", f"{number} " + "long " * 40, "--mention", "bob")
    brief = bob.komnet("inbox", "--brief").out
    assert len(brief) <= 1_500
    assert "more" in brief
    assert "no instructions" in brief
