"""A machine of a network with a real client on it: a hub, the network's daemon and the gateway, each a process."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.gateway.test_whole_way import KOMNET, Gateway, User
from tests.hub_process import HubProcess, Project, environment
from tests.network.remotes import BareRemote

PROJECT: Final = "shop"


@dataclass(frozen=True, slots=True)
class Machine:
    """`env` is what its user's commands know; it follows the room `build`."""

    hub: HubProcess
    env: dict[str, str]

    def komnet(self, *words: str) -> Any:
        return User(self.env).komnet(*words)

    def posts(self) -> list[Any]:
        """What stands in the room, the oldest first."""
        self.komnet("sync")
        found: list[Any] = self.komnet("read", "build")
        return found

    @contextmanager
    def running(self) -> Iterator[None]:
        """Daemon and gateway, from here to the end."""
        with _daemon(self.env):
            gateway = Gateway(User(self.env))
            try:
                assert "hub=yes" in gateway.line("relay-armed")
                yield
            finally:
                gateway.end()


def machine(home: Path, hub: HubProcess, remote: BareRemote, name: str) -> Machine:
    """Its user is in the network; the first one there opens the room."""
    who = {f"GIT_{who}_{what}": name for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    where = {"KXM_STATE_HOME": hub.environment["KXM_STATE_HOME"], "KXM_SERVER_URL": hub.url}
    Project(hub, PROJECT, hub.admin).register("somebody")  # the hub knows the project when the gateway comes
    found = Machine(hub, environment(home) | who | where | {"USER": name})
    found.komnet("init", "--repo", remote.url, "--agent", name)
    found.komnet("room", "join" if "room/build" in remote.branches() else "create", "build")
    return found


@contextmanager
def _daemon(env: dict[str, str]) -> Iterator[None]:
    command = [*KOMNET, "daemon", "run"]
    with subprocess.Popen(command, env=env, cwd=env["HOME"], stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        assert "ready" in daemon.stdout.readline()
        try:
            yield
        finally:
            daemon.terminate()
