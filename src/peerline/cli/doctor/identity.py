"""Whether a command of this shell may act on the hub, as whom, and whether the clocks agree."""

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from peerline.cli.doctor.finding import Finding, fail, ok, warn
from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure
from peerline.cli.hot_session import Session
from peerline.core.fence import visible

SKEW_S: Final = 5.0


def identity(caller: Caller) -> Iterator[Finding]:
    """Opens a session and ends it, as each command does; a name of its own is never made up for it."""
    if not caller.named:
        yield ok("identity", "KXM_AGENT_NAME is not set: each `kxm peer` command is a new agent cli-<pid>")
        return
    try:
        with Session(caller) as session:
            answer = session.call("POST", f"/v1/agents/{session.agent_id}/heartbeat", {})
    except Failure as failure:
        yield fail("identity", visible(failure.detail, 300), _fix(failure, caller))
        return
    yield ok("identity", f"you act as {visible(caller.name)} in project {visible(caller.project)}")
    if (skew := _skew_s(answer)) > SKEW_S:
        yield warn("hub's clock", f"this machine and the hub differ by {skew:.0f} s", "timedatectl set-ntp true")


def _skew_s(answer: dict[str, Any]) -> float:
    agent = answer.get("agent")
    try:
        seen = datetime.fromisoformat(str(agent["lastSeenAt"]))  # type: ignore[index]
        return abs((datetime.now(UTC) - seen).total_seconds())
    except (KeyError, TypeError, ValueError):
        return 0.0


def _fix(failure: Failure, caller: Caller) -> str:
    code = failure.more.get("code")
    if code in ("duplicate_agent_name", "name_reserved", "protocol_error"):
        return "export KXM_AGENT_NAME=another-name"
    if code == "invalid_auth" and caller.address.loopback:
        if caller.env.get("KXM_AUTH_TOKEN"):
            return "unset KXM_AUTH_TOKEN, or export KXM_AUTH_TOKEN=<the project's token>"
        return "rm " + shlex.quote(str(Path(caller.root) / "local-tokens.json"))
    if code == "invalid_auth" or failure.error == "project_token_missing":
        return "export KXM_AUTH_TOKEN=<the project's token>"
    return "kxm hub view"
