"""How much waits for a person in the networks of this machine, for commands that have little to do with networks."""

from collections.abc import Mapping

from peerline.core.errors import PeerlineError
from peerline.network.home import machine_home


def waiting_for_me(env: Mapping[str, str]) -> str | None:
    """A line that counts it; None where nothing waits, or the machine is in no network."""
    root = machine_home(env)
    if not root.provisioned and not root.agents():
        return None
    from peerline.cli.waiting import waiting  # here: most machines are in no network, and it loads the whole of one

    try:
        found = len(waiting(env))
    except PeerlineError:
        return None  # `peerline doctor` tells of a config or a file that cannot be used
    if not found:
        return None
    return f"{found} wait{'s' if found == 1 else ''} for you in the networks of this machine: peerline inbox --me"
