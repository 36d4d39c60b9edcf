"""Where `kxm`, `komnet` and `peerline` start: the commands that are called often run without click.

`--version`, `kxm peer …` and `kxm hook …` go to small modules that import next to nothing; a test holds the list.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def kxm() -> None:
    """Exit with the code of `kxm <arguments>`."""
    raise SystemExit(_guarded(_kxm, sys.argv[1:]))


def komnet() -> None:
    """Exit with the code of `komnet <arguments>`."""
    raise SystemExit(_guarded(_komnet, sys.argv[1:]))


def peerline() -> None:
    """Exit with the code of `peerline <arguments>`."""
    raise SystemExit(_guarded(_peerline, sys.argv[1:]))


def _kxm(argv: list[str]) -> int:
    if argv and argv[0] in ("--version", "-V"):
        return _version("kxm")
    at = _noun(argv)
    if at is not None and argv[at] == "peer":
        from peerline.cli.hot_peer import run

        return run(argv[:at] + argv[at + 1 :])
    if at is not None and argv[at] == "hook":
        from peerline.cli.hot_hook import run as hook

        return hook(argv[at + 1 :])
    if at is not None and argv[at] == "mcp":
        from peerline.cli.mcp import run as mcp

        return mcp(argv[:at] + argv[at + 1 :])
    if at is not None and argv[at] == "watch":
        from peerline.cli.watch import run as watch

        return watch(argv[:at] + argv[at + 1 :])
    from peerline.cli.kxm import main

    return main(argv)


def _komnet(argv: list[str]) -> int:
    if argv and argv[0] in ("--version", "-V"):
        return _version("komnet")
    import gc

    gc.set_threshold(50_000)  # loading modules makes no garbage: looking for it takes a twentieth of a short command
    from peerline.cli.komnet.app import main

    return main(argv)


def _peerline(argv: list[str]) -> int:
    if argv and argv[0] in ("--version", "-V"):
        return _version("peerline")
    from peerline.cli.person import main

    return main()


def _noun(argv: list[str]) -> int | None:
    """Where the first word stands that is neither a global option nor its value."""
    skip = False
    for at, word in enumerate(argv):
        if skip:
            skip = False
        elif not word.startswith("-"):
            return at
        else:
            skip = word in ("--workspace", "--as", "--project", "--server")
    return None


def _version(command: str) -> int:
    from peerline import __version__

    if sys.stdout is None:
        return 1
    sys.stdout.write(f"{command} {__version__}\n")
    sys.stdout.flush()
    return 0


def _guarded(command: "Callable[[list[str]], int]", argv: list[str]) -> int:
    try:
        code = command(argv)
        if sys.stdout is not None:
            sys.stdout.flush()  # here and not at the interpreter's end, where it would be a complaint
        return code
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return _failed(error)


def _failed(error: OSError) -> int:
    """stdout did not take a help text, or a file is not as it should be: one line, no traceback."""
    if error.filename is None:
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python tries once more at its end
        if isinstance(error, BrokenPipeError):
            return 141
    what = "the output could not be written" if error.filename is None else f"{error.filename} cannot be used"
    try:
        sys.stderr.write(f"{what}: {error.strerror}\n")
    except (OSError, AttributeError):
        pass
    return 1


if __name__ == "__main__":
    _named = {"kxm": kxm, "komnet": komnet, "peerline": peerline}
    if len(sys.argv) < 2 or sys.argv[1] not in _named:
        raise SystemExit("usage: python -m peerline.cli.hot kxm|komnet|peerline ...")
    del sys.argv[0]
    _named[sys.argv[0]]()
