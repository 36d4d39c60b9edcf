"""Two network namespaces joined by a cable that can be cut without a word to either end."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest

HUB_ADDRESS, CLIENT_ADDRESS = "192.0.2.1", "192.0.2.2"  # reserved for documentation: nobody's machine
DIRECTIONS = {"both ways": ("iifname", "oifname"), "to the client": ("oifname",), "to the hub": ("iifname",)}


def skip_unless_possible() -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("network namespaces need root on Linux")
    missing = [tool for tool in ("ip", "nft", "ss") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: apt-get install iproute2 nftables")


def _run(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    hub: str
    client: str

    @property
    def in_hub(self) -> Sequence[str]:
        """Put before a command that is to run at the hub's end."""
        return ("ip", "netns", "exec", self.hub)

    @property
    def in_client(self) -> Sequence[str]:
        return ("ip", "netns", "exec", self.client)

    def cut(self, direction: str) -> None:
        hooks = {"iifname": "input", "oifname": "output"}
        rules = "".join(
            f'chain cut_{hooks[side]} {{\ntype filter hook {hooks[side]} priority 0;\n{side} "cable-*" drop\n}}\n'
            for side in DIRECTIONS[direction]
        )
        subprocess.run([*self.in_hub, "nft", "-f", "-"], input=f"table inet cut {{\n{rules}}}\n", text=True, check=True)

    def mend(self) -> None:
        _run(*self.in_hub, "nft", "delete", "table", "inet", "cut")

    def established(self) -> int:
        """Connections from the client that the hub's kernel still holds open."""
        found = _run(*self.in_hub, "ss", "-Htn", "state", "established", f"dst {CLIENT_ADDRESS}")
        return len(found.splitlines())


@contextmanager
def cable(name: str) -> Iterator[Cable]:
    """Removed at the end, with everything in it."""
    joined = Cable(hub=f"{name}-hub", client=f"{name}-client")
    with ExitStack() as stack:
        for namespace in (joined.hub, joined.client):
            _run("ip", "netns", "add", namespace)
            stack.callback(_run, "ip", "netns", "delete", namespace)
        ends = ((joined.hub, "cable-a", HUB_ADDRESS), (joined.client, "cable-b", CLIENT_ADDRESS))
        first, second = (f"{end}" for _, end, _ in ends)
        _run(
            "ip", "-n", joined.hub, "link", "add", first, "type", "veth", "peer", "name", second, "netns", joined.client
        )
        for namespace, end, address in ends:
            _run("ip", "-n", namespace, "addr", "add", f"{address}/24", "dev", end)
            _run("ip", "-n", namespace, "link", "set", end, "up")
            _run("ip", "-n", namespace, "link", "set", "lo", "up")
        yield joined
