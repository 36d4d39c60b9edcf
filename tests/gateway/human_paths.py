"""Every way on which software could answer, hand on or drain what needs a human; each with the real program behind it.

Alice asks on one of the ways; on bob's machine run a daemon, `komnet mcp` and a gateway with a session that serves the
room, and all of them try.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from peerline.core.post import AuthorKind, Kind, Needs, Post
from peerline.core.ulid import Ulids
from peerline.gateway import resolving
from peerline.gateway.journal import Journal
from peerline.gateway.place import GatewayPlace
from peerline.gateway.relay import Relay
from peerline.gateway.sessions import Sessions
from peerline.network.config import default_identity
from peerline.network.daemon.client import DaemonLink
from peerline.network.daemon.protocol import Refusal
from peerline.network.direct import DirectCalls
from peerline.network.engine import Engine
from peerline.network.home import Home
from peerline.network.inbox import InboxQuery
from peerline.network.joining import enter
from peerline.wire.post_file import post_path, write_post
from tests.gateway.hub import PROJECT, Line, gateway_on, session
from tests.gateway.stage import Hub
from tests.gateway.test_whole_way import KOMNET, User
from tests.hub_process import PATIENCE_S, HubProcess, Project
from tests.network.nodes import environment, now
from tests.network.remotes import BareRemote

NET, ROOM, QUESTION = "net", "build", "may we refund?"


class Tools:
    """`komnet mcp` as a process."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [*KOMNET, "mcp"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._count = 0
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})

    def ask(self, method: str, **params: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._count += 1
        request = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer.get("result", {"isError": True, **answer})

    def tool(self, name: str, **arguments: Any) -> Any:
        return self.ask("tools/call", name=name, arguments=arguments)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


@dataclass
class Machine:
    """One user's: `direct` are the operations in this process, the others are processes of their own."""

    agent: str
    home: Home
    env: dict[str, str]
    direct: DirectCalls
    tools: Tools
    user: User
    said: list[str] = field(default_factory=list)

    @property
    def engine(self) -> Engine:
        return self.direct.session(NET).engine

    @property
    def place(self) -> GatewayPlace:
        return GatewayPlace(self.home)

    def journal(self) -> Journal:
        return Journal(self.place.journal)

    def relay(self, sessions: Sessions) -> Relay:
        self.place.make()
        return Relay(
            self.place,
            self.journal(),
            lambda: {NET: self.engine},
            sessions,
            now=now,
            entropy=os.urandom,
            tell=lambda row, why: None,
            say=self.said.append,
        )

    def call(self, method: str, **params: Any) -> Any:
        """Over the daemon's socket."""
        link = DaemonLink(self.home.socket)
        try:
            return link.call(method, params, NET)
        finally:
            link.close()


@dataclass
class World:
    remote: BareRemote
    alice: Machine
    bob: Machine
    hub: HubProcess
    line: Line
    ops: Hub = field(default_factory=lambda: Hub(here={"ops"}))

    def posts(self) -> list[Post]:
        """What the room holds, as alice sees it."""
        self.alice.engine.sync()
        return [stored.post for stored in self.alice.engine.history(ROOM)]

    def asked(self, send: Callable[[], bool]) -> str | None:
        """The id of what `send` put into the room; None: it was refused, and nothing is there."""
        before = {post.id for post in self.posts()}
        taken = send()
        new = [post for post in self.posts() if post.id not in before]
        assert len(new) <= 1
        assert taken or not new, "refused and sent all the same"
        return new[0].id if new else None


@contextmanager
def machine(tmp: Path, remote: BareRemote, agent: str, **variables: str) -> Iterator[Machine]:
    home = Home(tmp / agent / ".komnet")
    env = environment(tmp / agent, agent) | variables
    about: dict[str, Any] = {"now": now, "entropy": os.urandom, "environ": env}
    enter(home, default_identity(agent, agent, "UTC"), remote=remote.url, network=NET, **about)
    direct = DirectCalls(home, **about)
    direct.call("roomCreate" if agent == "alice" else "roomJoin", {"room": ROOM}, NET)
    with subprocess.Popen([*KOMNET, "daemon", "run"], env=env, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        assert "ready" in daemon.stdout.readline()
        tools = Tools(env)
        try:
            yield Machine(agent, home, env, direct, tools, User(env))
        finally:
            tools.close()
            daemon.terminate()


@contextmanager
def world(tmp: Path) -> Iterator[World]:
    with ExitStack() as stack:
        remote = BareRemote(tmp / "team.git")
        hub = HubProcess(tmp / "hub").start()
        stack.callback(hub.stop)
        with session(hub, "asker"):
            pass
        alice = stack.enter_context(machine(tmp, remote, "alice"))
        bob = stack.enter_context(machine(tmp, remote, "bob"))
        line = stack.enter_context(gateway_on(hub, alice.place.folder))
        made = World(remote, alice, bob, hub, line)
        bob.relay(made.ops).adopt()
        bob.journal().write(lambda tx: tx.subscribe("ops", ROOM, default=True))
        yield made


# How a need is spelled: in JSON, on a command line, and in the header of a post.
SPELLINGS: Final[Mapping[str, tuple[Any, str, str]]] = {
    "human": ("human", "human", "human"),
    "capital": ("Human", "Human", "Human"),
    "upper-case": ("HUMAN", "HUMAN", "HUMAN"),
    "blanks": (" human ", " human ", '" human "'),
    "quoted": ("'human'", "'human'", "'human'"),
    "unknown": ("person", "person", "person"),
    "list": (["human"], '["human"]', "[human]"),
    "number": (1, "1", "1"),
    "empty": ("", "", "null"),
    "look-alike": ("hum\u0430n", "hum\u0430n", "hum\u0430n"),
}


def by_http(world: World, spelling: str) -> str | None:
    asker = Project(world.hub, PROJECT, world.hub.admin).register(f"asker-http-{spelling}")
    body = {"target": f"bob@{ROOM}", "content": QUESTION, "needs": SPELLINGS[spelling][0]}
    return world.asked(lambda: _relayed(world, asker.call("POST", "/v1/messages", body).status == 202))


def by_hub_tools(world: World, spelling: str) -> str | None:
    import anyio

    from tests.server.test_mcp_http import connected

    async def send() -> bool:
        project = Project(world.hub, PROJECT, world.hub.admin)
        async with connected(project, f"project={PROJECT}&agent=asker-mcp-{spelling}") as client:
            arguments = {"target": f"bob@{ROOM}", "content": QUESTION, "needs": SPELLINGS[spelling][0]}
            return not (await client.call_tool("kxm_send", arguments)).is_error

    return world.asked(lambda: _relayed(world, anyio.run(send)))


def _relayed(world: World, taken: bool) -> bool:
    """What the hub took goes through alice's gateway."""
    if taken:
        world.line.wait(lambda: bool(world.line.sessions.asked()))
        world.alice.relay(world.line.sessions).step()
    return taken


def by_network_tools(world: World, spelling: str) -> str | None:
    arguments = {"room": ROOM, "question": QUESTION, "mentions": ["bob"], "needs": SPELLINGS[spelling][0]}
    return world.asked(lambda: not world.alice.tools.tool("komnet_ask", **arguments).get("isError"))


def by_socket(world: World, spelling: str) -> str | None:
    made = {"body": QUESTION, "kind": "question", "mentions": ["bob"], "needs": SPELLINGS[spelling][0]}

    def send() -> bool:
        try:
            world.alice.call("send", room=ROOM, input=made)
        except Refusal:
            return False
        return True

    return world.asked(send)


def by_command(world: World, spelling: str) -> str | None:
    words = [*KOMNET, "ask", ROOM, QUESTION, "--mention", "bob", "--needs", SPELLINGS[spelling][1]]

    def send() -> bool:
        done = subprocess.run(words, env=world.alice.env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert b"Traceback" not in done.stderr
        return done.returncode == 0

    return world.asked(send)


def by_request_file(world: World, spelling: str) -> str | None:
    request = {"session": "backend", "replyKey": "42", "room": ROOM, "body": QUESTION, "queuedAt": "x", "to": "bob"}
    request["needs"] = SPELLINGS[spelling][0]
    name = f"{os.urandom(8).hex()}.json"

    def send() -> bool:
        world.alice.place.make()
        (world.alice.place.requests / name).write_text(json.dumps(request))
        world.alice.relay(world.line.sessions).step()
        result = json.loads((world.alice.place.results / name).read_text())
        return bool(result["state"] == "sent")

    return world.asked(send)


def by_post_file(world: World, spelling: str) -> str | None:
    """A stranger to all our programs writes it into the repository; None: nobody can read it, and that is said."""
    path, data, id = _post(Needs.HUMAN)
    changed = data.replace(b"\nneeds: human\n", f"\nneeds: {SPELLINGS[spelling][2]}\n".encode())
    world.remote.commit(f"room/{ROOM}", {path: changed}, email="alice@example.test")
    world.bob.call("sync")
    if world.bob.engine.find(id) is None:
        assert path in [one.path for one in world.bob.engine.troubles()], "unreadable and nobody is told"
        return None
    return id


def by_edited_file(world: World, spelling: str) -> str | None:
    """It needed a human; later somebody edits the file."""
    path, data, id = _post(Needs.HUMAN)
    world.remote.commit(f"room/{ROOM}", {path: data}, email="alice@example.test")
    world.bob.call("sync")
    for need in (SPELLINGS[spelling][2], "agent", "none"):
        changed = data.replace(b"\nneeds: human\n", f"\nneeds: {need}\n".encode())
        world.remote.commit(f"room/{ROOM}", {path: changed}, email="alice@example.test")
        world.bob.call("sync")
    return id


def by_gateways_record(world: World, spelling: str) -> str | None:
    """What another version of the gateway, or another program, wrote into the journal."""
    id = world.alice.engine.send(_draft("agent")).post.id
    world.bob.call("sync")
    facts = {"seq": 0, "room": ROOM, "sender": "alice", "thread": id, "at": now()}
    need = SPELLINGS[spelling][0]
    text = need if isinstance(need, str) else json.dumps(need)
    world.bob.journal().write(lambda tx: tx.add_item(NET, id, needs=text, **facts))
    return id


PATHS: Final[Mapping[str, Callable[[World, str], str | None]]] = {
    "http": by_http,
    "hub-mcp-tools": by_hub_tools,
    "komnet-mcp-tools": by_network_tools,
    "unix-socket": by_socket,
    "cli-without-terminal": by_command,
    "request-file": by_request_file,
    "post-file-in-git": by_post_file,
    "edited-post-file-in-git": by_edited_file,
    "gateway-resolve-drain": by_gateways_record,
}
_ULIDS: Final = Ulids(now, os.urandom)


def _draft(needs: str) -> Any:
    from tests.network.nodes import written

    return written(QUESTION, "bob", kind="question", needs=needs)


def _post(needs: Needs) -> tuple[str, bytes, str]:
    id = _ULIDS.next()
    post = Post(
        id=id, thread=id, room=ROOM, sender="alice", author=AuthorKind.AGENT, ts=now(), kind=Kind.QUESTION,
        needs=needs, mentions=("bob",), body=QUESTION,
    )  # fmt: skip
    return post_path(post), write_post(post), id


def refused_by_the_gateway(world: World, id: str) -> None:
    """Two passes of the relay, and everything that a session can say of the item."""
    bob = world.bob
    relay = bob.relay(world.ops)
    relay.step()
    relay.step()
    journal, at = bob.journal(), now()
    row = journal.read(lambda tx: tx.item(id))
    assert row is not None
    assert row.state == "waits-for-person"
    for attempt in (
        lambda: resolving.hand_to(journal, id, "ops", "42", at),
        lambda: resolving.record_push(journal, id, "success", at),
        lambda: resolving.file_reply(journal, bob.place, id, "text", at),
        lambda: resolving.dismiss(journal, id, at),
        lambda: resolving.drain(journal, bob.place, bob.engine, id, at),
    ):
        with pytest.raises(resolving.ForAPerson):
            attempt()


def refused_elsewhere(world: World, id: str) -> None:
    """The answers and drains of every other running program."""
    bob = world.bob
    with pytest.raises(Refusal) as refusal:
        bob.call("answer", messageId=id, body="yes")
    assert refusal.value.code == "NEEDS_HUMAN"
    assert [one["id"] for one in bob.call("inboxDrain", ids=[id])["awaitingHuman"]] == [id]
    bob.call("inboxDrain", rooms=[ROOM])
    assert bob.tools.tool("komnet_answer", messageId=id, body="yes")["isError"]
    bob.tools.tool("komnet_inbox", ids=[id])
    bob.tools.tool("komnet_inbox", drain=True)


def refused_by_commands(world: World, id: str) -> None:
    """Typed where no person sits at a terminal."""
    run = world.bob.user.run
    for words in (["answer", id, "yes"], ["answer", id, "yes", "--as-human"], ["gateway", "drain", id]):
        run(*KOMNET, *words, code=1)
    run(*KOMNET, "gateway", "resolve", id, "--to", "ops", code=1)
    run(*KOMNET, "inbox", "--drain")


def untouched(world: World, id: str) -> None:
    """It waits, nobody answered it, and no session has it."""
    bob = world.bob
    bob.call("sync")
    assert id in [item.post.id for item in bob.engine.inbox(InboxQuery(), showing=False).items]
    assert bob.engine.answer_of(id, "bob") is None
    assert [key for key in world.ops.pushed if id in key] == []
    assert list(bob.place.replies.rglob(f"{id}--*")) == []
