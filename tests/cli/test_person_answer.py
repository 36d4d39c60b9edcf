"""What waits for a person in the networks of this machine, and their answer; with real repositories and a terminal."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from peerline.cli.at_terminal import AGENT_SHELLS, opened_by
from peerline.cli.waiting_briefly import waiting_for_me
from tests.cli.komnet.conftest import Machine, machine
from tests.cli.person_shell import Shell
from tests.cli.terminal import at_terminal

__all__ = ["machine"]

Set = Callable[[str], Machine]
SECRET = "AKIA" + "QX7ZP2M4N8R5T1V9"


def shell_of(one: Machine) -> Shell:
    shell = Shell(one.home.parent)
    for who in ("AUTHOR", "COMMITTER"):
        shell.env |= {f"GIT_{who}_NAME": one.agent, f"GIT_{who}_EMAIL": f"{one.agent}@example.test"}
    return shell


def answered(one: Machine, *words: str, types: str = "y\n", **variables: str) -> tuple[int, str]:
    shell = shell_of(one)
    return at_terminal(shell.home, {**shell.env, **variables}, "peerline", "answer", *words, types=types)


def asked(by: Machine, text: str, *words: str) -> str:
    found: str = by.komnet("ask", "build", text, *words, "--json").json["id"]
    return found


@pytest.mark.requirement("RELAY-TRUST-HUMAN-SHOWN")
def test_what_needs_a_human_is_one_line_with_its_command_and_stays_unread(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    wanted = asked(alice, "may we?\x1b[31m\nmore", "--needs", "human", "--mention", "bob")
    asked(alice, "an agent's matter", "--mention", "bob")
    lines = shell_of(bob).says("inbox", "--me").splitlines()
    assert lines[0] == "1 waits for you."
    assert lines[2].startswith(f"{wanted}  alice in #build (team), ")
    assert lines[2].endswith("ago, needs a human: «may we?⟨U+001B⟩[31m …»")
    assert lines[3] == f'  peerline answer {wanted} "TEXT"'
    assert waiting_for_me(shell_of(bob).env) == "1 waits for you in the networks of this machine: peerline inbox --me"
    assert waiting_for_me(shell_of(alice).env) is None
    assert alice.komnet("receipts", "build", "--json").json == []
    assert "may we" not in shell_of(bob).says("inbox", "--me", "--json")


@pytest.mark.requirement("RELAY-CMD-ANSWER-AS-HUMAN", "RELAY-TRUST-HUMAN-SHOWN")
def test_a_person_sees_the_question_whole_says_yes_and_it_is_recorded_as_theirs(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    wanted = asked(alice, "may we?\non Friday?", "--needs", "human", "--mention", "bob")
    code, shown = answered(bob, wanted[16:].lower(), "after", "the tests")
    assert code == 0, shown
    assert "  │ may we?\n  │ on Friday?\n" in shown
    assert "  │ after the tests\n" in shown
    assert "alice has your answer in #build of team" in shown
    reply = alice.komnet("inbox", "--json").json["items"][0]
    assert (reply["body"].rstrip("\n"), reply["authorKind"], reply["inReplyTo"]) == ("after the tests", "human", wanted)
    assert "Nothing waits for you in team." in shell_of(bob).says("inbox", "--me")


@pytest.mark.requirement("RELAY-CMD-ANSWER-AS-HUMAN", "RELAY-TRUST-NO-AS-HUMAN")
def test_without_a_terminal_a_yes_or_a_person_nothing_is_written(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    wanted = asked(alice, "may we?", "--needs", "human", "--mention", "bob")
    assert "needs an interactive terminal" in shell_of(bob).refused("answer", wanted, "yes", text="y\n")
    for given, said in (
        ({"types": "no\n"}, "the human did not confirm"),
        ({"types": "\n"}, "the human did not confirm"),
        ({"CLAUDECODE": "1"}, "opened by Claude Code, and no agent answers for a person"),
        ({"KXM_WORKER_SEAT": "/x"}, "opened by a supervised worker"),
    ):
        code, shown = answered(bob, wanted, "yes", **given)
        assert code == 1
        assert said in shown
    shell = shell_of(bob)
    words = ("komnet", "answer", wanted, "yes", "--as-human")
    code, shown = at_terminal(shell.home, {**shell.env, "CODEX_THREAD_ID": "1"}, *words, types="y\n")
    assert code == 1
    assert "opened by Codex" in shown
    assert alice.komnet("inbox", "--json").json["items"] == []
    assert bob.komnet("status", "--json").json["pendingHuman"] == 1


@pytest.mark.parametrize("variable", AGENT_SHELLS)
def test_every_client_marks_the_shells_that_it_opens(variable: str) -> None:
    assert opened_by({variable: "1"}) == AGENT_SHELLS[variable]
    assert opened_by({variable: ""}) is None


def test_an_answered_item_says_by_whom_and_a_second_answer_is_not_written(machine: Set) -> None:
    alice, bob, carol = machine("alice"), machine("bob"), machine("carol")
    wanted = asked(alice, "may we?", "--needs", "human")
    assert answered(carol, wanted, "yes")[0] == 0
    bob.komnet("sync")
    code, shown = answered(bob, wanted, "no")
    assert code == 1
    assert f"carol answered {wanted} " in shown
    assert "already: «yes»" in shown
    assert [one["body"].rstrip("\n") for one in alice.komnet("inbox", "--json").json["items"]] == ["yes"]


def test_a_question_that_was_withdrawn_says_so_in_the_list_and_before_anybody_says_yes(machine: Set) -> None:
    alice, bob, carol = machine("alice"), machine("bob"), machine("carol")
    wanted = asked(alice, "may we?", "--needs", "human", "--mention", "bob")
    words = ("send", "build", "nobody waits", "--kind", "status", "--tag", "withdrawn", "--reply-to", wanted)
    carol.komnet(*words)
    bob.komnet("sync")
    assert "withdrawn" not in shell_of(bob).says("inbox", "--me")
    alice.komnet(*words)
    line = shell_of(bob).says("inbox", "--me").splitlines()[2]
    assert "needs a human; withdrawn: nobody waits for an answer any more: «may we?»" in line
    code, shown = answered(bob, wanted, "yes", types="n\n")
    assert code == 1
    assert "alice has withdrawn: nobody waits for an answer any more" in shown.partition("[y/N]")[0]


def test_an_answer_with_a_secret_is_refused_with_its_rule_and_never_its_text(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    wanted = asked(alice, "which key?", "--needs", "human", "--mention", "bob")
    (bob.home.parent / "words").write_text(f"it is {SECRET}")
    code, shown = answered(bob, wanted, "--file", "words")
    assert code == 1
    refusal = shown.rpartition("[y/N]")[2]
    assert "aws-access-key-id in body at line 1, column 7" in refusal
    assert SECRET not in refusal


def test_a_sender_that_is_not_proved_is_said_to_be_before_anybody_says_yes(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    card = bob.home / "networks" / "team"
    wanted = asked(alice, "may we?", "--needs", "human", "--mention", "bob")
    bob.komnet("sync")
    forge(card)
    assert "sender not verified" in shell_of(bob).says("inbox", "--me")
    code, shown = answered(bob, wanted, "yes", types="n\n")
    assert code == 1
    assert "asked by alice  (not verified: " in shown


def forge(network: Path) -> None:
    """The verdict as it stands where the commit was by somebody else."""
    import apsw

    file = apsw.Connection(str(next(network.glob("*.db"))))
    file.execute("UPDATE post SET verified = 0, failed = 1, reason = 'committed by mallory'")
    file.close()


def test_a_further_agent_of_the_machine_is_asked_for_too_and_answers_under_its_own_name(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    bob.komnet("agent", "add", "bob-codex", "--repo", str(bob.remote))
    bob.komnet("--agent", "bob-codex", "room", "join", "build")
    wanted = asked(alice, "may we?", "--needs", "human", "--mention", "bob-codex")
    assert wanted in shell_of(bob).says("inbox", "--me")
    assert answered(bob, wanted, "yes")[0] == 0
    assert alice.komnet("inbox", "--json").json["items"][0]["from"] == "bob-codex"


@pytest.mark.requirement("RELAY-ROUTE-HOLD")
def test_what_the_gateway_holds_is_there_with_its_reason_and_its_command(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    wanted = asked(alice, "whose is this?", "--mention", "bob")
    bob.komnet("sync")
    shell = shell_of(bob)
    gateway = subprocess.Popen(
        [sys.executable, "-m", "peerline.cli.hot", "komnet", "gateway", "run"],
        env={**shell.env, "KXM_SERVER_URL": "http://127.0.0.1:9"}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert gateway.stdout is not None
        held = next(line for line in gateway.stdout if line.startswith("relay-held"))
    finally:
        gateway.terminate()
        gateway.communicate()
    assert f"id={wanted}" in held
    lines = shell.says("inbox", "--me").splitlines()
    assert "held: no session here asked in this thread or serves #build: «whose is this?»" in lines[2]
    assert lines[3] == f"  komnet gateway resolve {wanted} --to SESSION, or --dismiss"


def test_a_machine_in_no_network_is_told_how_to_join_one(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    assert "peerline join URL" in shell.says("inbox", "--me")
    code, shown = at_terminal(tmp_path, shell.env, "peerline", "answer", "0" * 26, "yes")
    assert code == 1
    assert "peerline join URL" in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("given", "said"), [
    ("msg_00", "answer it with: peerline reply msg_00"),
    ("zz", "is no id of a message"),
    ("../x", "is no id of a message"),
])  # fmt: skip
def test_an_id_that_can_be_none_is_a_usage_error(tmp_path: Path, given: str, said: str) -> None:
    code, shown = at_terminal(tmp_path, Shell(tmp_path).env, "peerline", "answer", given, "yes")
    assert (code, said in shown) == (2, True), shown


def test_the_id_of_a_room_s_message_is_not_taken_for_one_of_the_hub(tmp_path: Path) -> None:
    assert f"peerline answer {'0' * 26}" in Shell(tmp_path).refused("reply", "0" * 26, "yes", code=2)
