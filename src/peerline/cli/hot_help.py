"""`kxm peer --help`, told from the table that the parser reads; also the source of docs/reference/cli.md."""

from __future__ import annotations

from peerline import __version__
from peerline.cli.hot_output import write
from peerline.cli.hot_table import COMMON, FIELDS, FLAG, OBJECT, SHORT, VERBS, WORDS, option

ENDING = """
Every command registers as KXM_AGENT_NAME (default cli-<pid>) in KXM_PROJECT, makes one call and unregisters.
Exit codes: 0 done, 1 the hub refused it or was not there, 2 not understood or refused before asking, 130 interrupted.
"""


def show(version: bool, verb: str) -> int:
    write(1, f"kxm {__version__}\n" if version else of_verb(verb) if verb else of_peer())
    return 0


def of_peer() -> str:
    lines = ["Usage: kxm peer COMMAND [OPTIONS]", "", "Hand work to peers and collect their replies.", "", "Commands:"]
    lines += [f"  {verb:<13}{VERBS[verb][3]}" for verb in VERBS]
    lines += ["", "Options of every command:", *common_lines()]
    return "\n".join(lines) + "\n" + ENDING


def of_verb(verb: str) -> str:
    positionals, others, _, about = VERBS[verb]
    words = "".join(f" [{field}]" for field in positionals)
    lines = [f"Usage: kxm peer {verb}{words} [OPTIONS]", "", about[0].upper() + about[1:] + ".", "", "Options:"]
    lines += [_line(*pair) for pair in verb_options((*positionals, *others))]
    lines += [*common_lines()]
    return "\n".join(lines) + "\n" + ENDING


def verb_options(fields: tuple[str, ...]) -> list[tuple[str, str]]:
    """The options that fill `fields`, as typed, each with its meaning."""
    values = {FLAG: "", OBJECT: " JSON", WORDS: " NAME..."}
    pairs = [(option(f) + values.get(FIELDS[f][0], " " + _value(f)), FIELDS[f][1]) for f in fields]
    return [*pairs, *([("--file FILE", "read the text from FILE")] if "content" in fields else [])]


def common_options() -> list[tuple[str, str]]:
    short = {long: f"{name}, " for name, long in SHORT.items()}
    return [(short.get(n, "") + n + (f" {value}" if value else ""), about) for n, (value, about) in COMMON.items()]


def common_lines() -> list[str]:
    return [_line(*pair) for pair in common_options()]


def _line(name: str, about: str) -> str:
    return f"  {name:<34}{about}"


def _value(field: str) -> str:
    if field.endswith("Ms"):
        return "MS"
    return {"target": "NAME", "content": "TEXT", "delivery": "MODE", "messageId": "ID"}.get(field, "KEY")
