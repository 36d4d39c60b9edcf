"""A person's own words: only from a terminal, never from a shell that a coding agent has opened (spec/network.md 4.3).

It keeps an agent from speaking for a person by mistake; it proves nobody's identity.
"""

import sys
from collections.abc import Mapping
from typing import Any, Final

from peerline.cli.hot_output import Failure, write
from peerline.core.fence import quoted, visible

SHOWN_LINES: Final = 40
# What the clients set in the shells they open, and our own supervisor in everything it starts.
AGENT_SHELLS: Final[Mapping[str, str]] = {
    "CLAUDECODE": "Claude Code",
    "CODEX_THREAD_ID": "Codex",
    "CODEX_CI": "Codex",
    "GEMINI_CLI": "Gemini",
    "OPENCODE": "opencode",
    "PI_CODING_AGENT": "Pi",
    "KXM_WORKER_SEAT": "a supervised worker",
}


def confirm_human_answer(env: Mapping[str, str], asked: Mapping[str, Any], words: str) -> None:
    """Let the person at this terminal see the question and their words, and say yes.

    Raises:
        Failure: there is no person at a terminal here, or they did not say yes; nothing is written then.
    """
    require_person(env)
    proof = "" if asked.get("verified", True) else f"  (not verified: {visible(str(asked.get('reason')), 160)})"
    question = quoted(str(asked["body"]).rstrip("\n"))
    more = len(question) - SHOWN_LINES
    shown = [
        "",
        "Recording this as a HUMAN-RELAYED decision permanently:",
        f"  room     #{visible(asked['room'], 64)}",
        f"  asked by {visible(asked['from'], 40)}{proof}",
        "  the question:",
        *(f"  {line}" for line in question[:SHOWN_LINES]),
        *([f"  ({more} more lines: komnet read {asked['room']} --thread {asked['thread']})"] if more > 0 else []),
        "  the answer:",
        *(f"  {line}" for line in quoted(words)),
        "",
    ]
    write(1, "\n".join(shown) + "\nConfirm this human-relayed decision? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure("not recorded — the human did not confirm this answer", error="NOT_CONFIRMED")


def require_person(env: Mapping[str, str]) -> None:
    """Raises: Failure: nobody sits at a terminal here, or an agent opened it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure(
            "a person's answer needs an interactive terminal, where they see it and say yes; nothing was recorded. "
            "This guards against attributing an answer to a person by mistake and proves nobody's identity",
            error="NOT_CONFIRMED",
        )
    if agent := opened_by(env):
        raise Failure(
            f"this shell was opened by {agent}, and no agent answers for a person; nothing was recorded. "
            "Open a terminal of your own and answer there",
            error="NOT_CONFIRMED",
        )


def opened_by(env: Mapping[str, str]) -> str | None:
    """The agent's program that this process runs under, as far as its variables tell."""
    return next((name for variable, name in AGENT_SHELLS.items() if env.get(variable)), None)
