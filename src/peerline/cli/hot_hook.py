"""`kxm hook session-start|prompt|permission|edit|stop`: what a client's session is told at the moments its hooks run.

Silent when there is nothing to say, exit 0 whatever happens: a hub that is away must never hold a session up.
"""

from __future__ import annotations

import os
import sys
from time import time

from peerline.cli.hot_brief import Mail, fitted, named, owed, waiting
from peerline.cli.hot_claim import claim_name, edited, warning
from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_json import dumps, loads
from peerline.cli.hot_output import Failure
from peerline.cli.hot_record import ANNOUNCED, BRIEFED, REMINDED, Sessions
from peerline.cli.hot_self import Myself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STDIN_BYTES = 4 << 20
CALL_MS = 120  # a brief is there within 300 ms or not at all; KXM_HOOK_WAIT_MS for a machine that is slower
HELP = """Usage: kxm hook session-start|prompt|permission|edit|stop [--client claude|codex|gemini|opencode]

What a client's plugin runs: reads the hook's JSON from standard input and prints what the session should know of
waiting requests and unread replies, if anything. Always exits 0.
"""
UNREAD = 20
FACTS = 8
ASKS = "its client asks its user for permission"
ADAPTERS = {"claude": "claude-code hook", "codex": "codex hook", "gemini": "gemini hook", "opencode": "opencode plugin"}


def run(argv: list[str]) -> int:
    """Run `kxm hook <argv>`; always 0."""
    if "--help" in argv or "-h" in argv:
        sys.stdout.write(HELP)
        return 0
    if os.environ.get("KXM_WORKER_SEAT"):
        return 0  # the session's worker hands it its requests
    try:
        event, client = _asked(argv)
        EVENTS[event](Hook(dict(os.environ), client, _input()))
    except Failure as failure:
        _aside(failure.detail)
    except (OSError, ValueError) as error:
        _aside(f"{type(error).__name__}: {error}")
    return 0


class Hook:
    """One run of a hook: what the client said, and who the session is."""

    def __init__(self, env: dict[str, str], client: str, told: dict[str, Any]) -> None:
        self.client, self.input = client, told
        session_id = told.get("session_id")
        self.session_id = session_id if isinstance(session_id, str) else ""
        self.sessions = Sessions(env)
        self.me = Myself(env, self.sessions, self.session_id)
        if self.me.record is not None:
            # After a new conversation in the same client: its monitor still goes by the old id.
            self.session_id = str(self.me.record.get("sessionId") or self.session_id)

    def mail(self) -> Mail:
        """What waits for this session's agent.

        Raises:
            Failure: the hub did not say.
        """
        hub = self.me.hub()
        if hub is None:
            return Mail([], [])
        requests = _messages(hub, f"/v1/agents/{self.me.agent_id}/inbox?peek=1")
        return Mail(requests, _messages(hub, f"/v1/messages?state=unread&limit={UNREAD}"))

    def say(self, event: str, text: str) -> None:
        """Hand the client the text as context of the turn."""
        answer: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        if event == "Stop" and self.client == "codex":
            answer = {"decision": "block", "reason": text}
        sys.stdout.write(dumps(answer) + "\n")
        sys.stdout.flush()

    def tell(self, ids: list[str], fact: str, how: str = ANNOUNCED) -> None:
        """Remember what this session was told of, here and in the trails."""
        self.sessions.tell(self.session_id, ids, how)
        self.report(ids, fact)

    def report(self, ids: list[str], fact: str, reason: str = "") -> None:
        """Say in the trails of these messages how near they came to the model, and why no further."""
        hub = self.me.hub()
        for message_id in ids[:FACTS]:
            body = {"fact": fact, "adapter": ADAPTERS.get(self.client, "hook")} | ({"reason": reason} if reason else {})
            if hub is None or _asked_quietly(hub, "POST", f"/v1/messages/{message_id}/facts", body) is None:
                return


def _session_start(hook: Hook) -> None:
    """Name what waits, and a name that is not the one asked for."""
    hook.sessions.sweep(time())
    lines = hook.me.fallen_back()
    if lines and hook.me.record is not None:
        hook.sessions.tell(hook.session_id, [hook.me.agent_id])
    mail = Mail([], [])
    try:
        mail = hook.mail()
    except Failure as failure:
        lines.append(failure.detail)
    lines += waiting(mail)
    if not lines:
        return
    head = f"KXM, messages between agents (project {named(hook.me.project)}, you are {named(hook.me.name)}):"
    hook.say("SessionStart", fitted([head, *lines]))
    # What is new to the session is still a monitor's to announce, for a brief alone starts no turn.
    known = hook.sessions.told(hook.session_id)
    hook.tell([one for one in mail.ids if one in known], "announced")
    hook.tell([one for one in mail.ids if one not in known], "announced", BRIEFED)


def _prompt(hook: Hook) -> None:
    """Name what came since the session was last told of something."""
    mail = hook.mail()
    known = hook.sessions.told(hook.session_id)
    pushed = _named_in(hook.input.get("prompt")).intersection(mail.ids)  # pushes that have become a turn
    hook.report([one for one in pushed if known.get(one, BRIEFED) != BRIEFED], "in turn")
    hook.tell([one for one in pushed if known.get(one, BRIEFED) == BRIEFED], "in turn")
    mail = mail.without(pushed.union(known))
    # A session registers beside its first hook, so that only its first prompt may know what it is called.
    lines = [] if hook.me.agent_id in known else hook.me.fallen_back()
    if mail or lines:
        hook.say("UserPromptSubmit", fitted(["KXM, messages between agents:", *lines, *waiting(mail)]))
        hook.tell(mail.ids, "in turn")
    if lines:
        hook.sessions.tell(hook.session_id, [hook.me.agent_id])


def _named_in(prompt: object) -> set[str]:
    """The ids of messages in a text."""
    if not isinstance(prompt, str):
        return set()
    digits = "0123456789abcdef"
    parts = [part[:32] for part in prompt.split("msg_")[1:]]
    return {f"msg_{part}" for part in parts if len(part) == 32 and not part.strip(digits)}


def _permission(hook: Hook) -> None:
    """The client stops to ask its user: whoever waits for this session's answer can know that."""
    told = hook.sessions.told(hook.session_id)
    hook.report(_unanswered(hook, list(told)).ids, "in turn", ASKS)


def _edit(hook: Hook) -> None:
    """Before a file is written that another agent has claimed: one line. It decides nothing."""
    path = edited(hook.input)
    hub = None if path is None else hook.me.hub()
    if path is None or hub is None:
        return
    folder = hook.input.get("cwd")
    name = claim_name(path, folder if isinstance(folder, str) else os.getcwd(), os.environ.get("HOME", ""))
    answer = _asked_quietly(hub, "GET", "/v1/leases", None)
    if answer and (line := warning(answer.get("leases"), name, hook.me.agent_id)):
        hook.say("PreToolUse", line)


def _stop(hook: Hook) -> None:
    """Let the turn go on, once, while a request that the session was told of has no answer."""
    if hook.input.get("stop_hook_active"):
        return
    told = hook.sessions.told(hook.session_id)
    unanswered = _unanswered(hook, [message_id for message_id, how in told.items() if how != REMINDED])
    if unanswered:
        hook.say("Stop", owed(unanswered.requests))
        hook.tell(unanswered.ids, "in turn", REMINDED)


def _unanswered(hook: Hook, told: list[str]) -> Mail:
    """Which of these requests have no answer; the hub is asked only if there are any."""
    hub = hook.me.hub() if told else None
    requests = [] if hub is None else _messages(hub, f"/v1/agents/{hook.me.agent_id}/inbox?peek=1")
    return Mail([one for one in requests if isinstance(one, dict) and one.get("id") in told], [])


EVENTS: dict[str, Callable[[Hook], None]] = {
    "session-start": _session_start,
    "prompt": _prompt,
    "permission": _permission,
    "edit": _edit,
    "stop": _stop,
}


def _asked(argv: list[str]) -> tuple[str, str]:
    client, words = "claude", []
    queue = list(argv)
    while queue:
        word = queue.pop(0)
        name, equals, value = word.partition("=")
        if name == "--client":
            client = value if equals else queue.pop(0) if queue else ""
        elif not word.startswith("-"):
            words.append(word)
    if len(words) != 1 or words[0] not in EVENTS:
        raise Failure(HELP.partition("\n")[0])
    return words[0], client


def _input() -> dict[str, Any]:
    """The client's JSON on stdin; a person at a terminal gives none."""
    if os.isatty(0):
        return {}
    parts, size = [], 0
    while size < STDIN_BYTES and (part := os.read(0, 65_536)):
        parts.append(part)
        size += len(part)
    value = loads(b"".join(parts).decode("utf-8", "replace")) if parts else {}
    return value if isinstance(value, dict) else {}


def _messages(hub: Connection, path: str) -> list[Any]:
    answer = _asked_quietly(hub, "GET", path, None)
    found = answer.get("messages") if answer else None
    return found if isinstance(found, list) else []


def _asked_quietly(hub: Connection, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
    """The answer's body, or None if the hub refuses: an older one does not know all of this.

    Raises:
        Failure: the hub does not answer.
    """
    try:
        answer = hub.request(method, path, body, _wait_ms())
    except (Unreachable, ConnectionLost) as why:
        raise Failure(
            f"hub not reachable at {hub.address.url} ({why}), so what waits is not known; start it with: kxm hub start"
        ) from None
    return answer.body if answer.status < 400 else None


def _aside(text: str) -> None:
    """For a client's debug log; nobody is disturbed by it."""
    try:
        sys.stderr.write(f"kxm hook: {text}\n")
    except (OSError, AttributeError):
        pass


def _wait_ms() -> int:
    """How long one answer of the hub is waited for."""
    given = os.environ.get("KXM_HOOK_WAIT_MS", "")
    return int(given) if given.isascii() and given.isdigit() and 0 < len(given) < 6 else CALL_MS
