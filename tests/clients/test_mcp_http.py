"""Real clients on the hub's `/mcp`: the inspector, and Claude Code, which has nothing else of ours and is woken."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from peerline.wire.tools import CORE
from tests.clients.claude import Claude
from tests.clients.conftest import PROJECT
from tests.clients.install import INSPECTOR
from tests.clients.model.conversation import Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
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


TICKET = re.compile(r"ws://[^\s\"\\]+")
REQUEST = "The body of a request, for its recipient alone."
SCRIPT = Rules(
    Rule(
        r"<task-notification>.*KXM request (msg_[0-9a-f]{32})",
        (
            call("ToolSearch", query="select:mcp__kxm__kxm_reply", max_results=1),
            call("kxm_reply", messageId=lambda now: now.found[1], content="answered by the model"),
            say("answered"),
        ),
    ),
    Rule(
        "look into the inbox",
        (
            call("ToolSearch", query="select:mcp__kxm__kxm_inbox,Monitor", max_results=2),
            call("kxm_inbox"),
            call(
                "Monitor",
                description="KXM: messages from other agents",
                ws=lambda now: {"url": TICKET.findall(now.result)[0]},
                timeout_ms=600_000,
            ),
            say("armed"),
        ),
    ),
)


class OverHttp(Claude):
    """All that it has of us is a URL and a header."""

    def give(self) -> None:
        header = ("--header", f"Authorization: Bearer {self.hub.admin}")
        self.run("mcp", "add", "--transport", "http", "--scope", "user", "kxm", url(self.hub, "builder"), *header)


def test_a_session_with_nothing_of_ours_installed_is_woken_through_a_ticket(
    tmp_path: Path, hub: HubProcess, shop: Project, model: Endpoint
) -> None:
    bare = OverHttp(tmp_path / "user", hub, model)
    bare.set_up()
    model.script = SCRIPT
    lead = shop.register("lead")
    with bare.terminal("look into the inbox", allowed="mcp__kxm__* Monitor"), lead.stream() as stream:
        model.hooked("Stop")
        sent = lead.send("builder", REQUEST)["id"]
        woken = model.asked(lambda conversation: sent in conversation.asked)
        assert REQUEST not in woken.conversation.asked
        assert stream.next("reply").message["reply"]["content"] == "answered by the model"
