"""Every system of a run by its name: what it needs, how it is started, and its figures in one round."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from bench.environment import slow_disk
from bench.probes.between import Between
from bench.probes.command import Commands
from bench.probes.idle import IdleStreams
from bench.probes.install import Installation
from bench.probes.network import Network
from bench.probes.notified import Notified
from bench.probes.relay import Relay
from bench.probes.session import AgentSessions
from bench.probes.start import Start
from bench.probes.stored import Stored
from bench.run import Run
from bench.servers import asgi, hub, nats, postgres, rabbitmq, redis
from bench.servers.process import Process
from bench.targets import Reading

SLOWER_US: Final = 2000


class Arm(Protocol):
    def packages(self) -> list[str]:
        """Debian packages that are not here yet."""
        ...

    def prepare(self, run: Run) -> None:
        """What is done once, before the first round; raises Missing."""
        ...

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        """Its part of one round."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A server that is started anew, and empty, in each round."""

    name: str
    driver: str
    start: Callable[[Run, Path, dict[str, str]], Process]
    needs: Callable[[], list[str]] = list
    slow: bool = False

    def packages(self) -> list[str]:
        return self.needs()

    def prepare(self, run: Run) -> None:
        if self.slow and not run.slow:
            run.slow = slow_disk(SLOWER_US)

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        found: dict[Reading, float] = {}
        with run.folder() as folder, self.start(run, folder, run.slow if self.slow else {}) as server:
            for load in loads:
                for metric, figure in run.load(self.driver, server, load).items():
                    found[Reading(self.name, load, metric)] = figure
        return found


def _hub(run: Run, folder: Path, env: dict[str, str]) -> Process:
    return hub.start(folder, env, run.product)


def _naive(run: Run, folder: Path, env: dict[str, str]) -> Process:
    return asgi.start(folder, env, run.clients / "python", "naive_hub")


def _redis(run: Run, folder: Path, env: dict[str, str]) -> Process:
    return redis.start(folder, env)


def _redis_package() -> list[str]:
    return [] if shutil.which(redis.PROGRAM) else [redis.PACKAGE]


SYSTEMS: Final[tuple[System, ...]] = (
    System(name="peerline", driver="hub", start=_hub),
    System(name="nats", driver="nats", start=lambda run, folder, env: nats.start(folder, env, run.clients)),
    System(name="redis", driver="redis", start=_redis, needs=_redis_package),
    System(
        name="postgres",
        driver="postgres",
        start=lambda run, folder, env: postgres.start(folder, env),
        needs=lambda: [] if postgres.programs() else [postgres.PACKAGE],
    ),
    System(
        name="rabbitmq",
        driver="rabbitmq",
        start=lambda run, folder, env: rabbitmq.start(folder, env),
        needs=lambda: [] if rabbitmq.installed() else [rabbitmq.PACKAGE],
    ),
    System(
        name="a2a",
        driver="a2a",
        start=lambda run, folder, env: asgi.start(folder, env, run.clients / "python", "a2a_agent"),
    ),
    System(name="naive", driver="hub", start=_naive),
    System(name="peerline-slow", driver="hub", start=_hub, slow=True),
    System(name="naive-slow", driver="hub", start=_naive, slow=True),
    System(name="redis-slow", driver="redis", start=_redis, needs=_redis_package, slow=True),
)

ARMS: Final[dict[str, Arm]] = {
    **{system.name: system for system in SYSTEMS},
    "stored": Stored(),
    "idle": IdleStreams(),
    "start": Start(),
    "command": Commands(),
    "session": AgentSessions(),
    "notified": Notified(),
    "install": Installation(),
    "network": Network(),
    "between": Between(),
    "relay": Relay(),
}
