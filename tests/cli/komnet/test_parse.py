"""What `komnet` understands of what is typed (spec/network.md 7)."""

from typing import Any

import pytest

from peerline.cli.hot_output import Failure
from peerline.cli.komnet.help import of_command, of_komnet
from peerline.cli.komnet.parse import Call, parse
from peerline.cli.komnet.table import COMMANDS, LATER


def typed(*words: str) -> Call:
    call = Call()
    parse(list(words), call)
    return call


def test_the_words_after_the_room_are_one_text() -> None:
    call = typed("send", "architecture", "hello", "there", "--mention", "bob", "--mention=@room", "--json")
    assert (call.command, call.words) == ("send", {"ROOM": "architecture", "TEXT": "hello there"})
    assert call.many("--mention") == ["bob", "@room"]
    assert call.as_json


def test_what_follows_two_dashes_is_text() -> None:
    assert typed("send", "a", "--", "--not", "an", "option").words["TEXT"] == "--not an option"


@pytest.mark.parametrize(
    ("words", "command", "taken"),
    [
        (("room", "list"), "room list", {}),
        (("profile",), "profile", {}),
        (("profile", "bob-codex"), "profile", {"ID": "bob-codex"}),
        (("profile", "show", "bob-codex"), "profile show", {"ID": "bob-codex"}),
        (("profile", "update", "--role", "x"), "profile update", {}),
        (("handshake", "architecture"), "handshake", {"ROOM": "architecture"}),
        (("handshake", "ack", "X", "a", "note"), "handshake ack", {"ID": "X", "NOTE": "a note"}),
        (("--agent", "bob", "room", "join", "a"), "room join", {"ROOM": "a"}),
        (("decide", "r", "Title"), "decide", {"ROOM": "r", "TITLE": "Title"}),
        (("send", "r", "--file", "f"), "send", {"ROOM": "r"}),
        (("send", "r", "-"), "send", {"ROOM": "r", "TEXT": "-"}),
    ],
)
def test_commands_of_one_and_of_two_words(words: tuple[str, ...], command: str, taken: dict[str, str]) -> None:
    call = typed(*words)
    assert (call.command, call.words) == (command, taken)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "a command is missing"),
        (("bogus",), "unknown command: bogus"),
        (("snd", "r", "t"), "did you mean send?"),
        (("room",), "komnet room needs one of: list, create, join, leave, show"),
        (("room", "jion", "a"), "did you mean join?"),
        (("inbox", "--bogus"), "unknown option: --bogus"),
        (("inbox", "--drian"), "did you mean --drain?"),
        (("send", "architecture"), "send needs a message"),
        (("send",), "send needs a room and a message"),
        (("inbox", "--room"), "--room needs a value"),
        (("inbox", "--drain=yes"), "--drain takes no value"),
        (("watch", "--interval", "1"), "--interval must be a whole number, at least 2"),
        (("watch", "--wait", "soon"), "--wait must be a whole number"),
        (("status", "now"), "too many arguments"),
        (("init",), "init needs a repository: komnet init --repo <url>"),
        (("task", "list"), "not part of this release"),
    ],
)
def test_what_is_not_understood_says_what_would_be(words: tuple[str, ...], says: str) -> None:
    with pytest.raises(Failure, match=says.replace("?", r"\?")) as caught:
        typed(*words)
    assert caught.value.exit_code == 2


def test_a_word_that_may_be_a_secret_is_not_repeated() -> None:
    secret = "sk-live-0123456789abcdef"
    with pytest.raises(Failure) as caught:
        typed(secret)
    assert secret not in caught.value.detail


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_help_and_its_module(name: str) -> None:
    from importlib import import_module

    if name in ("mcp", "doctor"):
        return
    module: Any = import_module(f"peerline.cli.komnet.{COMMANDS[name].module}")
    assert name in module.RUN
    assert of_command(name).startswith(f"Usage: komnet {name}")
    assert name.split()[0] in of_komnet()


def test_no_command_is_both_here_and_later() -> None:
    assert not {name.split()[0] for name in COMMANDS} & set(LATER)
