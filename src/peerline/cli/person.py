"""`peerline`: a dozen verbs for people, in plain text. This module takes the command line apart; a verb is a file."""

import difflib
import os
import sys
from typing import Any, Final

import click

from peerline.cli.hot_output import INTERRUPTED, READER_GONE, USAGE, Failure, usage
from peerline.cli.hot_session import Interrupted
from peerline.cli.options import LazyGroup
from peerline.cli.person_self import Person
from peerline.cli.person_voice import Voice

VERBS: Final = {
    "try": ("peerline.cli.person:try_", "See it work: half a minute, real processes, nothing left behind."),
    "up": ("peerline.cli.person_hub:up", "Start the hub, and in a network its daemon and gateway."),
    "down": ("peerline.cli.person_hub:down", "Stop all of it. What it keeps stays on the disk."),
    "list": ("peerline.cli.person_list:list_", "Who is here, what they do, what they owe you and you owe them."),
    "ask": ("peerline.cli.person_ask:ask", "Hand a request to an agent."),
    "inbox": ("peerline.cli.person_inbox:inbox_", "Requests that need your reply, and answers that came."),
    "reply": ("peerline.cli.person_inbox:reply", "Answer a request."),
    "answer": ("peerline.cli.person_answer:answer", "Answer what waits for a person in a network of rooms."),
    "log": ("peerline.cli.person_log:log", "What happens to you, as it happens."),
    "why": ("peerline.cli.person_why:why", "Why something stands still, and what to do about it."),
    "continue": ("peerline.cli.person_continue:continue_", "Let two agents go on that the hub has stopped."),
    "join": ("peerline.cli.person_join:join", "Join a network of rooms in a Git repository."),
    "setup": ("peerline.cli.setup.command:setup", "Give Claude Code, Codex and other clients their tools."),
    "uninstall": ("peerline.cli.setup.uninstall:uninstall", "Take out again what setup wrote; --purge: all of it."),
    "doctor": ("peerline.cli.person_doctor:doctor", "Check this machine and its hub; each finding with a fix."),
}
EPILOG: Final = (
    "Everywhere: --json, --as NAME, --project P, --server URL, -h. You act as KXM_AGENT_NAME, else as your login name."
)
_WRONG_TOKEN: Final = "on the hub's own machine unset KXM_AUTH_TOKEN, elsewhere set it to this project's token"
VALUED: Final = ("--as", "--project", "--server")


class Verbs(LazyGroup):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.epilog = EPILOG

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.lazy:
            near = difflib.get_close_matches(args[0].lower(), self.lazy, n=1, cutoff=0.5)
            hint = f"did you mean `peerline {near[0]}`?" if near else f"the verbs are {', '.join(self.lazy)}"
            raise usage(f"there is no verb «{args[0]}»; {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    "peerline",
    cls=Verbs,
    lazy=VERBS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="peerline", prog_name="peerline", message="%(prog)s %(version)s")
def root() -> None:
    """Coding agents hand work to each other; here is where a person looks in, asks and answers."""


@click.command("try", context_settings={"ignore_unknown_options": True})
def try_() -> int:
    """See it work: half a minute, real processes, nothing left behind."""
    from peerline.cli.try_ import main as story

    return story()


def main() -> int:
    """Run `peerline <arguments>`; the exit code. Whatever goes wrong is told on one line."""
    argv, env = sys.argv[1:], dict(os.environ)
    voice = Voice(env, as_json="--json" in argv[: argv.index("--")] if "--" in argv else "--json" in argv)
    try:
        rest, common = common_options(argv)
        voice.command = next((word for word in rest if word in VERBS), "")
        voice = Voice(env, as_json=voice.as_json, command=voice.command)
        code = root.main(rest, prog_name="peerline", standalone_mode=False, obj=Person(env, common, voice))
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(error.format_message() + "\n")
        return USAGE
    except click.ClickException as error:
        text = " ".join(error.format_message().split()).rstrip(".")
        return voice.failure(usage(f"{text}; see `peerline {voice.command} -h`".replace("  ", " ")))
    except Failure as failure:
        return voice.failure(_for_people(failure))
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit as ended:
        if ended.code == 1:  # how click ends when nobody reads its help text any more
            return READER_GONE
        raise
    except Interrupted as interrupted:
        return interrupted.code


def _for_people(failure: Failure) -> Failure:
    """Where `kxm` names its own command as the next step, `peerline` names its own; no step is left unsaid."""
    failure.detail = failure.detail.replace("start it with: kxm hub start", "start it with: peerline up")
    if failure.more.get("nextAction") == "kxm hub start":
        failure.more = {**failure.more, "nextAction": "peerline up"}
    if failure.more.get("code") == "invalid_auth":
        failure.detail += "; " + _WRONG_TOKEN
    if seconds := failure.more.get("retryAfter"):
        failure.detail += f"; try again in {seconds} s"
    step = str(failure.beside.get("nextAction") or failure.more.get("nextAction") or "")
    if " " in step and step not in failure.detail:
        failure.detail += f"; next: {step}"
    return failure


def common_options(argv: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Take the options that every verb has out of `argv`, up to `--`.

    Raises:
        Failure: one lacks its value.
    """
    rest: list[str] = []
    common: dict[str, Any] = {}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif word == "--json":
            continue
        elif name in VALUED:
            common[name] = (value if equals else next(words, "")).strip()
            if not common[name]:
                raise usage(f"{name} needs a value")
        else:
            rest.append(word)
    return rest, common
