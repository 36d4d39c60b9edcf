"""Whether what was written works: the server answers, and the client itself says that it is connected.

Both run in a folder of their own with a home of their own: no file and no hub of the user is touched.
"""

import json
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, Final

from peerline.cli.setup.client import Client, Env, snippet

PATIENCE_S: Final = 60.0
PROTOCOL: Final = "2025-11-25"
QUIET: Final = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",  # the folder of the check, which is empty
    "NO_COLOR": "1",
    "npm_config_offline": "true",  # OpenCode would fetch its own packages and wait for them
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "PI_OFFLINE": "1",
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
# The user's own settings of hub and clients, and what pays for calls: neither has a part in a check.
_THEIRS: Final = ("KXM_", "XDG_", "CLAUDE", "CODEX_", "OPENCODE", "ANTHROPIC_", "OPENAI_", "GEMINI_", "GOOGLE_", "PI_")
_SECRET: Final = re.compile(r"(_API_KEY|_TOKEN|_SECRET)$")
_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")


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
                env=apart(env, place),
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


def lists(client: Client, kxm: str, env: Env) -> Checked:
    """Ask the client itself, in a home that holds the written entries alone, what it makes of them."""
    asked = f"`{' '.join((client.programs[0], *client.asked))}`"
    program = client.program(env)
    if not client.listed:
        return Checked(None, f"{client.title} has no command that tells whether it connects, so that was not checked")
    if program is None:
        return Checked(None, f"`{client.programs[0]}` is not on the PATH, so whether it connects was not checked")
    with TemporaryDirectory(prefix="kxm-setup-") as place:
        around = apart(env, place)
        for part in client.parts(around, kxm):
            part.path.parent.mkdir(parents=True, exist_ok=True)
            part.path.write_text(snippet(part), encoding="utf-8")
        try:
            done = subprocess.run(
                [program, *client.asked],
                env={**around, **QUIET},
                cwd=place,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Checked(False, f"{asked} did not answer within {PATIENCE_S:.0f} s")
        except OSError as error:
            return Checked(False, f"{asked} cannot be run: {error.strerror}")
    said = "\n".join(line.strip() for line in _STYLE.sub("", done.stdout).split("\n"))
    if re.search(client.listed, said, re.MULTILINE):
        return Checked(True, f"{asked} says: connected" if client.connects else f"{asked} knows it; it tries no server")
    line = next((line for line in said.split("\n") if "kxm" in line), said.strip().rpartition("\n")[2])
    return Checked(False, f"{asked} says: {line[:300] or 'nothing'}")


def apart(env: Env, place: str) -> dict[str, str]:
    """The user's environment with a home in `place` and a hub that is not there."""
    kept = {name: value for name, value in env.items() if not name.startswith(_THEIRS) and not _SECRET.search(name)}
    return {
        **kept,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "HOME": place,
        "KXM_STATE_HOME": f"{place}/state",
        "KXM_SERVER_URL": "http://127.0.0.1:9",
    }
