"""How `kxm mcp` and `kxm watch` look in the list of commands; `hot` starts them without click."""

import click


@click.command()
@click.option("--as", "name", metavar="NAME", help="The session's name; else KXM_AGENT_NAME, else repository-branch.")
@click.option("--project", metavar="NAME", help="The project; else as for `kxm peer`.")
@click.option("--server", metavar="URL", help="The hub; else as for `kxm peer`.")
def mcp(**given: str | None) -> int:
    """Serve the kxm_ tools to one agent session over stdin and stdout; the session's client starts it."""
    from peerline.cli.mcp import run

    return run(_words({"as" if name == "name" else name: value for name, value in given.items()}))


@click.command()
@click.option("--session", metavar="ID", help="The client's id of the session; else CLAUDE_CODE_SESSION_ID.")
def watch(**given: str | None) -> int:
    """Print a line for each request and reply that comes to an agent session, until the process that began it ends."""
    from peerline.cli.watch import run

    return run(_words(given))


def _words(given: dict[str, str | None]) -> list[str]:
    return [word for name, value in given.items() if value is not None for word in (f"--{name}", value)]
