"""The first hour: a home with the clients and nothing of ours. Codex wakes Claude Code by the third command after the
installation, with no variable set and no token typed; one more, and nothing of it is left."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.claude import KEY, QUIET, TOOLS, answered
from tests.clients.codex import config
from tests.clients.install import CLAUDE, CODEX
from tests.clients.model.conversation import Now, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.terminal import Terminal
from tests.hub_process import PATIENCE_S

QUESTION, REPLY = "Is the rounding right?", "It rounds to the even cent."


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who has both clients, a project folder `shop`, and our commands where `uv tool install` puts them."""

    home: Path
    model: Endpoint

    @property
    def folder(self) -> Path:
        return self.home / "shop"

    def environment(self) -> dict[str, str]:
        """The clients' own settings; not one of ours."""
        theirs = {"ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": KEY, "SCRIPTED_KEY": "dummy", **QUIET}
        path = f"{self.home.parent / 'bin'}:/usr/bin:/bin"
        return {"HOME": str(self.home), "PATH": path, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", **theirs}

    def arrives(self) -> None:
        commands = self.home.parent / "bin"
        for folder in (commands, self.folder, self.home / ".claude", self.home / ".codex"):
            folder.mkdir(parents=True)
        (commands / "claude").symlink_to(CLAUDE.path)
        (commands / "codex").symlink_to(CODEX.path)
        for command in ("kxm", "peerline"):
            (commands / command).symlink_to(Path(sys.executable).parent / command)
        (self.home / ".claude.json").write_text(answered(self.folder))
        (self.home / ".claude" / "settings.json").write_text('{\n  "theme": "dark"\n}\n')
        (self.home / ".codex" / "config.toml").write_text(config(self.model.url, self.folder))

    def types(self, *words: str, **variables: str) -> str:
        """One command in the project's folder, to its end; it has to go well."""
        ran = subprocess.run(
            words,
            env=self.environment() | variables,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )
        assert ran.returncode == 0, f"{words}: {ran.stdout}{ran.stderr}"
        return ran.stdout

    @contextmanager
    def looking_on(self) -> Iterator[Iterable[str]]:
        """The lines of who comes and goes, from now on."""
        process = subprocess.Popen(
            ["peerline", "log", "--presence", "--as", "ada"],
            env=self.environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        guard = threading.Timer(PATIENCE_S, process.kill)
        guard.start()
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            assert "listens" in process.stderr.readline()
            yield process.stdout
        finally:
            guard.cancel()
            process.terminate()
            process.communicate()

    def settings(self) -> list[bytes]:
        return [(self.home / name).read_bytes() for name in (".claude/settings.json", ".codex/config.toml")]


@pytest.fixture
def user(tmp_path: Path, model: Endpoint) -> Iterator[User]:
    person = User(tmp_path / "home", model)
    person.arrives()
    yield person
    person.types("peerline", "uninstall", "--purge")
    assert model.faults == []


def _sent(now: Now) -> str:
    return "msg_" + now.result.partition("msg_")[2][:32]


def _named(now: Now) -> str:
    return now.found[1]


SCRIPT = Rules(
    Rule(
        "ask the other one",
        (call("kxm_send", target="shop", content=QUESTION), call("kxm_await", messageId=_sent), say("asked")),
    ),
    Rule(
        r"<task-notification>.*KXM request (msg_[0-9a-f]{32}) from shop",
        (call("kxm_inbox"), call("kxm_reply", messageId=_named, content=REPLY), say("answered")),
    ),
)


def test_codex_wakes_claude_code_and_nothing_is_left_of_it_afterwards(user: User, model: Endpoint) -> None:
    model.script = SCRIPT
    before = user.settings()
    # On this machine of many tests the hub takes a port of its own, and is bound to it; a user's has 7331.
    url = json.loads(user.types("peerline", "up", "--json", KXM_PORT="0"))["url"]
    user.types("kxm", "hub", "bind", url)

    told = json.loads(user.types("peerline", "setup", "--json"))
    assert [client["target"] for client in told["clients"]] == ["claude", "codex"]
    with user.looking_on() as comings:
        claude = ["claude", "--permission-mode", "manual", "--allowedTools", TOOLS]
        with Terminal(claude, user.folder, user.environment()):
            assert any("shop is online" in line for line in comings)
            user.types("codex", "exec", "--skip-git-repo-check", "ask the other one")
    assert any(f"│ {REPLY}" in one.conversation.result for one in model.requests), "the answer reached Codex"

    user.types("peerline", "uninstall", "--purge")
    assert user.settings() == before
    assert not (user.home / ".local" / "state").exists()
