"""The parser of `komnet`, which reads the table: unknown options are refused, words after `--` are words."""

from typing import Any

from peerline.cli.hot_args import unknown
from peerline.cli.hot_output import Failure, usage
from peerline.cli.komnet.table import COMMANDS, COMMON, COUNT, FLAG, GROUPS, LATER, MANY, SHORT, options


class Call:
    """A parsed command line; `words` by the names of the table, `given` by option as typed."""

    def __init__(self) -> None:
        self.command = ""
        self.words: dict[str, str] = {}
        self.given: dict[str, Any] = {}

    def flag(self, option: str) -> bool:
        return bool(self.given.get(option))

    def text(self, option: str) -> str | None:
        found = self.given.get(option)
        return None if found is None else str(found)

    def many(self, option: str) -> list[str]:
        return list(self.given.get(option, ()))

    def count(self, option: str) -> int | None:
        found = self.given.get(option)
        return None if found is None else int(found)

    @property
    def as_json(self) -> bool:
        return self.flag("--json")


def parse(argv: list[str], call: Call) -> None:
    """Fill `call`; it holds what was read so far also when this fails.

    Raises:
        Failure: exit code 2. The text never repeats a value, which may be a secret.
    """
    words: list[str] = []
    queue = list(argv)
    while queue:
        word = queue.pop(0)
        if word == "--":
            words += queue
            break
        if word.startswith("-") and word != "-":
            name, equals, value = word.partition("=")
            _option(call, _known(call, words), SHORT.get(name, name), value if equals else None, queue)
        else:
            words.append(word)
            if not call.command:
                call.command = _command(words)
            elif f"{call.command} {word}" in COMMANDS and call.command == words[0] and len(words) == 2:
                call.command = f"{call.command} {word}"
    if call.flag("--help"):
        return
    if not call.command:
        raise _missing(words)
    allowed = options(call.command)
    for option in call.given:
        if option not in allowed:
            raise unknown("option", option, allowed)
    _words(call, words[len(call.command.split()) :])


def _known(call: Call, words: list[str]) -> dict[str, Any]:
    if call.command:
        return options(call.command)
    group = words[0] if words else None
    known = dict(COMMON)
    for name in COMMANDS:
        if group is None or name.split()[0] == group:
            known |= options(name)
    return known


def _command(words: list[str]) -> str:
    for length in (2, 1):
        name = " ".join(words[:length])
        if len(words) >= length and name in COMMANDS:
            return name
    if words[0] in LATER:
        raise Failure(
            f"komnet {words[0]} is not part of this release: what others write with it is read and kept; "
            "send, ask, answer and decide work",
            exit_code=2,
        )
    if words[0] in GROUPS and len(words) < 2:
        return ""
    if words[0] in GROUPS:
        raise unknown("command", words[1], [n.split()[1] for n in COMMANDS if n.startswith(words[0] + " ")])
    raise unknown("command", words[0], {name.split()[0] for name in COMMANDS})


def _missing(words: list[str]) -> Failure:
    if not words:
        return usage("a command is missing")
    verbs = [name.split()[1] for name in COMMANDS if name.startswith(words[0] + " ")]
    return usage(f"komnet {words[0]} needs one of: {', '.join(verbs)}")


def _option(call: Call, known: dict[str, Any], name: str, value: str | None, queue: list[str]) -> None:
    if name not in known:
        raise unknown("option", name, known)
    option = known[name]
    if option.kind == FLAG:
        if value is not None:
            raise usage(f"{name} takes no value")
        call.given[name] = True
        return
    if value is None:
        if not queue or queue[0] == "--":
            raise usage(f"{name} needs a value")
        value = queue.pop(0)
    if option.kind == COUNT:
        if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) >= option.least):
            raise usage(f"{name} must be a whole number, at least {option.least}")
        call.given[name] = int(value)
    elif option.kind == MANY:
        call.given.setdefault(name, []).append(value)
    else:
        call.given[name] = value


def _words(call: Call, words: list[str]) -> None:
    takes = COMMANDS[call.command].takes.split()
    missing = []
    for place in takes:
        name = place.strip("[].")
        if "..." in place:
            if words:
                call.words[name] = " ".join(words)
                words = []
        elif words:
            call.words[name] = words.pop(0)
        if name not in call.words and not place.startswith("["):
            missing.append(name)
    if words:
        raise usage(f"too many arguments: {call.command} takes {' '.join(takes) or 'none'}")
    if call.command in ("init", "agent add") and "--repo" not in call.given:
        raise usage(
            f"{call.command} needs a repository: komnet {call.command} {' '.join(takes)} --repo <url>".replace(
                "  ", " "
            )
        )
    if missing == ["TEXT"] and "--file" in call.given:
        missing = []
    if missing:
        names = {
            "ROOM": "a room",
            "TEXT": "a message",
            "ID": "an id",
            "TOOL": "a tool",
            "WORDS": "words",
            "TITLE": "a title",
        }
        raise usage(f"{call.command} needs {' and '.join(names[name] for name in missing)}")
