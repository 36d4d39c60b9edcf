"""`peerline setup` with the real clients: they connect, are woken where they can be, and their settings come back."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients import latency
from tests.clients.claude import Claude, answered
from tests.clients.codex import Codex
from tests.clients.install import CLAUDE, CODEX, GEMINI, OPENCODE, PI, Client
from tests.clients.model.conversation import Now, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import HubProcess, Project, environment

TRIED = "a session of its own, in a temporary home, with a stand-in for the model"
WOKEN = re.compile(rf"woken [0-9.]+ s after a request: {TRIED}")
TOLD = re.compile(rf"told of a waiting request [0-9.]+ s after the start of its next run, by its hooks: {TRIED}")
PEERLINE = (sys.executable, "-m", "peerline.cli.hot", "peerline")


def _peerline(env: dict[str, str], folder: Path, *words: str) -> Any:
    ran = subprocess.run(
        [*PEERLINE, *words, "--json"], env=env, cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


class SetUp(Claude):
    """A user whose client has never heard of us, with a `claude` but no `kxm` on the PATH."""

    def environment(self) -> dict[str, str]:
        given = super().environment()
        own = {"PATH": f"{self.home / 'bin'}:/usr/bin:/bin", "KXM_AGENT_NAME": "builder", "KXM_PROJECT": "shop"}
        return given | own

    def set_up(self) -> None:
        for folder in (self.folder, self.config, self.home / "bin"):
            folder.mkdir(parents=True)
        (self.home / "bin" / "claude").symlink_to(CLAUDE.path)
        (self.config / ".claude.json").write_text(answered(self.folder))
        report = [{"hooks": [{"type": "http", "url": self.model.hooks_url}]}]
        (self.config / "settings.json").write_text(json.dumps({"hooks": {"Stop": report}}, indent=2))

    def peerline(self, *words: str) -> Any:
        return _peerline(self.environment(), self.folder, *words)


@pytest.fixture
def user(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Iterator[SetUp]:
    client = SetUp(tmp_path / "user", hub, model)
    client.set_up()
    yield client
    assert model.faults == []


def test_claude_code_connects_and_its_settings_come_back(user: SetUp) -> None:
    settings = user.config / "settings.json"
    before = settings.read_bytes()
    told = user.peerline("setup")
    (client,) = told["clients"]
    assert client["target"] == "claude"
    connected, woken = client["checks"]
    assert connected == {"ok": True, "detail": "`claude mcp list` says: connected"}
    assert WOKEN.fullmatch(woken["detail"])
    assert "plugin:kxm:kxm" in user.run("mcp", "list").stdout
    user.peerline("uninstall")
    assert settings.read_bytes() == before
    assert "kxm" not in user.run("mcp", "list").stdout


def _named(now: Now) -> str:
    return now.found[1]


def test_a_session_of_a_client_that_was_set_up_is_woken_by_a_request(
    user: SetUp, model: Endpoint, shop: Project
) -> None:
    user.peerline("setup", "--no-wake")
    model.script = Rules(
        Rule(
            r"<task-notification>.*KXM request (msg_[0-9a-f]{32}) from lead",
            (call("kxm_inbox"), call("kxm_reply", messageId=_named, content="awake"), say("answered")),
        )
    )
    lead = shop.register("lead")
    with lead.stream() as stream, user.terminal():
        while stream.next("presence").data["agent"]["name"] != "builder":
            pass
        lead.send("builder", "Are you there?")
        assert stream.next("reply").message["reply"]["content"] == "awake"


@pytest.mark.parametrize("client", [CLAUDE, CODEX, GEMINI, OPENCODE, PI], ids=lambda client: client.name)
def test_every_client_takes_what_was_written_is_woken_by_it_and_nothing_else_is_left_in_the_home(
    tmp_path: Path, client: Client
) -> None:
    home, programs = tmp_path / "home", tmp_path / "bin"
    programs.mkdir()
    (programs / client.name).write_text(f'#!/bin/sh\nexec {shlex.join(client.command)} "$@"\n')
    (programs / client.name).chmod(0o755)
    env = environment(home) | {"PATH": f"{programs}:/usr/bin:/bin"}
    (told,) = _peerline(env, home, "setup")["clients"]
    listed, woken = told["checks"]
    assert (told["target"], listed["ok"], woken["ok"]) == (client.name, True, True)
    assert listed["detail"].startswith(f"`{client.name} {'list' if client is PI else 'mcp list'}` ")
    assert (TOLD if client is GEMINI else WOKEN).fullmatch(woken["detail"])
    latency.took(f"{client.name}, woken by setup", float(re.findall(r"([0-9.]+) s", woken["detail"])[0]))
    _peerline(env, home, "uninstall", "--purge")
    assert list(home.iterdir()) == []


def test_a_codex_session_that_was_set_up_is_woken_by_a_request(
    tmp_path: Path, hub: HubProcess, model: Endpoint, shop: Project
) -> None:
    codex = Codex(tmp_path / "user", hub, model, project=shop.name)
    codex.arrive()
    _peerline(codex.environment(), codex.folder, "setup", "codex", "--no-wake")
    model.script = Rules(
        Rule(
            r"- request (msg_[0-9a-f]{32}) \(from: lead\)",
            (call("kxm_inbox"), call("kxm_reply", messageId=_named, content="awake"), say("answered")),
        ),
        Rule("make yourself known", (call("kxm_list"), say("here I am"))),
    )
    lead = shop.register("lead")
    with lead.stream() as stream, codex.terminal("make yourself known"):
        model.asked(lambda conversation: conversation.answered == 1)
        lead.send("builder", "Are you there?")
        assert stream.next("reply").message["reply"]["content"] == "awake"
    assert model.faults == []
