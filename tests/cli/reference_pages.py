"""Writes docs/reference/cli.md and configuration.md from the parsers and settings: python -m tests.cli.reference_pages.

`test_reference_pages.py` fails when a page is not what would be written.
"""

# ruff: noqa: E501  (a row of a Markdown table is one line)

from collections.abc import Iterator
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, Final

import click

from peerline.cli import kxm, person
from peerline.cli.hot_help import common_options, verb_options
from peerline.cli.hot_table import VERBS
from peerline.cli.komnet.help import typed
from peerline.cli.komnet.table import COMMANDS, COMMON, options
from peerline.cli.options import LazyGroup
from peerline.settings import AgentSettings, HubSettings, WorkerSettings

REFERENCE: Final = Path(__file__).parents[2] / "docs" / "reference"
AGAIN: Final = (
    "<!-- Written by `python -m tests.cli.reference_pages`; change the parsers or the settings, not this page. -->"
)

CLI: Final = """\
# Command line

{again}

`kxm` has the exact commands of the contract and prints JSON; `peerline` is for people and prints text; [`komnet`](#komnet)
speaks into rooms of a Git repository. What ends with which code: [exit codes](exit-codes.md).

## kxm peer

Every command registers as `KXM_AGENT_NAME`, makes one call and unregisters. Calls side by side may share a name. A
result is the tool's object, indented by 2; a failure is one line on stderr:
`{{"ok":false,"error":"command_failed","detail":"<the hub's text>"}}`. With `--json` a result has `schema` too, and a
failure also `schema`, `command`, `code`, `requestId` and `nextAction`.

Positional arguments fill the fields that no option has filled. A text of `-` is read from standard input. `--` ends the
options. What a terminal would obey or hide is printed as a JSON escape, so nothing is lost.

Options of every command:

| option | meaning |
|---|---|
{common}

{verbs}

{groups}

## komnet

Prints text, or with `--json` the value. A text of `-` is read from standard input, `--file` from a file; `--` ends the
options. Options of every command:

| option | meaning |
|---|---|
{network_common}

{network}
"""

CONFIGURATION: Final = """\
# Configuration

{again}

Everything is a variable; an empty one counts as not set. A value that does not fit is refused, by its name, with exit
code 2.

## The hub

| variable | default | meaning |
|---|---|---|
{hub}

An admin token and project tokens come from the environment, else from `hub-env.json`, else a new admin token is made.
What the environment gives is saved there when the hub listens; a refused start saves nothing. The lease of a session
(30 s) is fixed; the sweep comes every 10 s.

## Clients

| variable | default | meaning |
|---|---|---|
{agents}

The token is `KXM_AUTH_TOKEN`, else the project's own entry in `hub-env.json`, else one from `local-tokens.json`, else a
new one from the hub on this machine, over the user's socket. The admin token is never taken from disk.

## Workers

| variable | default | meaning |
|---|---|---|
{workers}

What `kxm agent worker` is told by an option goes before its variable ([guide](../guides/workers.md)). `KXM_WORKER_SEAT` is
set by a worker for what its session starts, and by nobody else.

## Places

| variable | default | meaning |
|---|---|---|
| `KXM_STATE_HOME` | `$XDG_STATE_HOME/kxm`, else `~/.local/state/kxm`; macOS: `~/Library/Application Support/KXM` | The user's state folder; absolute. |
| `KXM_WORKDIR` | the current folder | The folder whose project and workspace count; before it `KXM_PROJECT_DIR` and `CLAUDE_PROJECT_DIR` for clients. |
| `KXM_WORKSPACE_DIR` | `.kxm` | The workspace in that folder. It is used only if it exists. |
| `KXM_STATE_DIR` | `state` in the workspace, else the state folder | The hub's data. |
| `KXM_LOGS_DIR` | `logs` in the workspace, else `logs` in the state folder | The hub's log: 10 MiB a file, three older ones are kept. |
"""


def cli_page() -> str:
    return CLI.format(
        again=AGAIN,
        common="\n".join(f"| `{name}` | {about} |" for name, about in common_options()),
        verbs="\n\n".join(_verb(verb) for verb in VERBS),
        groups="\n\n".join([*_commands("kxm", kxm.root), "## peerline\n\n" + _epilog(person.EPILOG), *_people()]),
        network_common="\n".join(f"| `{typed(name, option)}` | {option.about} |" for name, option in COMMON.items()),
        network="\n\n".join(_network(name) for name in COMMANDS),
    )


def _network(name: str) -> str:
    command = COMMANDS[name]
    head = f"### komnet {name}\n\n`komnet {f'{name} {command.takes}'.strip()}`: {command.about}."
    rows = [
        f"| `{typed(each, option)}` | {option.about} |" for each, option in options(name).items() if each not in COMMON
    ]
    return "\n".join([head, "", "| option | meaning |", "|---|---|", *rows]) if rows else head


def configuration_page() -> str:
    return CONFIGURATION.format(
        again=AGAIN,
        hub="\n".join(_setting(each) for each in fields(HubSettings) if each.metadata),
        agents="\n".join(_setting(each) for each in fields(AgentSettings) if each.metadata),
        workers="\n".join(_setting(each) for each in fields(WorkerSettings) if each.metadata),
    )


def _verb(verb: str) -> str:
    positionals, others, required, about = VERBS[verb]
    words = "".join(f" [{field}]" for field in positionals)
    needed = f" Needed: {', '.join(f'`{field}`' for field in required)}." if required else ""
    head = f"### kxm peer {verb}\n\n`kxm peer {verb}{words}`: {about}.{needed}"
    rows = [f"| `{name}` | {text} |" for name, text in verb_options((*positionals, *others))]
    return "\n".join([head, "", "| option | meaning |", "|---|---|", *rows]) if rows else head


def _commands(path: str, group: LazyGroup) -> Iterator[str]:
    for name in group.lazy:
        if (path, name) == ("kxm", "peer"):
            continue
        command = group.get_command(click.Context(group), name)
        assert command is not None
        where = f"{path} {name}"
        if isinstance(command, LazyGroup):
            yield f"## {where}\n\n{_sentence(command)}"
            yield from _commands(where, command)
        elif isinstance(command, click.Group):
            yield f"### {where}\n\n{_sentence(command)}"
            yield from (_command(f"{where} {each}", command.commands[each]) for each in command.commands)
        else:
            yield _command(where, command)


def _people() -> Iterator[str]:
    yield from _commands("peerline", person.root)


def _command(where: str, command: click.Command) -> str:
    context = click.Context(command)
    words = [p.make_metavar(context) for p in command.params if isinstance(p, click.Argument)]
    rows = [
        f"| `{_spelled(option, context)}` | {option.help or ''}{_default(option)} |"
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    head = f"### {where}\n\n`{' '.join([where, *words])}`: {_sentence(command)}"
    return "\n".join([head, "", "| option | meaning |", "|---|---|", *rows]) if rows else head


def _sentence(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


def _spelled(option: click.Option, context: click.Context) -> str:
    names = ", ".join(option.opts)
    return names if option.is_flag else f"{names} {option.make_metavar(context)}"


def _default(option: click.Option) -> str:
    shown = option.show_default and option.default is not None and not option.is_flag
    return f" Default: {option.default}." if shown else ""


def _epilog(text: str) -> str:
    return text.replace("KXM_AGENT_NAME", "`KXM_AGENT_NAME`")


def _setting(each: "Field[Any]") -> str:
    about = each.metadata
    default = each.default if isinstance(each.default, (str, int)) else ""
    text = str(int(default)) if isinstance(default, bool) else str(default)
    low, high = about["at_least"], about["at_most"]
    bounds = f" {low} to {high}." if high else f" At least {low}." if low else ""
    return f"| `{about['var']}` | {f'`{text}`' if text else '–'} | {about['meaning']}{bounds} |"


if __name__ == "__main__":
    (REFERENCE / "cli.md").write_text(cli_page(), encoding="utf-8")
    (REFERENCE / "configuration.md").write_text(configuration_page(), encoding="utf-8")
