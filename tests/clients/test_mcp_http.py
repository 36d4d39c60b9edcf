"""Real clients on the hub's `/mcp`: the inspector, and Claude Code, which looks at what it was given."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from peerline.wire.tools import CORE
from tests.clients.claude import Claude
from tests.clients.conftest import PROJECT
from tests.clients.install import INSPECTOR
from tests.hub_process import PATIENCE_S, HubProcess, Project, environment


def url(hub: HubProcess, agent: str) -> str:
    return f"{hub.url}/mcp?project={PROJECT}&agent={agent}"


def inspected(home: Path, shop: Project, *words: str) -> Any:
    header = f"Authorization: Bearer {shop.token}"
    ran = subprocess.run(
        [*INSPECTOR.command, "--cli", url(shop.hub, "me"), "--transport", "http", "--header", header, *words],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


def test_the_inspector_lists_the_tools_of_the_session_server(tmp_path: Path, shop: Project) -> None:
    listed = inspected(tmp_path, shop, "--method", "tools/list")["tools"]
    assert [(tool["name"], tool["inputSchema"]) for tool in listed] == [(tool.name, tool.schema) for tool in CORE]


def test_the_inspector_calls_a_tool(tmp_path: Path, shop: Project) -> None:
    shop.register("lead")
    words = ("--method", "tools/call", "--tool-name", "kxm_send", "--tool-arg", "target=lead", "content=look")
    sent = json.loads(inspected(tmp_path, shop, *words)["content"][0]["text"])
    assert (sent["status"], sent["target"]) == ("queued", "lead")


@pytest.mark.parametrize(("right", "said"), [(True, "✔ Connected"), (False, "rejected the configured Authorization")])
def test_claude_says_whether_it_could_connect(claude: Claude, hub: HubProcess, right: bool, said: str) -> None:
    token = hub.admin if right else "wrong"
    given = ("--transport", "http", "--scope", "user", "over-http", url(hub, "me"))
    claude.run("mcp", "add", *given, "--header", f"Authorization: Bearer {token}")
    line = next(line for line in claude.run("mcp", "list").stdout.splitlines() if line.startswith("over-http"))
    assert said in line
