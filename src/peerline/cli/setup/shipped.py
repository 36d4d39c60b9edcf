"""What clients are pointed at: the plugins, inside the installed package or in the checkout that runs."""

from pathlib import Path

import peerline
from peerline.cli.hot_output import Failure


def marketplace() -> Path:
    """The folder that holds them all, laid out as in the repository.

    Raises:
        Failure: this installation has none.
    """
    package = Path(peerline.__file__).parent
    for place in (package / "marketplace", *package.parents[1:2]):
        if (place / ".claude-plugin" / "marketplace.json").is_file():
            return place
    raise Failure("the clients' plugins are not in this installation; install it with: uv tool install peerline")


def plugin(name: str) -> Path:
    """The folder of one plugin.

    Raises:
        Failure: this installation has none.
    """
    return marketplace() / "plugins" / name
