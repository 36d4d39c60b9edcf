"""`komnet`: from the words to the command's module, and every refusal to one form."""

import os
from importlib import import_module
from typing import Final

from peerline.cli.hot_output import INTERRUPTED, Failure, write
from peerline.cli.komnet.parse import Call, parse
from peerline.cli.komnet.table import COMMANDS

USAGE: Final = 2


def main(argv: list[str]) -> int:
    """Run `komnet <argv>`; the exit code (spec/network.md 7)."""
    if not argv:
        _help("")
        return USAGE
    call = Call()
    try:
        parse(argv, call)
        if call.flag("--help"):
            _help(call.command)
            return 0
    except Failure as failure:
        from peerline.cli.komnet.desk import refused

        return refused(failure, as_json="--json" in argv)
    return _run(call)


def _help(command: str) -> None:
    from peerline.cli.komnet.help import of_command, of_komnet  # here, like all that most commands have no use for

    write(1, of_command(command) if command else of_komnet())


def _run(call: Call) -> int:
    from peerline.cli.komnet.desk import Desk, refused
    from peerline.core.errors import PeerlineError

    module = import_module(f"peerline.cli.komnet.{COMMANDS[call.command].module}")
    try:
        code: int = module.RUN[call.command](Desk(call, os.environ))
        return code
    except (PeerlineError, Failure) as error:
        return refused(error, as_json=call.as_json)
    except KeyboardInterrupt:
        return INTERRUPTED
