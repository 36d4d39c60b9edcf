"""`peerline up` and `down` on a machine that is in a network, and `up --at-login`."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import private_write
from peerline.cli.person_hub import up_hub
from peerline.cli.person_self import Person
from peerline.cli.up.login import add, login, remove
from peerline.cli.up.parts import Part, hub_url, networked, parts
from peerline.cli.up.record import Record
from peerline.cli.up.report import line, shape, standings
from peerline.cli.up.supervisor import STARTING, WAITING, Supervisor
from peerline.database.lock import Held

READY_S: Final = 25.0
END_S: Final = 12.0
LOOK_S: Final = 0.02
AT_LOGIN: Final = {
    "created": "At each login from now on",
    "updated": "At each login from now on, with what is set now",
    "unchanged": "At each login, as before",
}


def up(person: Person) -> int:
    """Start the supervisor, unless one runs, and say how everything stands."""
    if not networked(person.env):
        return up_hub(person)
    caller, record = person.caller(), Record(person.env)
    with_hub = caller.address.loopback
    already = record.pid is not None
    if not already:
        _start(person, record)
    _settled(record)
    found = standings(person.env, with_hub=with_hub)
    url = caller.address.url
    lines = ["Everything runs already:" if already else "Up, and kept up:", *(f"  {line(one)}" for one in found)]
    if not with_hub:
        lines.append(f"  the hub at {url} is started on its own machine")
    elif (here := hub_url(Path(caller.root))) is not None and here != url:
        url = here
        lines.append(f"The hub is on a port of its own: export KXM_SERVER_URL={url}")
    lines.append(
        "Next: `peerline list` shows who is here, `peerline inbox --me` what waits for you; `peerline down` stops it."
    )
    broken = any(one.pid is None and one.state == WAITING for one in found)
    if broken:
        lines[0] = "Not everything runs:"
    return person.voice.done(lines, code=int(broken), url=url, already=already, parts=[shape(one) for one in found])


def down(person: Person) -> int:
    """End everything that is ours to end, whoever started it, and say what goes on."""
    env, record = person.env, Record(person.env)
    all_parts = parts(env, with_hub=person.caller().address.loopback)
    ours = {one.name: one.pid for one in record.read() if one.ours}
    before = {part.name: pid for part in all_parts if (pid := part.runs()) is not None}
    supervisor = record.end()
    for part in reversed(all_parts):
        _end(part, ours.get(part.name))
    record.forget()
    after = {part.name: pid for part in all_parts if (pid := part.runs()) is not None}
    stopped = {name: pid for name, pid in before.items() if after.get(name) != pid}
    lines = [f"{name} has stopped (process {pid})." for name, pid in stopped.items()]
    lines += [
        f"{name} goes on (process {pid}): it was not started from here, so end it where it was."
        for name, pid in after.items()
    ]
    if stopped:
        lines.append("What they keep is on the disk; `peerline up` goes on.")
    elif not after:
        lines.append("Nothing runs here; nothing to stop.")
    return person.voice.done(lines, stopped=list(stopped.values()), supervisor=supervisor)


def stay(person: Person) -> int:
    """Be the supervisor, until SIGTERM or SIGINT.

    Raises:
        Failure: another one is.
    """
    env, record, ended = person.env, Record(person.env), threading.Event()
    with_hub = person.caller().address.loopback
    try:
        lock = record.hold()
    except Held as held:
        raise Failure(f"the supervisor runs already (process {held.pid}); `peerline up` shows what it keeps") from None
    except OSError as error:
        raise Failure(f"the state folder cannot be used: {error.strerror}: {record.root}") from None
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        inherited = {one.pid for one in record.read() if one.ours and one.pid}
        supervisor = Supervisor(lambda: parts(env, with_hub=with_hub), record.write, now=_now, inherited=inherited)
        supervisor.run(ended)
        record.forget()
    finally:
        lock.release()
    return 0


def at_login(person: Person, *, away: bool) -> int:
    """Write the unit and start everything now; or take the unit away and stop nothing."""
    wanted = login(person.env)
    if away:
        gone = remove(wanted)
        text = f"{wanted.file} is removed." if gone else "Nothing of ours starts at login; nothing to remove."
        return person.voice.done(
            [f"{text} What runs goes on; `peerline down` stops it."], removed=gone, file=str(wanted.file)
        )
    person.voice.aside(f"{AT_LOGIN[add(wanted)]}: {wanted.file}")
    return up(person)


def _start(person: Person, record: Record) -> None:
    """Detached: it outlives this command.

    Raises:
        Failure: it ended before it kept anything, or is not ready in time.
    """
    try:
        private_write(str(record.out), b"")
    except OSError as error:
        raise Failure(f"the state folder cannot be used: {error.strerror}: {record.root}") from None
    with record.out.open("ab") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "peerline.cli.hot", "peerline", "up", "--foreground"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=person.env,
            start_new_session=True,
        )
    end = time.monotonic() + READY_S
    while not record.told:
        if child.poll() is not None:
            said = record.out.read_text(errors="replace").strip().rpartition("\n")[2]
            raise Failure(f"the supervisor ended at once: {said or 'it said nothing'}")
        if time.monotonic() > end:
            raise Failure(f"the supervisor was not ready after {READY_S:.0f} s; see {record.out}")
        time.sleep(LOOK_S)


def _settled(record: Record) -> None:
    """Wait until every part runs, or has ended once."""
    end = time.monotonic() + READY_S
    while any(one.state == STARTING for one in record.read()) and time.monotonic() < end:
        time.sleep(LOOK_S)


def _end(part: Part, ours: int | None) -> None:
    """End what still runs, if it is ours or has a way to be asked; waits until it has ended, for a while."""
    pid = part.runs()
    if pid is None:
        return
    if part.end is not None:
        part.end()
    elif pid == ours:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    else:
        return
    end = time.monotonic() + END_S
    while part.runs() == pid and time.monotonic() < end:
        time.sleep(LOOK_S)


def _now() -> int:
    return time.time_ns() // 1_000_000
