"""`komnet setup TOOL`: the entry that starts `komnet mcp`, and where a client has hooks, the brief at the start."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_paths import state_root
from peerline.cli.komnet.desk import Desk
from peerline.cli.setup.change import Change, addition, written
from peerline.cli.setup.client import Part, home
from peerline.cli.setup.entry import Entry
from peerline.cli.setup.program import installed
from peerline.cli.setup.record import Manifest
from peerline.cli.setup.toml_text import TOML
from peerline.core.errors import NotFound
from peerline.network.home import machine_home

TOOLS: Final = ("claude-code", "claude-desktop", "cursor", "codex")
_STAYS: Final = "Nothing here starts an agent: komnet stages messages and a live agent drains them."
_NOTES: Final = {
    "claude-code": (
        "One hook, at a session's start, inside the session that you opened: no further agent is started.",
        "Restart Claude Code (or run /mcp) to pick up the server.",
    ),
    "claude-desktop": ("Restart Claude Desktop to load the server.",),
    "cursor": ("Reload Cursor, then enable the komnet server in Settings → MCP.",),
    "codex": ("Restart Codex to load the server.",),
}


def setup(desk: Desk) -> int:
    tool = desk.call.words["TOOL"].lower()
    if tool not in TOOLS:
        raise usage(f"setup needs a tool: {' | '.join(TOOLS)}")
    pinned = _pinned(desk)
    changes = _written(desk, tool, pinned)
    warnings = [warning for change in changes for warning in change.warnings]
    refused = any(one.action == "refused" for one in changes)
    notes = [] if refused else list(_NOTES[tool])
    if pinned and not refused and not warnings:
        notes.append(f"This tool now runs as its own agent, with KOMNET_HOME={pinned}.")
    notes.append(_STAYS)
    shown = [tool, *(_told(one) for one in changes), ""]
    shown += [f"! {warning}" for warning in warnings]
    facts = [{"path": str(one.path), "action": one.action, "what": one.what} for one in changes]
    value = {"target": tool, "changes": facts, "notes": notes, "warnings": warnings}
    return desk.show([*shown, *(f"  {note}" for note in notes)], value, 1 if refused else 0)


def _told(change: Change) -> str:
    if change.action == "refused":
        return f"✗ {change.what}"
    return f"{'!' if change.warnings else '✓'} {change.what} → {change.path} ({change.action})"


def _pinned(desk: Desk) -> str | None:
    """The home that the entry names, when a further agent was asked for.

    Raises:
        NotFound: it is not set up.
    """
    agent = desk.call.text("--agent")
    if agent is None:
        return None
    machine = machine_home(desk.env)
    nested = machine.agent(agent)
    if nested.provisioned:
        return str(nested.folder)
    if desk.home.provisioned:
        return str(desk.home.folder)
    raise NotFound(
        f"no agent '{agent}' on this machine\n  create it first: komnet agent add {agent} --repo <transport>"
    )


def _written(desk: Desk, tool: str, pinned: str | None) -> list[Change]:
    komnet = installed(desk.env, program="komnet")
    manifest = Manifest(Path(state_root(dict(desk.env))))
    now = datetime.fromtimestamp(time.time(), UTC)
    changes = []
    for part in _parts(desk, tool, komnet, pinned):
        change = addition(f"komnet-{tool}", part, manifest)
        try:
            changes.append(written(change, manifest, now))
        except OSError as error:
            raise Failure(f"{error.filename or part.path} can't be written: {error.strerror}") from None
    return changes


def _parts(desk: Desk, tool: str, komnet: str, pinned: str | None) -> list[Part]:
    server: dict[str, Any] = {"command": komnet, "args": ["mcp"]}
    if pinned:
        server["env"] = {"KOMNET_HOME": pinned}
    entry = Entry(path=("mcpServers", "komnet"), value=server, what="MCP server entry")
    if tool == "codex":
        codex = Path(desk.env["CODEX_HOME"]) if desk.env.get("CODEX_HOME") else home(desk.env) / ".codex"
        table = Entry(path=("mcp_servers", "komnet"), value=server, what="[mcp_servers.komnet]")
        return [Part(path=codex / "config.toml", entries=(table,), dialect=TOML)]
    if tool == "cursor":
        return [Part(path=home(desk.env) / ".cursor" / "mcp.json", entries=(entry,))]
    if tool == "claude-desktop":
        return [Part(path=home(desk.env) / ".config" / "Claude" / "claude_desktop_config.json", entries=(entry,))]
    here = Path.cwd()
    brief = (
        f"KOMNET_HOME={_quoted(pinned)} {_quoted(komnet)} inbox --brief"
        if pinned
        else f"{_quoted(komnet)} inbox --brief"
    )
    hook = Entry(
        path=("hooks", "SessionStart"),
        value={"hooks": [{"type": "command", "command": brief}]},
        what="SessionStart hook",
        listed=True,
    )
    return [
        Part(path=here / ".mcp.json", entries=(entry,)),
        Part(path=here / ".claude" / "settings.json", entries=(hook,)),
    ]


def _quoted(text: str) -> str:
    return (
        text
        if text.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
        else "'" + text.replace("'", "'\\''") + "'"
    )


RUN = {"setup": setup}
