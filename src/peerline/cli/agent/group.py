"""`kxm agent`: agents that no person sits at."""

from typing import Final

import click

from peerline.cli.options import LazyGroup

COMMANDS: Final = {
    "worker": ("peerline.cli.agent.worker:worker", "Supervise a client that answers requests unattended."),
}


@click.group("agent", cls=LazyGroup, lazy=COMMANDS)
def agent() -> None:
    """Run agents that answer their peers without a person."""
