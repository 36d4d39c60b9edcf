"""How the server introduces itself: only the revisions of MCP in which a server may speak unasked.

The newer, stateless revision opens with `server/discover`. To refuse it makes the client fall back to `initialize`;
to accept it would silently end channel push.
"""

from __future__ import annotations

from peerline import __version__
from peerline.mcp_stdio import rpc
from peerline.tools.introduction import INSTRUCTIONS, NAME, client_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEWEST = "2025-11-25"
VERSIONS = (NEWEST, "2025-06-18", "2025-03-26", "2024-11-05")


def introduce(request: rpc.Request, notice: str = "") -> bytes | None:
    """The answer to what may come before and beside all tools; None: it is something else.

    `notice` is what this session has to be told about itself.
    """
    if request.id is None:
        return None
    if request.method == "initialize":
        return rpc.result(request.id, _introduction(request.params, notice))
    if request.method == "ping":
        return rpc.result(request.id, {})
    if request.method == "server/discover":
        return rpc.failure(request.id, rpc.METHOD_NOT_FOUND, "method not found: server/discover")
    return None


def label(params: dict[str, Any]) -> str:
    """The client's short name, from its `initialize`: claude-code, codex, pi …"""
    about = params.get("clientInfo")
    return client_label(about.get("name") if isinstance(about, dict) else None)


def _introduction(params: dict[str, Any], notice: str) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in VERSIONS else NEWEST,
        "capabilities": {"experimental": {"claude/channel": {}}, "tools": {}},
        "serverInfo": {"name": NAME, "version": __version__},
        "instructions": f"{INSTRUCTIONS} {notice}".strip(),
    }
