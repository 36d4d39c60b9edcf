"""Where the gateway's files lie, and whose reply files a command means: all that a session's start needs of it."""

import os
from pathlib import Path

from peerline.cli.hot_output import usage
from peerline.cli.komnet.desk import Desk
from peerline.core.errors import Conflict
from peerline.gateway.place import GatewayPlace
from peerline.gateway.reply_key import is_reply_key, reply_key


def project_key(desk: Desk) -> str:
    """The reply key of the project that this command speaks for."""
    return project_keys(desk)[0]


def project_keys(desk: Desk) -> tuple[str, ...]:
    """That of the folder as the session spells it, then that of its real path when a link leads there."""
    folder = (
        desk.call.text("--project-dir") or desk.env.get("CLAUDE_PROJECT_DIR") or desk.env.get("PWD") or str(Path.cwd())
    )
    given = desk.call.text("--key") if "--key" in desk.call.given else None
    if given is not None and not is_reply_key(given):
        raise usage("--key must be digits")
    return (given,) if given else tuple(dict.fromkeys((reply_key(folder), reply_key(os.path.realpath(folder)))))


def made_place(desk: Desk) -> GatewayPlace:
    """Raises: Conflict: no gateway ever ran here."""
    place = GatewayPlace(desk.home)
    if not place.made:
        raise Conflict("no gateway has run on this machine yet; its person starts one: komnet gateway run")
    return place
