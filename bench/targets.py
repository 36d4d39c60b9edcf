"""What is promised: one row a figure, with the bound that must hold and the one to aim at.

A reading is named by its arm (a system, or a probe of this machine), its load and its metric. P12 (PostgreSQL
store) joins this list with the part that brings it.
"""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """So many pairs of agents at once, so many bytes each way."""

    pairs: int
    body: int = 1024


LOADS: Final = {"1": Load(pairs=1), "8": Load(pairs=8), "64": Load(pairs=64), "8x32k": Load(pairs=8, body=32_768)}


@dataclass(frozen=True, slots=True)
class Reading:
    """`arm.load.metric`; of a probe the load is the name of what it looked at."""

    arm: str
    load: str
    metric: str

    def __str__(self) -> str:
        return f"{self.arm}.{self.load}.{self.metric}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`ours`, or `ours` divided by `theirs` of the same round, is at least (≥) or at most (≤) `must`."""

    id: str
    what: str
    ours: Reading
    bound: Literal["≥", "≤"]
    must: float
    aim: float
    theirs: Reading | None = None
    unit: str = ""

    def holds(self, value: float, bound: float) -> bool:
        return value >= bound if self.bound == "≥" else value <= bound


def _faster(id: str, load: str, peer: str, must: float, aim: float) -> Target:
    ours, theirs = Reading("peerline", load, "rate"), Reading(peer, load, "rate")
    what = f"round trips/s, {_named(load)}, against {NAMES[peer]}"
    return Target(id=id, what=what, ours=ours, theirs=theirs, bound="≥", must=must, aim=aim)


def _lower(id: str, load: str, metric: str, peer: str, must: float, aim: float) -> Target:
    ours, theirs = Reading("peerline", load, metric), Reading(peer, load, metric)
    what = f"{METRICS[metric]}, {_named(load)}, against {NAMES[peer]}"
    return Target(id=id, what=what, ours=ours, theirs=theirs, bound="≤", must=must, aim=aim)


def _named(load: str) -> str:
    pairs, body = LOADS[load].pairs, LOADS[load].body
    return f"{pairs} pair{'s' * (pairs > 1)}" + (f" of {body // 1024} KB" if body != 1024 else "")


def _line(metric: str, must: float, aim: float) -> Target:
    ours, theirs = Reading("notified", "line", "p99"), Reading("notified", "trip", metric)
    what = f"send to the notification line of `kxm mcp`: p99 in ms, against the hub's round trip ({metric})"
    return Target(id="LINE", what=what, ours=ours, theirs=theirs, bound="≤", must=must, aim=aim)


METRICS: Final = {"rate": "round trips/s", "p50": "p50 in ms", "cpu": "server CPU a round trip in µs"}
NAMES: Final = {
    "peerline": "Peerline",
    "nats": "NATS",
    "redis": "Redis",
    "postgres": "PostgreSQL",
    "rabbitmq": "RabbitMQ",
    "a2a": "A2A",
    "naive": "naive hub",
    "stored": "Peerline, preloaded",
    "peerline-slow": "Peerline, slow disk",
    "naive-slow": "naive hub, slow disk",
    "redis-slow": "Redis, slow disk",
    "idle": "10,000 idle streams",
    "start": "hub start",
    "command": "commands",
    "session": "agent sessions",
    "notified": "notification",
    "install": "installation",
    "network": "rooms over Git",
    "between": "two machines of a network",
    "relay": "relay between two machines",
}
PYTHON = Reading("command", "python", "ms")


def _network(what: str, ours: str, theirs: str | None, must: float, aim: float) -> Target:
    other = Reading("network", theirs, "ms") if theirs else None
    unit = "" if theirs else "ms"
    return Target(
        id="P15", what=what, ours=Reading("network", ours, "ms"), theirs=other, bound="≤", must=must, aim=aim, unit=unit
    )


def _between(what: str, ours: Reading, must: float, aim: float, theirs: Reading | None = None) -> Target:
    unit = "ms" if ours.metric == "ms" and theirs is None else ""
    return Target(id="NET", what=what, ours=ours, theirs=theirs, bound="≤", must=must, aim=aim, unit=unit)


def _komnet(what: str, load: str, must: float, aim: float) -> Target:
    python = Reading("between", "python", "ms")
    return _between(
        f"`komnet {what} in ms, against `python3 -c pass`", Reading("between", load, "ms"), must, aim, python
    )


def _relay(what: str, load: str, metric: str, must: float, aim: float) -> Target:
    ours = Reading("relay", load, metric)
    return Target(id="RELAY", what=what, ours=ours, bound="≤", must=must, aim=aim, unit="ms")


TARGETS: Final = (
    _faster("P1", "8", "nats", 2, 3),
    _faster("P1", "64", "nats", 5, 10),
    _lower("P1", "1", "p50", "nats", 1.4, 1.0),
    _faster("P2", "8", "redis", 1.2, 1.7),
    _faster("P2", "64", "redis", 2, 3.5),
    _lower("P2", "1", "p50", "redis", 1.2, 0.9),
    _faster("P3", "8", "postgres", 2.5, 3.4),
    _faster("P3", "64", "postgres", 15, 30),
    _faster("P4", "64", "rabbitmq", 3, 5),
    _faster("P4", "64", "a2a", 50, 100),
    _faster("P4", "64", "naive", 6, 12),
    _lower("P5", "64", "cpu", "nats", 0.4, 0.12),
    _lower("P5", "64", "cpu", "redis", 1.8, 1.0),
    _faster("P6", "8x32k", "nats", 1.6, 2.2),
    _faster("P6", "8x32k", "redis", 1.0, 1.3),
    Target(
        id="P7",
        what="round trips/s, 64 pairs, with 1,000,000 stored messages against none",
        ours=Reading("stored", "64", "rate"),
        theirs=Reading("peerline", "64", "rate"),
        bound="≥",
        must=0.85,
        aim=0.95,
    ),
    Target(
        id="P8",
        what="10,000 idle streams: memory each",
        ours=Reading("idle", "stream", "kb"),
        bound="≤",
        must=10,
        aim=3,
        unit="KB",
    ),
    Target(
        id="P8",
        what="p50 in ms, 8 pairs, with 10,000 idle streams against none",
        ours=Reading("idle", "with", "p50"),
        theirs=Reading("idle", "without", "p50"),
        bound="≤",
        must=1.15,
        aim=1.0,
    ),
    Target(
        id="P9",
        what="hub: start to ready in ms, against `python3 -c pass`",
        ours=Reading("start", "hub", "ms"),
        theirs=Reading("start", "python", "ms"),
        bound="≤",
        must=30,
        aim=15,
    ),
    Target(
        id="P9",
        what="hub: memory idle",
        ours=Reading("start", "hub", "mb"),
        bound="≤",
        must=60,
        aim=35,
        unit="MB",
    ),
    Target(
        id="P9",
        what="hub: memory at 64 pairs",
        ours=Reading("peerline", "64", "mb"),
        bound="≤",
        must=80,
        aim=45,
        unit="MB",
    ),
    Target(
        id="P10",
        what="`kxm --version` in ms, against `python3 -c pass`",
        ours=Reading("command", "version", "ms"),
        theirs=PYTHON,
        bound="≤",
        must=4,
        aim=2.5,
    ),
    Target(
        id="P10",
        what="`kxm peer send` in ms, against `python3 -c pass`",
        ours=Reading("command", "send", "ms"),
        theirs=PYTHON,
        bound="≤",
        must=6,
        aim=3,
    ),
    Target(
        id="P10",
        what="`kxm hook session-start` that names a request, in ms, against `python3 -c pass`",
        ours=Reading("command", "hook", "ms"),
        theirs=PYTHON,
        bound="≤",
        must=6,
        aim=3,
    ),
    Target(
        id="P11",
        what="`kxm mcp`: start to the initialize answer in ms, against the same tools on the MCP SDK",
        ours=Reading("session", "kxm", "ms"),
        theirs=Reading("session", "sdk", "ms"),
        bound="≤",
        must=0.25,
        aim=0.15,
    ),
    Target(
        id="P11",
        what="`kxm mcp`: memory in MB, against the same tools on the MCP SDK",
        ours=Reading("session", "kxm", "mb"),
        theirs=Reading("session", "sdk", "mb"),
        bound="≤",
        must=0.5,
        aim=0.35,
    ),
    _line("p50", must=5, aim=3),
    _line("p99", must=5, aim=1),
    Target(
        id="P13",
        what="install into a fresh environment: time",
        ours=Reading("install", "wheel", "s"),
        bound="≤",
        must=20,
        aim=10,
        unit="s",
    ),
    Target(
        id="P13",
        what="install into a fresh environment: size",
        ours=Reading("install", "wheel", "mb"),
        bound="≤",
        must=60,
        aim=40,
        unit="MB",
    ),
    Target(
        id="P14",
        what="round trips/s, 64 pairs, each fsync 2 ms longer, against the naive hub",
        ours=Reading("peerline-slow", "64", "rate"),
        theirs=Reading("naive-slow", "64", "rate"),
        bound="≥",
        must=12,
        aim=25,
    ),
    Target(
        id="P14",
        what="round trips/s, 64 pairs, each fsync 2 ms longer, against Redis",
        ours=Reading("peerline-slow", "64", "rate"),
        theirs=Reading("redis-slow", "64", "rate"),
        bound="≥",
        must=1,
        aim=1.8,
    ),
    _network("a post to the remote at 10,000 posts, against git add, commit, push", "send", "porcelain", 0.7, 0.5),
    _network("each of 50 posts in one push, against git add, commit, push", "batch", "porcelain", 0.05, 0.02),
    _network("first sync of 2,000 posts, against git fetch and cat-file --batch", "first", "first-git", 4, 2.5),
    _network("send at 10,000 posts in the room against 100", "send", "send-small", 1.3, 1.1),
    Target(
        id="P15",
        what="how a send grows from 100 to 10,000 posts, against a plain `git push` of the same change",
        ours=Reading("network", "send", "growth"),
        theirs=Reading("network", "push", "growth"),
        bound="≤",
        must=1.1,
        aim=1,
    ),
    _network("a send until it is kept for good, at 10,000 posts against 100", "kept", "kept-small", 1.3, 1.1),
    _network("inbox at 10,000 posts in the room against 100", "inbox", "inbox-small", 1.3, 1.1),
    _network("status at 10,000 posts in the room against 100", "status", "status-small", 1.3, 1.1),
    _network("reading the last 50 of 10,000 posts", "read", None, 300, 100),
    _between(
        "send to the other daemon's inbox, from the start of the send: p50", Reading("between", "send", "ms"), 500, 250
    ),
    _between("the same from the answer that it is pushed: p50", Reading("between", "pushed", "ms"), 500, 100),
    _between("a read with the remote away, no daemon: the slowest command", Reading("between", "away", "ms"), 300, 150),
    _between("a read with the remote away, by the daemon", Reading("between", "away-daemon", "ms"), 300, 100),
    _between("idle network: commits", Reading("between", "commits", "count"), 0, 0),
    _between("idle network: `ls-remote` within the shortest interval", Reading("between", "looks", "count"), 1, 1),
    _komnet("--version`", "version", 4, 2.5),
    _komnet("inbox --brief`, no daemon,", "brief", 6, 3),
    _komnet("inbox --brief` by the daemon", "brief-daemon", 6, 3),
    _relay("an agent's reply to the asker on another machine, remote on this machine: p50", "near", "p50", 2_000, 500),
    _relay("the same, remote behind round trips of 150 ms: p95", "far", "p95", 25_000, 15_000),
)
