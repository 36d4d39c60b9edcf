"""The client's own name of its session, where it gives its servers one.

A client that was started inside another one's shell inherits that one's variables, so each has only its own looked at.
"""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def session_id(client: str, env: Mapping[str, str]) -> str | None:
    """None: it names none at the start."""
    if client == "claude-code":
        return env.get("CLAUDE_CODE_SESSION_ID") or None
    if client == "opencode" and (process := env.get("OPENCODE_PID")):
        # One process may serve several folders, each with a server of its own. The plugin works out the same.
        return f"opencode-{process}-{_short(bytes(Path.cwd())):08x}"
    return None


def _short(text: bytes) -> int:
    """FNV-1a; `hashlib` would load OpenSSL into every session."""
    value = 0x811C9DC5
    for byte in text:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value
