"""Where the `kxm` is that clients shall start: an absolute path that stays."""

import os
import shutil
import sys
from pathlib import Path

from peerline.cli.hot_output import Failure
from peerline.cli.setup.client import Env


def installed(env: Env, python: str = sys.executable, program: str = "kxm") -> str:
    """The absolute path of the command (`kxm`) that belongs to this program.

    Raises:
        Failure: there is none, or it stands where the next clean-up removes it.
    """
    beside = Path(python).absolute().parent / program
    on_path = shutil.which(program, path=env.get("PATH", ""))
    if beside.is_file():
        # A link on the PATH outlives a new installation; it has to lead to the very same program.
        same = on_path is not None and os.path.realpath(on_path) == os.path.realpath(beside)
        chosen = on_path if same and on_path is not None else str(beside)
    elif on_path is not None:
        chosen = on_path
    else:
        raise Failure(f"the command {program} is not installed; install it with: uv tool install peerline")
    if "archive-v0" in Path(os.path.realpath(chosen)).parts:
        raise Failure(
            f"{program} runs from uv's cache here, which does not last; install it with: uv tool install peerline"
        )
    return str(Path(chosen).absolute())
