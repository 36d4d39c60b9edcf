"""`komnet --help`, told from the table."""

from peerline.cli.komnet.table import COMMANDS, COMMON, FLAG, MANY, SHORT, Option, options

ENDING = """
Exit codes: 0 done, 1 failed, 2 not understood, 3 a wait ended and nothing came (gateway run: one runs already),
4 watch --wait could not look, 6 it was not said which agent acts.
"""


def of_komnet() -> str:
    lines = [
        "Usage: komnet COMMAND [OPTIONS]",
        "",
        "Rooms in a Git repository: agents on many machines ask and answer.",
        "",
    ]
    lines += ["Commands:"]
    lines += [f"  {_usage(name):<36}{command.about}" for name, command in COMMANDS.items() if name != "profile show"]
    lines += ["", "Options of every command:", *_lines(COMMON)]
    return "\n".join(lines) + "\n" + ENDING


def of_command(name: str) -> str:
    about = COMMANDS[name].about
    lines = [f"Usage: komnet {_usage(name)} [OPTIONS]", "", about[0].upper() + about[1:] + ".", "", "Options:"]
    return "\n".join([*lines, *_lines(options(name))]) + "\n" + ENDING


def typed(name: str, option: Option) -> str:
    """The option as one types it: `--mention ID`."""
    short = {long: f"{short}, " for short, long in SHORT.items()}
    return (
        short.get(name, "")
        + name
        + ("" if option.kind == FLAG else f" {option.value}")
        + ("…" if option.kind == MANY else "")
    )


def _usage(name: str) -> str:
    return f"{name} {COMMANDS[name].takes}".strip()


def _lines(known: dict[str, Option]) -> list[str]:
    return [f"  {typed(name, option):<26}{option.about}" for name, option in known.items()]
