"""`kxm` beyond the hot commands, `komnet`, and what all commands have in common."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from peerline import __version__
from peerline.cli.hub.group import COMMANDS
from peerline.cli.kxm import NOUNS
from tests.cli.hub.shell import Operator, Ran
from tests.hub_process import PATIENCE_S, environment


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return Operator(tmp_path)


def run(home: Path, *words: str) -> Ran:
    ran = subprocess.run(
        [sys.executable, "-m", "peerline.cli.hot", *words],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize("command", ["kxm", "komnet", "peerline"])
@pytest.mark.parametrize("option", ["--version", "-V"])
def test_every_command_has_a_version(command: str, option: str, tmp_path: Path) -> None:
    assert run(tmp_path, command, option) == Ran(0, f"{command} {__version__}\n", "")


@pytest.mark.parametrize(
    "words", [("hub", "--version"), ("hub", "start", "-V"), ("peer", "--version"), ("peer", "send", "-V")]
)
def test_the_version_is_told_wherever_it_is_asked_for(words: tuple[str, ...], operator: Operator) -> None:
    assert operator.kxm(*words) == Ran(0, f"kxm {__version__}\n", "")


def test_komnet_without_an_agent_says_how_to_begin(tmp_path: Path) -> None:
    ran = run(tmp_path, "komnet", "inbox")
    assert (ran.code, ran.stdout) == (1, "")
    assert "Run: komnet init --repo <url>" in ran.stderr


def test_the_brief_of_a_machine_without_an_agent_is_silent(tmp_path: Path) -> None:
    assert run(tmp_path, "komnet", "inbox", "--brief") == Ran(0, "", "")


def test_every_listed_command_exists_and_has_a_help_text(operator: Operator) -> None:
    listed = operator.kxm("--help")
    assert listed.code == 0
    assert all(noun in listed.stdout for noun in NOUNS)
    for name in COMMANDS:
        told = operator.hub(name, "--help")
        assert (told.code, told.stdout.startswith(f"Usage: kxm hub {name}")) == (0, True)


def test_global_options_may_stand_anywhere(operator: Operator) -> None:
    for words in (("--dry-run", "hub", "start"), ("hub", "--dry-run", "start"), ("hub", "start", "--dry-run")):
        assert operator.kxm(*words).json["dryRun"] is True
    for words in (("--json", "peer", "list"), ("peer", "--json", "list"), ("peer", "list", "--json")):
        printed = operator.kxm(*words, "--dry-run", KXM_PROJECT="p")
        assert printed.json["schema"] == "kxm.cli-result.v1"


def test_a_workspace_is_where_the_option_says(operator: Operator) -> None:
    (operator.home / "here").mkdir()
    for words in (("--workspace", "here", "hub", "start"), ("hub", "start", "--workspace=here")):
        assert operator.kxm(*words, "--dry-run").json["args"]["storage"] == f"{operator.home}/here/state/kxm.db"


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (("hbu",), "unknown command: hbu; did you mean hub?"),
        (("hub", "strt"), "unknown command: strt; did you mean start?"),
        (("hub", "stop", "--wait-ms", "s3cret"), "--wait-ms: not a valid integer"),
        (("agent", "worker", "--harness", "s3cret"), "--harness: must be one of pi, claude, codex"),
        (("hub", "stop", "s3cret"), "too many arguments"),
        (("hub", "bind"), "Missing argument 'URL'."),
        (("--workspace",), "--workspace needs a value"),
    ],
)
def test_a_mistake_is_exit_2_and_repeats_no_value(words: tuple[str, ...], detail: str, operator: Operator) -> None:
    assert operator.kxm(*words).refusal == (2, "usage_error", detail)


def test_a_usage_error_under_json_goes_to_stdout_as_the_contract_has_it(operator: Operator) -> None:
    for words, command in ((("hub", "bind"), "hub bind"), (("peer", "send"), "peer send")):
        ran = operator.kxm(*words, "--json")
        assert (ran.code, ran.stderr) == (2, "")
        assert ran.json["ok"] is False
        assert (ran.json["error"], ran.json["command"]) == ("usage_error", command)


def test_kxm_alone_shows_its_help_and_fails(operator: Operator) -> None:
    ran = operator.kxm()
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("Usage: kxm ")


def run_into(stdout: int, command: str, words: tuple[str, ...], home: Path) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "peerline.cli.hot", command, *words],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return ran.returncode, ran.stderr


HELP = [("kxm", ("--version",)), ("kxm", ("hub", "-h")), ("kxm", ("peer", "-h")), ("peerline", ("list", "-h"))]


@pytest.mark.parametrize(("command", "words"), HELP)
def test_a_help_text_that_nobody_reads_ends_without_a_word(
    command: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert run_into(writing, command, words, tmp_path) == (141, "")
    finally:
        os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(("command", "words"), HELP)
def test_a_help_text_that_does_not_fit_on_the_disk_is_told_in_one_line(
    command: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    with Path("/dev/full").open("wb") as full:
        told = run_into(full.fileno(), command, words, tmp_path)
    assert told == (1, "the output could not be written: No space left on device\n")


def test_python_dash_m_peerline_is_peerline(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "peerline", "--version"]
    ran = subprocess.run(words, env=environment(tmp_path), capture_output=True, text=True, check=True)
    assert ran.stdout == f"peerline {__version__}\n"


def test_a_failure_under_json_names_code_request_and_next_action(operator: Operator) -> None:
    ran = operator.kxm("peer", "list", "--json", KXM_SERVER_URL="http://127.0.0.1:1", KXM_AUTH_TOKEN="t")
    assert json.loads(ran.stderr) == {
        "schema": "kxm.cli-result.v1",
        "ok": False,
        "error": "command_failed",
        "command": "peer list",
        "detail": "hub not reachable at http://127.0.0.1:1 (ECONNREFUSED); start it with: kxm hub start",
        "code": "hub_unreachable",
        "requestId": None,
        "nextAction": "kxm hub start",
    }


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("token", "`kxm hub token` or `kxm session token`"),
        ("start", "`kxm hub start`"),
        ("send", "`kxm peer send`"),
        ("worker", "`kxm agent worker`"),
    ],
)
def test_a_word_that_belongs_into_a_group_is_told_which(word: str, hint: str, operator: Operator) -> None:
    ran = operator.kxm(word)
    assert (ran.code, ran.stdout) == (2, "")
    assert json.loads(ran.stderr)["detail"] == f"unknown command: {word}; did you mean {hint}?"
