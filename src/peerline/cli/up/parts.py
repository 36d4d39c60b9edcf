"""The parts that make this machine work: its hub, a daemon for each agent that is in a network, its gateway."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from peerline.cli.at_terminal import AGENT_SHELLS
from peerline.cli.hot_paths import state_root
from peerline.cli.hub.background import LISTENING
from peerline.cli.hub.claim import ask_to_stop, holder
from peerline.core.errors import PeerlineError
from peerline.database.lock import lock_holder
from peerline.gateway.place import GatewayPlace
from peerline.network.config import load_config
from peerline.network.daemon.client import PING_S, DaemonLink, Unreachable
from peerline.network.daemon.protocol import Refusal
from peerline.network.home import Home, machine_home

HUB: Final = "hub"
GATEWAY: Final = "gateway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """`command` starts it, with `env`; what it says goes to `log`, anew at each start with `anew`.

    `runs` is the process that does this part's work now, whoever started it; -1 if that cannot be told. `end` ends that
    one; None where only whoever started it may. `ready`: it does its work, where running is not enough.
    """

    name: str
    command: tuple[str, ...]
    env: Callable[[], dict[str, str]]
    log: Path
    runs: Callable[[], int | None]
    end: Callable[[], None] | None = None
    ready: Callable[[], bool] = lambda: True
    anew: bool = False


def parts(env: Mapping[str, str], *, with_hub: bool) -> list[Part]:
    """What should run on this machine now; a network that was joined meanwhile brings its parts."""
    root = Path(state_root(env))
    found = [_hub(env, root)] if with_hub else []
    home = machine_home(env)
    agents = [one for one in (home, *(home.agent(name) for name in home.agents())) if _in_a_network(one)]
    found += [_daemon(env, one) for one in agents]
    if home in agents:
        found.append(_gateway(env, root, home))
    return found


def networked(env: Mapping[str, str]) -> bool:
    """Whether any agent of this machine is in a network."""
    home = machine_home(env)
    return any(_in_a_network(one) for one in (home, *(home.agent(name) for name in home.agents())))


def _in_a_network(home: Home) -> bool:
    if not home.provisioned:
        return False
    try:
        return bool(load_config(home).networks)
    except PeerlineError:
        return False  # a config that cannot be used: `komnet doctor` says what to do about it


def _hub(env: Mapping[str, str], root: Path) -> Part:
    def runs() -> int | None:
        found = holder(root)
        return found.pid if found else None

    return Part(
        name=HUB,
        command=_command("kxm", "hub", "start"),
        env=lambda: {**_clean(env), "KXM_DAEMON": "1"},
        log=root / "hub.out",
        runs=runs,
        end=lambda: _end_hub(root),
        ready=lambda: hub_url(root) is not None,
        anew=True,
    )


def _daemon(env: Mapping[str, str], home: Home) -> Part:
    name = "daemon" if home.root is None else f"daemon of {home.folder.name}"
    return Part(
        name=name,
        command=_command("komnet", "daemon", "run"),
        env=lambda: {**_clean(env), "KOMNET_HOME": str(home.folder), "KOMNET_AGENT": ""},
        log=home.folder / "logs" / "daemon.out",
        runs=lambda: daemon_pid(home),
        end=lambda: _end_daemon(home),
        anew=True,
    )


def _gateway(env: Mapping[str, str], root: Path, home: Home) -> Part:
    def variables() -> dict[str, str]:
        given = {**_clean(env), "KOMNET_HOME": str(home.folder), "KOMNET_AGENT": ""}
        url = hub_url(root)
        return given if given.get("KXM_SERVER_URL") or url is None else {**given, "KXM_SERVER_URL": url}

    return Part(
        name=GATEWAY,
        command=_command("komnet", "gateway", "run"),
        env=variables,
        log=home.folder / "logs" / "gateway.log",
        runs=lambda: gateway_pid(home),
    )


def hub_url(root: Path) -> str | None:
    """Where the hub of this state folder said that it listens."""
    try:
        said: re.Match[str] | None = LISTENING.search((root / "hub.out").read_text(errors="replace"))
    except OSError:
        return None
    return said[1] if said and holder(root) is not None else None


def daemon_pid(home: Home) -> int | None:
    try:
        link = DaemonLink(home.socket)
        found = link.call("ping", {}, timeout=PING_S)
        link.close()
    except (Unreachable, Refusal, TimeoutError):
        return None
    return int(found.get("pid") or -1) if isinstance(found, dict) else -1


def _end_daemon(home: Home) -> None:
    try:
        link = DaemonLink(home.socket)
        link.call("shutdown", {}, timeout=PING_S)
        link.close()
    except (Unreachable, Refusal, TimeoutError):
        pass


def _end_hub(root: Path) -> None:
    if (found := holder(root)) is not None:
        ask_to_stop(root, found)


def gateway_pid(home: Home) -> int | None:
    """The process, or the session's, that is the gateway of this machine."""
    return lock_holder(GatewayPlace(home).lock)


def _command(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "peerline.cli.hot", *words)


def _clean(env: Mapping[str, str]) -> dict[str, str]:
    """Without what says that an agent's shell or a worker is speaking: these parts outlive it."""
    return {name: value for name, value in env.items() if name not in AGENT_SHELLS}
