"""`kxm` beyond the hot commands: click, a group for each noun."""

import os
import sys
from typing import Final

import click

from peerline.cli.hot_output import INTERRUPTED, READER_GONE, USAGE, Failure, Output, usage
from peerline.cli.options import LazyGroup, global_options

NOUNS: Final = {
    "hub": ("peerline.cli.hub.group:hub", "Run the hub, and choose the one this machine talks to."),
    "peer": ("peerline.cli.kxm:peer", "Hand work to peers and collect their replies."),
    "agent": ("peerline.cli.agent.group:agent", "Run agents that answer their peers without a person."),
    "session": ("peerline.cli.session:session", "What limits the tools of this user's agent sessions."),
    "mcp": ("peerline.cli.session_commands:mcp", "Serve the tools to one agent session; its client starts it."),
    "watch": ("peerline.cli.session_commands:watch", "A line for each request and reply that comes to a session."),
    "setup": ("peerline.cli.setup.command:kxm_setup", "Give Claude Code, Codex and other clients their tools."),
    "backup": ("peerline.cli.backup:backup", "Copy the hub's store, checked and with a manifest."),
    "restore": ("peerline.cli.restore:restore", "Bring a backup back."),
    "doctor": ("peerline.cli.doctor.command:doctor", "What is wrong on this machine, and how to put it right."),
}

# Where the words of each group stand: whoever leaves the group out is told where the word belongs.
BELOW: Final = {
    "hub": "peerline.cli.hub.group:COMMANDS",
    "peer": "peerline.cli.hot_table:VERBS",
    "agent": "peerline.cli.agent.group:COMMANDS",
    "session": "peerline.cli.session:COMMANDS",
}


@click.group(
    "kxm",
    cls=LazyGroup,
    lazy=NOUNS,
    below=BELOW,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="peerline", prog_name="kxm", message="%(prog)s %(version)s")
def root() -> None:
    """Coding agents hand work to each other: one hub, many agents, durable requests and replies."""


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
def peer(words: tuple[str, ...]) -> int:
    """Only reached when something stood before the noun that is no option of ours."""
    from peerline.cli.hot_peer import run

    return run(list(words))


def main(argv: list[str]) -> int:
    """Run `kxm <argv>`; the exit code."""
    output = Output(dict(os.environ), as_json="--json" in argv, command=_command(argv))
    try:
        rest, asked = global_options(argv, os.environ)
        if "-V" in rest or "--version" in rest:
            rest = ["--version"]
        code = root.main(rest, prog_name="kxm", standalone_mode=False, obj=asked)
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(error.format_message() + "\n")
        return USAGE
    except click.ClickException as error:
        return output.failure(usage(_without_values(error)))
    except Failure as failure:
        return output.failure(failure)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit:  # how click ends when nobody reads its help text any more
        return READER_GONE


def _command(argv: list[str]) -> str:
    words = [word for word in argv if not word.startswith("-")]
    return " ".join(words[:2]) if words and words[0] in NOUNS else ""


def _without_values(error: click.ClickException) -> str:
    """click's text on one line, without the arguments that it repeats: one may be a secret in the wrong place."""
    text = " ".join(error.format_message().split())
    if isinstance(error, click.BadParameter) and error.param is not None:
        named = error.param.opts[0] if isinstance(error.param, click.Option) else error.param.make_metavar(error.ctx)  # type: ignore[arg-type]
        if "missing" in text.lower():
            return text
        if isinstance(error.param.type, click.Choice):
            return f"{named}: must be one of {', '.join(map(str, error.param.type.choices))}"
        return f"{named}: not a valid {error.param.type.name}"
    if "extra argument" in text:
        return "too many arguments"
    return text
