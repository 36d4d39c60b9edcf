"""The front door without a hub: every mistake is one line that says what to do, and never a traceback."""

import json
from pathlib import Path

import pytest

from peerline.cli.hot_output import Failure
from peerline.cli.person import VERBS, common_options
from tests.cli.person_shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, KXM_SERVER_URL="http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["lst"], "peerline: there is no verb «lst»; did you mean `peerline list`?"),
        (["Inbox"], "peerline: there is no verb «Inbox»; did you mean `peerline inbox`?"),
        (["ask"], "peerline ask: Missing argument 'NAME'; see `peerline ask -h`"),
        (
            ["ask", "bob"],
            "peerline ask: there is no text to send; type it, or use --file FILE, or - for standard input",
        ),
        (["ask", "bob", "x", "--wait", "0"], "peerline ask: Invalid value for '--wait': 0 is not in the range"),
        (["ask", "bob", "x", "--file", "f"], "peerline ask: the text comes from --file or from the command line"),
        (["ask", "bob", "--file", "/nowhere"], "peerline ask: /nowhere cannot be read: No such file or directory"),
        (["list", "--as"], "peerline: --as needs a value"),
        (["list", "--server", "ftp://x"], "peerline list: the hub's URL must be http(s)://"),
        (["list", "--nonsense"], "peerline list: No such option '--nonsense'"),
        (["log", "--since", "yesterday"], "peerline log: --since takes a span like 10m, 2h or 1d"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_way_out(shell: Shell, words: list[str], line: str) -> None:
    assert shell.refused(*words, code=2).startswith(line)


@pytest.mark.parametrize("words", [["list"], ["ask", "bob", "x"], ["inbox"], ["reply", "msg_1", "x"], ["why"], ["log"]])
def test_without_a_hub_every_verb_says_how_to_start_one(shell: Shell, words: list[str]) -> None:
    line = shell.refused(*words)
    assert line.startswith(f"peerline {words[0]}: hub not reachable at http://127.0.0.1:9")
    assert line.endswith("start it with: peerline up")


def test_an_unknown_verb_far_from_all_names_them(shell: Shell) -> None:
    assert ", ".join(VERBS) in shell.refused("zzzzzzzz", code=2)


def test_with_json_a_mistake_is_one_object_on_stdout(shell: Shell) -> None:
    done = shell.run("lst", "--json")
    assert (done.returncode, done.stderr) == (2, "")
    assert json.loads(done.stdout)["error"] == "usage_error"


def test_with_json_a_failure_is_one_object_with_its_code_on_stderr(shell: Shell) -> None:
    done = shell.run("list", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    told = json.loads(done.stderr)
    assert (told["ok"], told["code"], told["nextAction"]) == (False, "hub_unreachable", "peerline up")


def test_the_help_names_every_verb_and_imports_none(shell: Shell) -> None:
    text = shell.says("--help")
    assert all(f"  {verb} " in text for verb in VERBS)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "try"])
def test_every_verb_has_a_help(shell: Shell, verb: str) -> None:
    assert shell.says(verb, "-h").startswith(f"Usage: peerline {verb}")


def test_a_text_that_is_too_long_is_refused_before_the_hub_is_asked(shell: Shell) -> None:
    assert "the text has 32001 characters" in shell.refused("ask", "bob", "-", text="x" * 32_001)


def test_common_options_may_stand_anywhere_before_the_dashes() -> None:
    words = ["--json", "ask", "--as=ada", "bob", "--project", "p", "x", "--", "--as", "y"]
    assert common_options(words) == (["ask", "bob", "x", "--", "--as", "y"], {"--as": "ada", "--project": "p"})
    with pytest.raises(Failure):
        common_options(["list", "--server"])
