"""RELAY: from an agent's reply on one machine to the event that wakes the asker on another: hub, gateway, daemon and
Git on both. A remote on this machine, and one behind round trips of 150 ms."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Final

from bench.probes.machines import Machine, bare
from bench.probes.rooms import ROOM
from bench.run import Failed, Run
from bench.servers import git_https, hub
from bench.servers.delayed import delayed
from bench.targets import Reading
from peerline.client.events import Event
from peerline.client.hub import Hub
from peerline.core.errors import PeerlineError
from peerline.network.daemon.client import Unreachable

ROUNDS: Final = 24
ROUND_TRIP_S: Final = 0.15
PROJECT: Final = "bench"
FAR: Final = "answerer"
BODY: Final = "x" * 1024
WITHIN_S: Final = 60.0


class Relay:
    """Console scripts of the installed wheel, in whole processes; the two agents are clients of this one."""

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        pass

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        rounds = 3 if run.quick else ROUNDS
        found: dict[Reading, float] = {}
        for load in REMOTES:
            with run.folder() as folder:
                try:
                    found |= measured(folder, run.product, load, rounds)
                except (Unreachable, PeerlineError) as error:
                    raise Failed(str(error)) from error
        return found


def measured(folder: Path, programs: Path, load: str, rounds: int) -> dict[Reading, float]:
    """Milliseconds over so many rounds; `load` says where the remote is: near or far."""
    with REMOTES[load](folder) as (remote, around), ExitStack() as machines:
        made = [_machine(machines, folder, programs, name, around) for name in ("anna", "bert")]
        for number, (machine, _) in enumerate(made):
            machine.join(remote, first=number == 0)
        (asking, near), (serving, far) = made
        serving.komnet("gateway", "prepare")
        serving.komnet("gateway", "subscribe", FAR, ROOM, "--default")
        with near, far:
            for machine in (asking, serving):
                machines.enter_context(machine.daemon())
                machines.enter_context(machine.gateway())
            took = _rounds(near, far, f"{serving.agent}@{ROOM}", serving, rounds + 1)[1:]
    return {Reading("relay", load, f"p{share}"): quantile(took, share) * 1000 for share in (50, 95)}


def quantile(values: Sequence[float], share: int) -> float:
    """The smallest value that so many percent of the values do not exceed."""
    return sorted(values)[max(0, ceil(share * len(values) / 100) - 1)]


def _machine(stack: ExitStack, folder: Path, programs: Path, name: str, around: dict[str, str]) -> tuple[Machine, Hub]:
    """A machine with a hub, and the agent that works there."""
    place = folder / name
    place.mkdir()
    server = stack.enter_context(hub.start(place, {}, programs))
    machine = Machine(place, programs / "komnet", name)
    home = Path(machine.env["HOME"])
    for file, text in around.items():
        (home / file).write_text(text)
    machine.env |= {key: value for key, value in hub.user(place, server, name).items() if key.startswith("KXM_")}
    url = f"http://127.0.0.1:{server.address['port']}"
    agent = FAR if name == "bert" else "asker"
    return machine, Hub(url, project=PROJECT, name=agent, token=hub.TOKEN)


def _rounds(near: Hub, far: Hub, target: str, serving: Machine, rounds: int) -> list[float]:
    """Seconds from the start of each reply to the asker's event."""
    took = []
    with closing(near.events()) as asker, closing(far.events()) as answerer, ThreadPoolExecutor(2) as ears:
        for number in range(rounds):
            replied = ears.submit(_heard, asker, f"answer {number}: ")
            arrived = ears.submit(_heard, answerer, f"question {number}: ")
            near.send(target, f"question {number}: {BODY}")
            _hurried(arrived, serving)
            began = perf_counter()
            far.reply(arrived.result()[1], f"answer {number}: {BODY}")
            took.append(replied.result(WITHIN_S)[0] - began)
    return took


def _heard(events: Iterator[Event], words: str) -> tuple[float, str]:
    """When the stream brought the message, or the reply, with these words; and the message's id."""
    for happened in events:
        message = happened.message
        if message is not None and words in (message.reply.content if message.reply else message.content):
            return perf_counter(), message.id
    raise Failed("a stream ended")


def _hurried(arrived: "Future[tuple[float, str]]", serving: Machine) -> None:
    """The way out is not measured, so that the serving side need not wait for its daemon's next look."""
    with serving.link() as link:
        for _ in range(round(WITHIN_S)):
            if wait([arrived], timeout=1.0).done:
                return
            link.call("sync", {})
    raise Failed(f"no question arrived within {WITHIN_S:.0f} s")


@contextmanager
def _near(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    yield str(bare(folder)), {}


@contextmanager
def _far(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """HTTPS as a host serves it; the connection's set-up and TLS cost their round trips too."""
    served = folder / "served"
    served.mkdir()
    name = bare(served).name
    made = git_https.certificate(folder)
    trusted = f"[http]\n\tsslCAInfo = {folder / 'certificate.pem'}\n"
    with git_https.start(served, made) as server, delayed(server.address["port"], ROUND_TRIP_S) as port:
        yield f"https://{git_https.HOST}:{port}/{name}", {".gitconfig": trusted}


REMOTES: Final = {"near": _near, "far": _far}
