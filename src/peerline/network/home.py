"""`$KOMNET_HOME`: where one agent of this machine keeps its networks (spec/network.md 5)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from peerline.database.folder import private_folder

AGENTS: Final = "agents"


class Home:
    """One agent's folder. A home `<root>/agents/<id>` is a further agent of the same machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config.yaml"
        self.policy = folder / "policy.yaml"
        self.socket = folder / "daemon.sock"
        self.log = folder / "logs" / "daemon.log"
        self.inbox = folder / "inbox"
        self.gateway = folder / "gateway"

    def network(self, network: str) -> Path:
        return self.folder / "networks" / network

    def agent(self, agent: str) -> "Home":
        return Home(self.folder / AGENTS / agent)

    def agents(self) -> tuple[str, ...]:
        """The further agents that were set up below this home, by name."""
        try:
            found = list((self.folder / AGENTS).iterdir())
        except OSError:
            return ()
        return tuple(sorted(entry.name for entry in found if (entry / "config.yaml").is_file()))

    @property
    def root(self) -> "Home | None":
        """The home that this one lies in, when it is a further agent's."""
        return Home(self.folder.parent.parent) if self.folder.parent.name == AGENTS else None

    @property
    def provisioned(self) -> bool:
        return self.config.is_file()

    def make(self) -> None:
        """Make the folder, private to the user.

        Raises:
            OSError
        """
        private_folder(self.folder)


def machine_home(environ: Mapping[str, str]) -> Home:
    """`KOMNET_HOME`, else `~/.komnet`."""
    named = environ.get("KOMNET_HOME")
    if named:
        return Home(Path(named).absolute())
    return Home((Path(environ["HOME"]) if environ.get("HOME") else Path.home()) / ".komnet")
