"""Whether what was written works: the server answers, and the client itself says that it is connected.

Both run in a folder of their own with a home of their own: no file and no hub of the user is touched.
"""

import json
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from peerline.cli.setup.client import Env, Part, snippet

PATIENCE_S: Final = 20.0
PROTOCOL: Final = "2025-11-25"
_QUIET: Final = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
_ASKED: Final = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "kxm-setup", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
_CONNECTED: Final = re.compile(r"^plugin:kxm:kxm: .*\bConnected\b", re.MULTILINE)
_TOLD: Final = re.compile(r"^plugin:kxm:kxm: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Checked:
    """`ok` is None for what was not checked; `text` says what was seen, or why not."""

    ok: bool | None
    text: str

    def facts(self) -> dict[str, Any]:
        return {"ok": self.ok, "detail": self.text}


def serves(kxm: str, env: Env) -> Checked:
    """Start `kxm mcp` as a client does and ask it for its tools."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="kxm-setup-") as place:
        try:
            process = subprocess.Popen(
                [kxm, "mcp"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_apart(env, place),
                cwd=place,
            )
        except OSError as error:
            return Checked(False, f"{kxm} cannot be started: {error.strerror}")
        try:
            tools = _tools(process)
        finally:
            process.kill()
            process.communicate()
    if tools is None:
        return Checked(False, f"`{kxm} mcp` gives no tools; run `kxm doctor`")
    return Checked(True, f"`{kxm} mcp` offers {tools} tools, after {time.monotonic() - began:.1f} s")


def _tools(process: "subprocess.Popen[bytes]") -> int | None:
    assert process.stdin is not None
    assert process.stdout is not None
    guard = threading.Timer(PATIENCE_S, process.kill)
    guard.start()
    try:
        process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in _ASKED))
        process.stdin.flush()
        for line in process.stdout:
            answer = json.loads(line)
            if answer.get("id") == 2:
                return len(answer["result"]["tools"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        guard.cancel()
    return None


def claude_connects(program: str | None, parts: list[Part], env: Env) -> Checked:
    """Ask Claude Code, in a profile that holds the written entries alone, whether it can connect."""
    if not parts:
        return Checked(None, "whether it connects was not checked; `claude mcp list` says it")
    if program is None:
        return Checked(None, "`claude` is not on the PATH, so whether it connects was not checked")
    with TemporaryDirectory(prefix="kxm-setup-") as place:
        for part in parts:
            Path(place, part.path.name).write_text(snippet(part), encoding="utf-8")
        try:
            done = subprocess.run(
                [program, "mcp", "list"],
                env={**_apart(env, place), **_QUIET, "CLAUDE_CONFIG_DIR": place},
                cwd=place,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=PATIENCE_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            why = "it did not answer" if isinstance(error, subprocess.TimeoutExpired) else str(error.strerror)
            return Checked(False, f"`claude mcp list` failed: {why}")
    if _CONNECTED.search(done.stdout):
        return Checked(True, "`claude mcp list` says: Connected")
    told = _TOLD.search(done.stdout)
    return Checked(False, f"`claude mcp list` says: {told[1] if told else (done.stdout + done.stderr).strip()[:200]}")


def _apart(env: Env, place: str) -> dict[str, str]:
    """The user's environment with a home in `place` and a hub that is not there."""
    kept = {name: value for name, value in env.items() if not name.startswith(("KXM_", "XDG_", "CLAUDE"))}
    return {
        **kept,
        "HOME": place,
        "KXM_STATE_HOME": f"{place}/state",
        "KXM_SERVER_URL": "http://127.0.0.1:9",
    }
