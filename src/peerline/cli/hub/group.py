"""`kxm hub`: a file for each command."""

from typing import Final

import click

from peerline.cli.options import LazyGroup

COMMANDS: Final = {
    "start": ("peerline.cli.hub.start:start", "Run the hub, in the foreground or in the background."),
    "stop": ("peerline.cli.hub.stop:stop", "Ask the running hub to stop, and wait until it has."),
    "view": ("peerline.cli.hub.view:view", "Whether the hub is healthy and ready."),
    "token": ("peerline.cli.hub.token:token", "Create, list, rotate and revoke project tokens."),
    "bind": ("peerline.cli.hub.bind:bind", "Choose the hub that this machine talks to."),
    "unbind": ("peerline.cli.hub.bind:unbind", "Go back to the hub on this machine."),
}


@click.group("hub", cls=LazyGroup, lazy=COMMANDS)
def hub() -> None:
    """Run the hub, and choose the one this machine talks to."""
