"""The protocol's own inspector against `kxm mcp`."""

import json
import subprocess
from pathlib import Path
from typing import Any

from peerline.wire.tools import CORE
from tests.clients.install import INSPECTOR
from tests.hub_process import KXM, PATIENCE_S, Project, environment


def inspected(home: Path, shop: Project, *words: str) -> Any:
    variables = {"KXM_SERVER_URL": shop.hub.url, "KXM_AUTH_TOKEN": shop.token, "KXM_PROJECT": shop.name}
    given = [word for pair in (variables | {"KXM_AGENT_NAME": "me"}).items() for word in ("-e", "=".join(pair))]
    ran = subprocess.run(
        [*INSPECTOR.command, "--cli", *given, *KXM, "mcp", *words],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


def test_it_lists_the_tools_with_their_schemas(tmp_path: Path, shop: Project) -> None:
    listed = inspected(tmp_path, shop, "--method", "tools/list")["tools"]
    assert [(tool["name"], tool["inputSchema"]) for tool in listed] == [(tool.name, tool.schema) for tool in CORE]


def test_it_calls_a_tool(tmp_path: Path, shop: Project) -> None:
    shop.register("lead")
    words = ("--method", "tools/call", "--tool-name", "kxm_send", "--tool-arg", "target=lead", "content=look")
    sent = json.loads(inspected(tmp_path, shop, *words)["content"][0]["text"])
    assert (sent["status"], sent["target"]) == ("queued", "lead")
