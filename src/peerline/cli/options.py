"""What every click command of `kxm` has in common: the global options, and groups that load a command when asked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from peerline.cli.hot_args import unknown
from peerline.cli.hot_output import Failure, Output, usage

EPILOG = "Everywhere: --json, --dry-run, --workspace DIR (default .kxm), -h/--help, -V/--version."


@dataclass(slots=True, kw_only=True)
class Asked:
    """The global options, wherever in the command line they stood, and the environment with --workspace in it."""

    env: dict[str, str]
    as_json: bool = False
    dry_run: bool = False

    def output(self, command: str) -> Output:
        return Output(self.env, as_json=self.as_json, command=command)

    def planned(self, command: str, **args: Any) -> int:
        """Print what --dry-run tells in place of acting; the exit code."""
        return self.output(command).result({"ok": True, "command": command, "dryRun": True, "args": args})

    def done(self, command: str, text: str, **facts: Any) -> int:
        """Print `text` for a person, or with --json the facts; the exit code."""
        output = self.output(command)
        return output.result({"ok": True, "command": command, **facts}) if self.as_json else output.text(text)


def global_options(argv: list[str], env: Mapping[str, str]) -> tuple[list[str], Asked]:
    """Take the global options out of `argv`; they may stand before, between and after the commands.

    Raises:
        Failure: --workspace without a folder.
    """
    asked, rest = Asked(env=dict(env)), []
    words = iter(argv)
    for word in words:
        if word == "--json":
            asked.as_json = True
        elif word == "--dry-run":
            asked.dry_run = True
        elif word == "--workspace" or word.startswith("--workspace="):
            folder = word.partition("=")[2] or next(words, "")
            if not folder:
                raise usage("--workspace needs a value")
            asked.env["KXM_WORKSPACE_DIR"] = folder
        elif word == "--":
            rest += [word, *words]
        else:
            rest.append(word)
    return rest, asked


class LazyGroup(click.Group):
    """`lazy` is a command's name to where it stands (`module:attribute`) and one line about it; `below` a group's name
    to where the names of its commands stand."""

    def __init__(
        self, *args: Any, lazy: Mapping[str, tuple[str, str]], below: Mapping[str, str] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, epilog=EPILOG, **kwargs)
        self.lazy, self.below = lazy, below or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return None
        command = _loaded(self.lazy[cmd_name][0])
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.lazy:
            places = [
                f"`{ctx.command_path} {group} {args[0]}`" for group in self.below if args[0] in self._words(group)
            ]
            if places:
                raise usage(f"unknown command: {args[0]}; did you mean {' or '.join(places)}?")
            raise unknown("command", args[0], self.lazy)
        return super().resolve_command(ctx, args)

    def _words(self, group: str) -> Collection[str]:
        words: Collection[str] = _loaded(self.below[group])
        return words

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Written from the table, so that a help text imports no command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.lazy.items()])


def _loaded(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def refused(code: str, detail: str, *, exit_code: int = 1, **more: Any) -> Failure:
    """A failure under a name of its own, as `hub_not_bound`."""
    return Failure(detail, error=code, exit_code=exit_code, beside=more)
