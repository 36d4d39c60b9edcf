"""The help texts of `komnet`."""

from peerline.cli.komnet.help import of_command, of_komnet
from peerline.cli.komnet.table import COMMANDS


def test_every_command_stands_apart_from_what_it_does() -> None:
    lines = of_komnet().splitlines()
    for name, command in COMMANDS.items():
        if name != "profile show":
            usage = f"{name} {command.takes}".strip()
            assert any(line.startswith(f"  {usage} ") and line.endswith(f" {command.about}") for line in lines), name


def test_every_option_stands_apart_from_what_it_does() -> None:
    for name, command in COMMANDS.items():
        for option, one in command.options.items():
            assert any(
                line.lstrip().startswith(option) and line.endswith(f" {one.about}")
                for line in of_command(name).splitlines()
            ), (name, option)
