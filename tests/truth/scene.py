"""One sender and one recipient on a real hub, and the processes of theirs that a case needs."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from peerline.cli.hot_paths import key_path
from peerline.client.hub import Hub
from peerline.client.records import Registered
from tests.cli.person_shell import Shell as PersonShell
from tests.cli.test_watch import Watching
from tests.hub_process import KXM, PATIENCE_S, Agent, Answer, HubProcess, Project
from tests.mcp_stdio.session import AgentSession

PAIR_LIMIT: Final = 2
QUEUE_LIMIT: Final = 6
LOOKS: Final = 600
EMPTY: Final = Answer(200, (), b"")
SHORT: Final[dict[str, Any]] = {"ttlMs": 1_000}


@dataclass
class Scene:
    """`lead` asks `reviewer`. Each is what the case makes it: a raw client of the hub, or a session with the real
    `kxm mcp`, `kxm watch` and hooks; `start` gives a hub of the case's own."""

    home: Path
    project: Project
    start: Callable[..., HubProcess]
    found: dict[str, str] = field(default_factory=dict)
    _ticking: tuple[Agent, str] | None = None
    _programs: list[Hub] = field(default_factory=list)
    _sessions: list[AgentSession] = field(default_factory=list)
    _watches: list[Watching] = field(default_factory=list)

    def own_hub(self, **variables: str) -> HubProcess:
        """A hub that this case may kill."""
        hub = self.start(**variables)
        self.project = Project(hub, self.project.name, hub.admin)
        return hub

    def agent(self, name: str, **fields: object) -> Agent:
        """A raw client; commands of this machine's user can be it."""
        agent = self.project.register(name, **fields)
        self.keep_key(agent)
        return agent

    def keep_key(self, agent: Agent) -> None:
        env = {"KXM_STATE_HOME": str(self.home / agent.name / "state")}
        path = Path(key_path(env, self.project.hub.url, self.project.name, agent.name))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(json.dumps({"schema": "kxm.agent-key.v1", "agentId": agent.id, "agentKey": agent.key}))
        path.chmod(0o600)

    def session(self, name: str, client: str = "claude-code", *, user: str = "", **env: str) -> AgentSession:
        """A client's session with `kxm mcp`, registered."""
        variables = {
            "KXM_AGENT_NAME": name, "KXM_AUTH_TOKEN": self.project.token, "CLAUDE_CODE_SESSION_ID": f"{name}-session",
        }  # fmt: skip
        home = self.home / (user or name)
        opened = AgentSession(home, self.project.hub, self.project.name, client=client, **(variables | env))
        self._sessions.append(opened)
        opened.open().call("kxm_list")
        return opened

    def codex(self, name: str, script: str = "exit 0", turn: dict[str, str] | None = None) -> AgentSession:
        """A session that says it is Codex, with a `codex` in its PATH that runs `script`; `turn` names its thread."""
        folder = self.home / name / "bin"
        folder.mkdir(parents=True)
        program = folder / "codex"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        opened = self.session(name, "codex-mcp-client", PATH=f"{folder}:/usr/bin:/bin")
        if turn is not None:
            opened.result("kxm_list", {"x-codex-turn-metadata": turn})
        return opened

    def watch(self, session: AgentSession) -> Watching:
        """The session's monitor, once it has shown that it listens: its `kxm mcp` knows that from a file."""
        watching = Watching(session.env, session.home)
        self._watches.append(watching)
        return watching

    def watched(self, session: AgentSession) -> Watching:
        """A monitor that has printed a first line: it runs."""
        watching = self.watch(session)
        first = self.project.register(f"first-of-{session.env['KXM_AGENT_NAME']}")
        sent = first.send(session.env["KXM_AGENT_NAME"])["id"]
        assert sent in watching.line()
        assert session.call("kxm_reply", messageId=sent, content="first")["status"] == "replied"
        return watching

    def hook(self, session: AgentSession, event: str, client: str = "claude", **told: Any) -> str:
        """Run a hook of that session, as its client does; what it printed."""
        name = session.env["KXM_AGENT_NAME"]
        ran = subprocess.run(
            [*KXM, "hook", event, "--client", client],
            env=session.env | {"KXM_HOOK_WAIT_MS": "10000"},
            cwd=session.home,
            input=json.dumps({"session_id": f"{name}-session", **told}),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
        return ran.stdout

    def shell(self, name: str) -> PersonShell:
        """A terminal of the user whose agent has that name."""
        return PersonShell(
            self.home / name,
            project=self.project.name,
            KXM_AGENT_NAME=name,
            KXM_SERVER_URL=self.project.hub.url,
            KXM_AUTH_TOKEN=self.project.token,
        )

    def peer(self, name: str, *words: str) -> Any:
        """What `kxm peer` prints to that user."""
        ran = subprocess.run(
            [*KXM, "peer", *words],
            env=self.shell(name).env,
            cwd=self.home / name,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def why(self, name: str = "lead", *words: str) -> Any:
        return self.shell(name).told("why", *words)

    def kill(self, session: AgentSession, *watches: Watching) -> None:
        """The client and all of its processes at once, as when its terminal or its machine goes."""
        for watching in watches:
            watching.process.kill()
        session.signal(signal.SIGKILL)

    def pauses(self) -> Iterator[None]:
        """Waits of the hub's own, one a step: for what an adapter writes into a trail beside its work."""
        if self._ticking is None:
            clock = self.project.register("clock")
            self.project.register("clock-face")
            self._ticking = clock, clock.send("clock-face")["id"]
        clock, ticking = self._ticking
        for _ in range(LOOKS):
            yield
            clock.wait(ticking, 50)

    def until_told(self, end: Agent, message_id: str, fact: str, reason: str = "") -> str:
        """Wait until the trail has the fact; looking at a trail is itself no fact."""
        for _ in self.pauses():
            found = trail(end, message_id)["facts"]
            if any(one["fact"] == fact and reason in one.get("detail", "") for one in found):
                return message_id
        raise AssertionError(f"nobody told that it was {fact}: {found}")

    def program(self, name: str) -> Hub:
        """A program with the client library; commands of its user can be its agent."""

        def keep(now: Registered) -> None:
            self.keep_key(Agent(self.project, now.agent.id, name, now.agent_key, EMPTY))

        url, project, token = self.project.hub.url, self.project.name, self.project.token
        started = Hub(url, project=project, name=name, token=token, on_registered=keep)
        started.start()
        self._programs.append(started)
        return started

    def end_of(self, name: str) -> Agent:
        """The agent of that name, whoever it is here, by the key that its user's commands have saved."""
        env = {"KXM_STATE_HOME": str(self.home / name / "state")}
        path = Path(key_path(env, self.project.hub.url, self.project.name, name))
        saved = json.loads(path.read_text())
        return Agent(self.project, saved["agentId"], name, saved["agentKey"], EMPTY)

    def own_session(self, name: str) -> AgentSession:
        """The session of that name: the one that the case has opened, if it still runs, else a new one."""
        for session in self._sessions:
            if session.env["KXM_AGENT_NAME"] == name and session.process.poll() is None:
                return session
        return self.session(name)

    def end(self) -> None:
        for program in self._programs:
            program.stop()
        for watching in self._watches:
            watching.stop()
        for session in self._sessions:
            session.stop()


def sent(lead: Agent, target: str = "reviewer", **fields: Any) -> str:
    return str(lead.send(target, **fields)["id"])


def asked(session: AgentSession, target: str = "reviewer", **fields: Any) -> str:
    return str(session.call("kxm_send", target=target, content="look at this", **fields)["messageId"])


def trail(end: Agent, message_id: str) -> Any:
    answer = end.call("GET", f"/v1/messages/{message_id}/trail")
    assert answer.status == 200, answer.body
    return answer.json
