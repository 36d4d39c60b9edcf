"""`peerline up` and `peerline down`: the hub of this machine, started and stopped as `kxm hub` does it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure
from peerline.cli.hub.claim import Holder, holder
from peerline.cli.hub.start import start
from peerline.cli.hub.stop import stop
from peerline.cli.options import Asked
from peerline.cli.person_self import Person
from peerline.core.fence import visible


@dataclass(slots=True, kw_only=True)
class Heard(Asked):
    """Runs a `kxm hub` command and keeps what it would have printed."""

    facts: dict[str, Any] = field(default_factory=dict)

    def done(self, command: str, text: str, **facts: Any) -> int:
        self.facts = facts
        return 0


@click.command("up")
@click.pass_obj
def up(person: Person) -> int:
    """Start the hub in the background, if it does not run yet, and say where it is."""
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


@click.command("down")
@click.pass_obj
def down(person: Person) -> int:
    """Stop the hub of this machine. Requests and replies stay on its disk."""
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
