"""`peerline up` and `peerline down`, and the hub of this machine, started and stopped as `kxm hub` does it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_paths import state_root
from peerline.cli.hub.claim import Holder, holder
from peerline.cli.hub.start import start
from peerline.cli.hub.stop import stop
from peerline.cli.options import Asked
from peerline.cli.person_self import Person
from peerline.core.fence import visible
from peerline.network.home import machine_home


@dataclass(slots=True, kw_only=True)
class Heard(Asked):
    """Runs a `kxm hub` command and keeps what it would have printed."""

    facts: dict[str, Any] = field(default_factory=dict)

    def done(self, command: str, text: str, **facts: Any) -> int:
        self.facts = facts
        return 0


@click.command("up")
@click.option("--foreground", is_flag=True, help="Keep everything running from here, until Ctrl-C.")
@click.option(
    "--at-login", is_flag=True, help="Also at each login from now on: writes a unit for your service manager."
)
@click.option("--remove", is_flag=True, help="With --at-login: take that unit away again. Nothing is stopped.")
@click.pass_obj
def up(person: Person, foreground: bool, at_login: bool, remove: bool) -> int:
    """Start what this machine needs, in the background, if it does not run yet, and say what runs.

    That is the hub; and on a machine that is in a network of rooms, the network's daemon for each of its agents and the
    gateway too, under one supervisor that starts again what ends.
    """
    if remove and not at_login:
        raise usage("--remove goes with --at-login; what runs is stopped with: peerline down")
    if foreground or at_login or _in_a_network(person):
        from peerline.cli.up import verbs  # here, as below: most machines are in no network, and it loads much of one

        if foreground:
            return verbs.stay(person)
        return verbs.at_login(person, away=remove) if at_login else verbs.up(person)
    return up_hub(person)


@click.command("down")
@click.pass_obj
def down(person: Person) -> int:
    """Stop what `peerline up` starts: hub, network daemons, gateway. What they keep stays on the disk."""
    if _in_a_network(person) or Path(state_root(person.env), "supervisor.json").exists():
        from peerline.cli.up import verbs

        return verbs.down(person)
    return down_hub(person)


def _in_a_network(person: Person) -> bool:
    home = machine_home(person.env)
    return home.provisioned or bool(home.agents())


def up_hub(person: Person) -> int:
    """Start the hub alone."""
    caller = person.caller()
    if not caller.address.loopback:
        raise Failure(
            f"this machine talks to the hub at {caller.address.url}, which is started on its own machine; "
            "`kxm hub unbind` (or no KXM_SERVER_URL) goes back to a hub here"
        )
    if version := answering(caller):
        return _where(person, caller, holder(Path(caller.root)), already=True, version=version)
    heard = Heard(env=person.env)
    start.main(["--background"], standalone_mode=False, obj=heard)
    here = Caller({**person.env, "KXM_SERVER_URL": heard.facts["url"]}, {})
    return _where(person, here, holder(Path(caller.root)), already=False, **heard.facts)


def down_hub(person: Person) -> int:
    """Stop the hub alone."""
    caller = person.caller()
    found = holder(Path(caller.root))
    if found is None:
        if answering(caller):
            raise Failure(f"the hub at {caller.address.url} was not started from {caller.root}; stop it where it was")
        return person.voice.done(["The hub is not running; nothing to stop."], stopped=[])
    heard = Heard(env=person.env)
    stop.main([], standalone_mode=False, obj=heard)
    lines = [f"The hub has stopped (process {found.pid}). Its requests and replies are on disk; `peerline up` goes on."]
    return person.voice.done(lines, stopped=[found.pid])


def answering(caller: Caller) -> str | None:
    """The version of the hub that answers, "?" for one that does not say it; None if nobody answers.

    Raises:
        Failure: something answers there that is no hub.
    """
    connection = Connection(caller.address, {})
    try:
        answer = connection.request("GET", "/health", timeout_ms=3_000)
    except Unreachable:
        return None
    except (ConnectionLost, ValueError):
        raise _no_hub(caller) from None
    finally:
        connection.close()
    if answer.status != 200 or answer.body.get("ok") is not True:
        raise _no_hub(caller)
    return str(answer.body.get("version") or "?")


def _no_hub(caller: Caller) -> Failure:
    return Failure(
        f"something that is no hub answers at {caller.address.url}; choose another port with KXM_PORT=7332 and"
        " KXM_SERVER_URL=http://127.0.0.1:7332"
    )


def _where(person: Person, caller: Caller, found: Holder | None, *, already: bool, **facts: Any) -> int:
    url, storage = caller.address.url, facts.get("storage")
    process = f" (process {found.pid})" if found else ""
    lines = [f"The hub {'runs already' if already else 'is up'} at {url}{process}."]
    if storage:
        lines.append(f"It keeps everything in {visible(str(storage), 500)}.")
    if url != person.caller().address.url:
        lines.append(f"It is on a port of its own: export KXM_SERVER_URL={url}")
    lines.append("Next: `peerline list` shows who is here, `peerline down` stops it.")
    return person.voice.done(lines, url=url, pid=found.pid if found else None, already=already, storage=storage)
