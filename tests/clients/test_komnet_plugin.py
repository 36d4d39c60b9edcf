"""The plugin komnet in the real clients, on a real network: the brief at a session's start, the tools, the skills."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.model.conversation import Conversation, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import HubProcess, environment
from tests.network.nodes import Node, node
from tests.network.remotes import BareRemote

ASKED = "Is the release branch green? The body of a message, for its recipients alone."
MAY = "mcp__plugin_komnet_komnet__*"


@pytest.fixture
def remote(tmp_path: Path) -> BareRemote:
    return BareRemote(tmp_path / "rooms.git")


def joined(home: Path, remote: BareRemote, agent: str) -> None:
    """That user's `komnet` in the network and in its room."""
    env = environment(home) | {"GIT_AUTHOR_NAME": agent, "GIT_AUTHOR_EMAIL": f"{agent}@example.test"}
    home.mkdir(exist_ok=True)
    for words in (["init", "--repo", remote.url, "--agent", agent], ["room", "create", "build"]):
        subprocess.run(
            [sys.executable, "-m", "peerline.cli.hot", "komnet", *words], env=env, check=True, capture_output=True
        )


@pytest.fixture
def bob(tmp_path: Path, remote: BareRemote) -> Callable[[], Node]:
    """Another machine's agent; made once the network is there."""

    def made() -> Node:
        bob = node(tmp_path, remote, "bob-codex", "build")
        bob.engine.initialise()
        bob.sync()
        return bob

    return made


def asked(conversations: list[Conversation], what: str) -> list[Conversation]:
    return [one for one in conversations if what in one.everything]


def test_claude_is_told_at_the_start_what_waits_and_answers_it_with_the_tools(
    claude: Claude, model: Endpoint, remote: BareRemote, bob: Callable[[], Node]
) -> None:
    joined(claude.home, remote, "ada-claude")
    claude.run("plugin", "install", "komnet@kxm")
    assert claude.headless("hello", allowed=MAY).hook_outputs("SessionStart") == []

    other = bob()
    sent = other.send(ASKED, "ada-claude", kind="question", needs="agent").post
    model.script = Rules(
        Rule("look after", (call("komnet_answer", messageId=sent.id, body="Yes, it is."), say("Done.")))
    )
    printed = claude.headless("look after the team", allowed=MAY)
    (brief,) = printed.hook_outputs("SessionStart")
    assert len(brief) <= 1_500
    assert "bob-codex" in brief
    assert "data" in brief
    assert printed.servers["plugin:komnet:komnet"] == "connected"
    other.sync()
    assert other.inbox() == ["Yes, it is."]


def test_codex_is_told_at_the_start_too(
    tmp_path: Path, hub: HubProcess, model: Endpoint, remote: BareRemote, bob: Callable[[], Node]
) -> None:
    codex = Codex(tmp_path / "user", hub, model)
    codex.set_up()
    codex.run("plugin", "add", "komnet@kxm")
    joined(codex.home, remote, "ada-codex")
    codex.headless("hello")
    assert asked([one.conversation for one in model.requests], "komnet: ") == []
    bob().send(ASKED, "ada-codex", kind="question", needs="agent")
    codex.headless("hello again")
    assert asked([one.conversation for one in model.requests], "komnet: 1 pending")
