"""Which tools an agent may use: tokens that an operator or a step of a workflow hands to a session (spec/hub.md 5.4).

They are unsigned. They keep a willing agent on its path and stop nobody who may set its variables.
"""

import json
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from peerline.core.ids import Millis

SESSION_SCHEMA: Final = "kxm.session-token.v1"
ATTEMPT_SCHEMA: Final = "kxm.attempt-token.v1"
LIFE: Final = timedelta(hours=24)
TOKEN_BYTES: Final = 16_384
READ_ONLY: Final = frozenset(
    {
        *("kxm_send", "kxm_reply", "kxm_cancel", "kxm_fanout"),
        *("kxm_workflow_checkpoint", "kxm_workflow_record", "kxm_workflow_wait", "kxm_promote"),
        *("kxm_claim", "kxm_release"),
    }
)
_ATTEMPT_TEXTS: Final = ("runId", "stepId", "stageId", "assignmentId", "attemptId", "agentId")
_ATTEMPT_NUMBERS: Final = ("stepAttempt", "attempt")


class Denial(NamedTuple):
    """Why a tool may not be used; `text` is for the model and begins with the code it stands under."""

    code: str
    text: str


class Source(NamedTuple):
    """Where a token was found, and how its user is rid of it."""

    name: str
    attempt: bool
    remedy: str


class BadToken(Exception):
    """What is wrong with it; never with any of it."""


class Policy(NamedTuple):
    """What one token allows; `broken` says why it allows nothing."""

    source: Source
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    read_only: bool = False
    run: str = ""
    stage: str = ""
    broken: str = ""

    def denial(self, tool: str, arguments: object = None) -> Denial | None:
        """Why `tool` may not be called so, or None."""
        source = self.source
        if self.broken:
            code = "attempt_token_invalid" if source.attempt else "session_token_invalid"
            return Denial(code, _text(f"{code}: the token in {source.name} {self.broken}", source))
        if _named(self.deny, tool) or (self.read_only and tool in READ_ONLY) or not self._allowed(tool):
            return Denial("tool_policy_denied", _text(f"the token in {source.name} does not allow {tool}", source))
        if source.attempt and tool == "kxm_promote" and not _named(self.allow, tool):
            code = "attempt_token_admin_denied"
            return Denial(code, _text(f"{code}: {tool} needs to be allowed by name in {source.name}", source))
        if source.attempt and self._strays(arguments):
            code = "attempt_token_scope_violation"
            return Denial(code, _text(f"{code}: the token in {source.name} is for one run and one stage", source))
        return None

    def _allowed(self, tool: str) -> bool:
        return not self.allow or _named(self.allow, tool)

    def _strays(self, arguments: object) -> bool:
        if not isinstance(arguments, dict):
            return False
        context = arguments.get("workflowContext")
        places = [arguments, context if isinstance(context, dict) else {}]
        runs = [place[name] for place in places for name in ("runId", "workflowRunId") if place.get(name)]
        stages = [place["stageId"] for place in places if place.get("stageId")]
        return any(run != self.run for run in runs) or any(stage != self.stage for stage in stages)


def read_policy(token: str, source: Source, now: Millis) -> Policy:
    """What the token says; one that cannot be read, or has run out, allows nothing."""
    try:
        value = _decoded(token)
        if source.attempt:
            _check_attempt(value)
        else:
            _check_session(value, now)
        return _policy(value, source)
    except BadToken as bad:
        return Policy(source, broken=str(bad))


def session_token(session_id: str, now: Millis) -> str:
    """A token without limits but its time, as an operator issues it."""
    issued = datetime.fromtimestamp(now / 1000, UTC)
    value = {
        "schema": SESSION_SCHEMA,
        "sessionId": session_id,
        "issuedAt": _instant(issued),
        "expiresAt": _instant(issued + LIFE),
    }
    text = b2a_base64(json.dumps(value, separators=(",", ":")).encode(), newline=False).decode()
    return text.rstrip("=").replace("+", "-").replace("/", "_")


def _decoded(token: str) -> dict[str, Any]:
    text = token.strip()
    if len(text) > TOKEN_BYTES:
        raise BadToken("is too long")
    try:
        standard = text.replace("-", "+").replace("_", "/")
        value = json.loads(a2b_base64(standard + "=" * (-len(standard) % 4), strict_mode=True))
    except (Error, ValueError, RecursionError):
        raise BadToken("cannot be read") from None
    if not isinstance(value, dict):
        raise BadToken("cannot be read")
    return value


def _check_session(value: Mapping[str, Any], now: Millis) -> None:
    if value.get("schema") != SESSION_SCHEMA or not _is_text(value.get("sessionId")):
        raise BadToken("is no session token")
    issued = _moment(value.get("issuedAt"))
    ends = _moment(value["expiresAt"]) if value.get("expiresAt") is not None else issued + LIFE
    if ends.timestamp() * 1000 <= now:
        raise BadToken("has expired")


def _check_attempt(value: Mapping[str, Any]) -> None:
    numbers = [value.get(name) for name in _ATTEMPT_NUMBERS]
    whole = all(isinstance(number, int) and not isinstance(number, bool) and number > 0 for number in numbers)
    named = all(_is_text(value.get(name)) for name in _ATTEMPT_TEXTS)
    if value.get("schema") != ATTEMPT_SCHEMA or not whole or not named:
        raise BadToken("is no attempt token")
    _moment(value.get("issuedAt"))


def _policy(value: Mapping[str, Any], source: Source) -> Policy:
    given = value.get("toolPolicy")
    given = {} if given is None else given
    if not isinstance(given, dict) or given.get("preset") not in (None, "read-only"):
        raise BadToken("has a toolPolicy that cannot be read")
    return Policy(
        source,
        allow=_patterns(given, "allow", "allowedTools"),
        deny=_patterns(given, "deny", "deniedTools"),
        read_only=given.get("preset") == "read-only",
        run=str(value.get("runId", "")),
        stage=str(value.get("stageId", "")),
    )


def _patterns(policy: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        listed = policy.get(name)
        if listed is None:
            continue
        if not isinstance(listed, list) or not all(isinstance(pattern, str) for pattern in listed):
            raise BadToken("has a toolPolicy that cannot be read")
        found += listed
    return tuple(found)


def _named(patterns: tuple[str, ...], tool: str) -> bool:
    """By the full name that a client gives it, by its own, without `kxm_`, or by a beginning and `*`."""
    bare = tool.removeprefix("kxm_")
    for pattern in patterns:
        wanted = pattern.rpartition("__")[2]
        if wanted.endswith("*"):
            if tool.startswith(wanted[:-1]) or bare.startswith(wanted[:-1]):
                return True
        elif wanted in (tool, bare):
            return True
    return False


def _text(why: str, source: Source) -> str:
    return f"tool_policy_denied: {why}. Go on without it and tell your user: {source.remedy}."


def _moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise BadToken("has no time that can be read")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise BadToken("has no time that can be read") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""
