"""Claude Code that has only our MCP server: its own Monitor tool takes `kxm watch`, and then it is woken too."""

import json
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.conftest import PROJECT
from tests.clients.model.conversation import Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import HubProcess, Project

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
        "arm the watch",
        (
            call("ToolSearch", query="select:Monitor", max_results=1),  # it is offered only when it is looked for
            call("Monitor", description="KXM: messages from other agents", command="kxm watch", timeout_ms=600_000),
            say("armed"),
        ),
    ),
)


class Bare(Claude):
    """All that it has of us is the server; `options` are its variables."""

    def give(self) -> None:
        server = {"command": "kxm", "args": ["mcp"], "env": self.options}
        self.run("mcp", "add-json", "--scope", "user", "kxm", json.dumps(server))


@pytest.fixture
def bare(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Claude:
    client = Bare(tmp_path / "user", hub, model, options={"KXM_AGENT_NAME": "builder", "KXM_PROJECT": PROJECT})
    client.set_up()
    return client


def test_a_session_that_armed_the_watch_by_itself_is_woken(bare: Claude, model: Endpoint, shop: Project) -> None:
    model.script = SCRIPT
    lead = shop.register("lead")
    with bare.terminal("arm the watch", allowed="mcp__kxm__* Monitor"), lead.stream() as stream:
        model.hooked("Stop")
        sent = lead.send("builder", REQUEST)["id"]
        woken = model.asked(lambda conversation: sent in conversation.asked)
        assert REQUEST not in woken.conversation.asked
        assert stream.next("reply").message["reply"]["content"] == "answered by the model"
