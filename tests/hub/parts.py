"""A hub's parts without a server: a real SQLite store, commits in place, time and chance in the test's hands."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from peerline.core.access import Access
from peerline.core.agent import PERSON_PURPOSE, Agent
from peerline.core.brake import Brake, pair
from peerline.core.draft import Draft
from peerline.core.ids import AgentId, Millis
from peerline.core.limits import PAIR_WINDOW_MS
from peerline.core.message import Message
from peerline.core.rate import RateWindow
from peerline.database.checkpoint import Checkpoints
from peerline.database.committer import Inline
from peerline.database.connection import open_writer, prepare
from peerline.database.migrations import migrate
from peerline.database.writer import Writer
from peerline.hub.agents import Agents, Registered, Registration
from peerline.hub.clock import HubClock
from peerline.hub.facts import Facts
from peerline.hub.feeds import Feed
from peerline.hub.journal import Journal, Line
from peerline.hub.leases import Leases
from peerline.hub.messages import Messages
from peerline.hub.pairs import Pairs
from peerline.hub.projects import Projects
from peerline.hub.sweeper import Sweeper
from peerline.hub.wakeups import Wakeups
from peerline.store.api import Hint, Store, Tables
from peerline.store.migrations import MIGRATIONS

START_S = 1_800_000_000.0
LEASE_MS = 30_000
RETENTION_MS = 604_800_000


class Time:
    """Both clocks of a machine; `step` moves both, `jump` the wall clock alone."""

    def __init__(self) -> None:
        self.wall_s, self.monotonic_s = START_S, 100.0

    def step(self, seconds: float) -> None:
        self.wall_s += seconds
        self.monotonic_s += seconds

    def jump(self, seconds: float) -> None:
        self.wall_s += seconds


class Counting:
    """Bytes that differ each time and are the same in each run."""

    def __init__(self) -> None:
        self._numbers: Iterator[int] = count(1)

    def __call__(self, size: int) -> bytes:
        return next(self._numbers).to_bytes(size, "big")


class Screen:
    """The end of a stream: what was written, and a transport that can be full."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.paused = False
        self.ended = False
        self.pause_after: int | None = None

    def write(self, *pieces: bytes) -> None:
        self.written.append(b"".join(pieces))
        if self.pause_after is not None and len(self.written) >= self.pause_after:
            self.paused = True

    def close(self) -> None:
        self.ended = True

    def frames(self, kind: str) -> list[str]:
        """The data lines of the frames of that kind."""
        texts = [data.decode() for data in self.written]
        return [t.split("\ndata: ", 1)[1].strip() for t in texts if t.startswith(f"event: {kind}\n")]

    def tokens(self) -> list[int]:
        texts = [data.decode() for data in self.written if data.startswith(b"event:")]
        return [int(t.split("\nid: ", 1)[1].split("\n", 1)[0]) for t in texts]


class Parts:
    def __init__(
        self, folder: Path | None, time: Time | None = None, queue_limit: int = 1_000, pair_limit: int = 0
    ) -> None:
        path = ":memory:" if folder is None else str(folder / "hub.db")
        if folder is not None:
            prepare(folder / "hub.db")
        self.time = time or Time()
        self.connection = open_writer(path)
        migrate(self.connection, MIGRATIONS)
        self.clock = HubClock(lambda: self.time.wall_s, lambda: self.time.monotonic_s)
        self.wakeups = Wakeups()
        self.tables = Tables(self._committed)
        self.checkpoints = Checkpoints(path, background=False)
        self.writer = Writer(self.connection, self.checkpoints, Inline(), self.tables)
        self.store = Store(self.writer, self.tables)
        self.lines: list[Line] = []
        self.journal = Journal(self.lines.append, self.clock.now)
        entropy = Counting()
        self.agents = Agents(self.store, self.wakeups, self.journal, self.clock, entropy, LEASE_MS)
        self.agents.load(
            self.store.write(lambda tx: tx.agents.all()).result(),
            self.store.write(lambda tx: tx.agents.sessions()).result(),
        )
        self.facts = Facts(self.store, self.clock.now)
        self.brake = Brake(pair_limit, PAIR_WINDOW_MS)
        self.pairs = Pairs(self.store, self.agents, self.journal, self.brake, self.clock.now, self.clock.monotonic)
        held = self.store.write(lambda tx: tx.messages.held(self.clock.now())).result()
        self.pairs.load([pair(row[1], row[2]) for row in held])
        self.messages = Messages(
            self.store,
            self.agents,
            self.wakeups,
            self.facts,
            self.journal,
            self.clock.now,
            entropy,
            queue_limit,
            self.pairs,
        )
        self.access = Access("admin", {}, loopback=True)
        self.projects = Projects(self.store, self.access, self.wakeups, self.journal, self.clock.now, entropy)
        self.leases = Leases(self.store, self.journal, self.clock.now)
        self.sweeper = Sweeper(
            self.messages,
            self.agents,
            self.leases,
            self.projects,
            self.facts,
            self.clock,
            RateWindow(600, 60_000),
            RETENTION_MS,
            self.store,
        )

    def _committed(self, hints: list[Hint]) -> None:
        self.wakeups.fire(hints)
        self.journal.committed(hints)

    def register(
        self, name: str, project: str = "demo", resume: str | None = None, host: str | None = None
    ) -> Registered:
        return self.agents.register(Registration(name, "tests", project, None, host, resume)).result()

    def agent(self, name: str, project: str = "demo") -> Agent:
        return self.register(name, project).agent

    def person(self, name: str, project: str = "demo") -> Agent:
        asked = Registration(name, PERSON_PURPOSE, project, None, None, None)
        return self.agents.register(asked).result().agent

    def send(self, sender: Agent, target: str, body: str = "do it", **fields: object) -> Message:
        return self.messages.send(sender, draft(target, body, **fields)).result()[0]

    def now(self) -> Millis:
        return self.clock.now()

    def watch(self, agent: Agent, resume_after: int | None = None, screen: Screen | None = None) -> tuple[Feed, Screen]:
        """Open a stream of `agent`."""
        screen = screen or Screen()
        feed = Feed(
            agent, self.store, self.facts, key=b"key", token_digest=b"token", resume_after=resume_after, notes=True
        )
        self.wakeups.add(feed)
        feed.open(screen, lambda: b"{}")
        return feed, screen

    def leave(self, feed: Feed) -> None:
        self.wakeups.discard(feed)
        feed.closed()

    def restarted(self, folder: Path) -> "Parts":
        """The hub after a stop: what was not stored is gone."""
        self.agents.flush()
        self.facts.flush()
        self.connection.close()
        return Parts(folder, self.time, pair_limit=self.brake.limit)


def draft(target: str, body: str = "do it", **fields: object) -> Draft:
    values: dict[str, object] = {
        "target": target,
        "body": body,
        "delivery": "followUp",
        "hops": 0,
        "max_hops": 5,
        "ttl_ms": 86_400_000,
        "allow_offline": False,
        "correlation_id": None,
        "reply_to": None,
        "idempotency_key": None,
    }
    return Draft(**(values | fields))  # type: ignore[arg-type]


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


__all__ = ["AgentId", "Parts", "Screen", "Time", "draft", "ids"]
