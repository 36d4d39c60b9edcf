"""`kxm peer`: where a text comes from, what is refused before anything is asked, and what help says."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from peerline.cli.hot_table import COMMON, VERBS, options
from tests.acceptance.shell import Printed, Shell
from tests.cli.conftest import ShellMaker
from tests.hub_process import Agent


@pytest.fixture
def lead(shell: ShellMaker) -> Shell:
    found = shell("lead")
    found.home.mkdir()
    return found


def piped(shell: Shell, data: bytes, *words: str) -> Printed:
    ran = subprocess.run(
        shell.command(*words), env=shell.variables(), cwd=shell.home, input=data, capture_output=True, check=False
    )
    assert b"Traceback" not in ran.stderr, ran.stderr
    return Printed(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def told(printed: Printed) -> tuple[int, str, str]:
    failure = json.loads(printed.stderr)
    return printed.code, failure["error"], failure["detail"]


@pytest.mark.parametrize("words", [("reviewer", "-"), ("--target", "reviewer", "--content", "-")])
def test_a_text_of_a_dash_is_read_from_standard_input_as_it_is(
    words: tuple[str, ...], lead: Shell, reviewer: Agent
) -> None:
    text = "  first\n\n\tsecond 😀 \n"
    sent = piped(lead, text.encode(), "send", *words).json["messageId"]
    assert reviewer.get(sent)["content"] == text


def test_a_text_is_read_from_a_file(lead: Shell, reviewer: Agent) -> None:
    (lead.home / "task.md").write_text("# Task\n" + "x" * 31_993)
    sent = lead.peer("send", "reviewer", "--file", "task.md").json["messageId"]
    assert len(reviewer.get(sent)["content"]) == 32_000


def test_a_reply_and_a_note_take_the_same_ways(lead: Shell, reviewer: Agent) -> None:
    assert lead.peer("inbox").code == 0
    asked = reviewer.send("lead", allowOffline=True)["id"]
    assert piped(lead, b"half way", "note", asked, "-").json["note"]["content"] == "half way"
    (lead.home / "answer").write_text("done")
    assert lead.peer("reply", asked, "--file=answer").json == {
        "messageId": asked,
        "status": "replied",
        "recipient": "reviewer",
    }
    assert reviewer.get(asked)["reply"]["content"] == "done"


def test_a_text_from_the_payload_is_never_taken_for_standard_input(lead: Shell, reviewer: Agent) -> None:
    sent = lead.peer("send", "--payload", '{"target":"reviewer","content":"-"}').json["messageId"]
    assert reviewer.get(sent)["content"] == "-"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\xffb", (2, "usage_error", "the text is not UTF-8")),
        (b"", (2, "usage_error", "content cannot be empty")),
        (b" \n", (1, "command_failed", "content cannot be empty")),
        (b"x" * 32_001, (1, "command_failed", "content exceeds 32000 characters")),
        (b"x" * 300_000, (1, "command_failed", "content exceeds 32000 characters")),
        ("😀".encode() * 16_001, (1, "command_failed", "content exceeds 32000 characters")),
    ],
    ids=["not utf-8", "empty", "blank", "long", "longer than a body", "long in utf-16"],
)
def test_a_text_that_cannot_be_sent_is_refused(
    data: bytes, expected: tuple[int, str, str], lead: Shell, reviewer: Agent
) -> None:
    assert told(piped(lead, data, "send", "reviewer", "-")) == expected
    assert reviewer.inbox() == []


@pytest.mark.parametrize(("name", "why"), [("none", "No such file or directory"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_is_said(name: str, why: str, lead: Shell) -> None:
    expected = (2, "usage_error", f"the text could not be read: {why}")
    assert told(lead.peer("send", "reviewer", "--file", name)) == expected


def test_an_argument_that_is_no_utf8_is_refused(lead: Shell) -> None:
    words = [os.fsencode(word) for word in lead.command("send", "reviewer")] + [b"a\xffb"]
    ran = subprocess.run(words, env=lead.variables(), cwd=lead.home, capture_output=True, check=False)
    assert (ran.returncode, json.loads(ran.stderr)["detail"]) == (2, "an argument is not UTF-8")


@pytest.mark.parametrize("words", [("await", "m", "--timeout-ms", "99"), ("await", "m", "--timeout-ms", "-5")])
def test_a_wait_shorter_than_the_contracts_is_refused(words: tuple[str, ...], lead: Shell) -> None:
    assert told(lead.peer(*words)) == (2, "usage_error", "timeoutMs must be an integer between 100 and 60000")


def test_an_id_never_leads_to_another_route(lead: Shell) -> None:
    for strange in ("../agents", "x?waitMs=1", "..", "a/b", "x#y", "%2e%2e"):
        assert lead.peer("get", strange).detail == "message not found"


def test_an_offline_target_names_the_project_that_was_searched(lead: Shell) -> None:
    printed = lead.peer("send", "nobody", "look")
    assert printed.detail == "online target not found: nobody"
    assert json.loads(printed.stderr)["project"] == lead.project.name


def test_the_options_win_over_the_variables(lead: Shell) -> None:
    assert lead.peer("list", "--as", "other").json["agents"][0]["name"] == "other"
    assert lead.peer("send", "nobody", "look", "--project=").detail == "online target not found: nobody"
    assert lead.peer("list", "--server", "http://127.0.0.1:1").detail.startswith("hub not reachable at http://127.0")
    elsewhere = lead.peer("send", "nobody", "look", "--project", "elsewhere", KXM_AUTH_TOKEN=lead.project.hub.admin)
    assert json.loads(elsewhere.stderr)["project"] == "elsewhere"


def test_help_names_every_command_and_every_option(lead: Shell) -> None:
    overview = lead.peer("--help")
    assert (overview.code, overview.stderr) == (0, "")
    assert all(f"  {verb} " in overview.stdout for verb in VERBS)
    for verb in VERBS:
        printed = lead.peer(verb, "-h")
        assert (printed.code, printed.stderr) == (0, "")
        assert printed.stdout.startswith(f"Usage: kxm peer {verb}")
        assert all(f"{option}" in printed.stdout for option in (*options(verb), *COMMON))


def test_output_is_utf8_whatever_the_locale(lead: Shell, reviewer: Agent) -> None:
    sent = lead.peer("send", "reviewer", "grüß 😀").json["messageId"]
    ran = subprocess.run(
        lead.command("get", sent),
        env={**lead.variables(), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        cwd=lead.home,
        capture_output=True,
        check=False,
    )
    assert json.loads(ran.stdout.decode("utf-8"))["content"] == "grüß 😀"


def test_what_a_terminal_would_obey_is_escaped_and_not_lost(lead: Shell, reviewer: Agent) -> None:
    text = "\x1b]0;owned\x07 \u202egnp.exe \u200b\x9b2J \U000e0041"
    assert lead.peer("inbox").code == 0
    asked = reviewer.send("lead", text, allowOffline=True)["id"]
    printed = lead.peer("get", asked)
    assert printed.json["content"] == text
    assert [c for c in printed.stdout if c in "\x1b\x07\u202e\u200b\x9b\U000e0041"] == []


def test_a_command_in_a_folder_without_settings_writes_nothing_there(lead: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    ran = subprocess.run(lead.command("list"), env=lead.variables(), cwd=folder, capture_output=True, check=False)
    assert ran.returncode == 0
    assert list(folder.iterdir()) == []
