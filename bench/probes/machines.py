"""Machines of one network, each an agent with a home of its own, an installed `komnet` and, when asked, its daemon."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.probes.rooms import ROOM, git, user
from bench.probes.timing import timed
from bench.servers.process import Process
from peerline.network.daemon.client import DaemonLink

READY: Final = "komnet daemon ready on"
ARMED: Final = "hub=yes"


class Machine:
    """Nothing of it is made before `join`."""

    def __init__(self, folder: Path, komnet: Path, agent: str) -> None:
        self._folder, self._komnet, self.agent = folder, komnet, agent
        home = folder / f"home-{agent}" / ".komnet"
        self.socket = home / "daemon.sock"
        self.env = user(folder, agent) | {"KOMNET_HOME": str(home), "USER": agent}

    def join(self, remote: Path | str, *, first: bool) -> None:
        """Enter the network; the first makes the room that the others follow."""
        self.komnet("init", "--repo", str(remote), "--agent", self.agent)
        self.komnet("room", "create" if first else "join", ROOM)

    def komnet(self, *words: str) -> float:
        """The seconds of one command as a whole process; raises Failed when it refuses."""
        return timed([self._komnet, *words], self.env, self._folder)

    @contextmanager
    def daemon(self, **env: str) -> Iterator[None]:
        """Serves from here to the end; raises NotReady."""
        log = self._folder / f"daemon-{self.agent}.log"
        command = [str(self._komnet), "daemon", "run"]
        with Process(command, log, env=self.env | env) as server:
            server.wait_until(lambda: READY in server.output())
            yield

    @contextmanager
    def gateway(self) -> Iterator[None]:
        """Relays from here to the end, with the hub that `env` names; raises NotReady."""
        log = self._folder / f"gateway-{self.agent}.log"
        with Process([str(self._komnet), "gateway", "run"], log, env=self.env) as server:
            server.wait_until(lambda: ARMED in server.output())
            yield

    @contextmanager
    def link(self) -> Iterator[DaemonLink]:
        link = DaemonLink(self.socket)
        try:
            yield link
        finally:
            link.close()


def bare(folder: Path) -> Path:
    """An empty repository, to be the remote of a network."""
    path = folder / "team.git"
    git("init", "-q", "--bare", "--template=", "-b", "main", str(path), env=user(folder, "founder"))
    return path


def commits(remote: Path) -> int:
    """How many commits all branches of the remote hold together."""
    env = user(remote.parent, "founder")
    return int(git(f"--git-dir={remote}", "rev-list", "--all", "--count", env=env))
