"""`komnet gateway …`: the relay of this machine, and what its person says to it."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from peerline.cli.hot_output import Failure
from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.gateway_notice import STANDING, GatewayNotice
from peerline.cli.komnet.gateway_place import made_place
from peerline.core.fence import visible
from peerline.core.identifiers import room_id
from peerline.database.lock import FileLock, Held
from peerline.gateway import status as gateway_status
from peerline.gateway.journal import Journal, TakenOver
from peerline.gateway.looks import Looks
from peerline.gateway.place import GatewayPlace
from peerline.gateway.relay import Relay
from peerline.gateway.request_file import session_name
from peerline.gateway.sessions import NoSessions
from peerline.network.config import load_config
from peerline.network.direct import DirectCalls
from peerline.network.engine import Engine
from peerline.network.notify.notifier import Notifier

HELD_BY_ANOTHER: Final = 3
LOOK_S: Final = 2.0


def run(desk: Desk) -> int:
    with only_gateway(desk) as place:
        ended, bell = threading.Event(), threading.Event()

        def end(*_: object) -> None:
            ended.set()
            threading.Thread(target=bell.set).start()  # here the bell's own lock may be held by what was interrupted

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        _relay(desk, place, ended, bell)
    return 0


def prepare(desk: Desk) -> int:
    with only_gateway(desk) as place:
        return desk.show([f"✓ ready: {place.folder}"], {"folder": str(place.folder)})


@contextmanager
def only_gateway(desk: Desk) -> Iterator[GatewayPlace]:
    """One gateway a machine, a process or a session: the second ends at once.

    Raises:
        NotConfigured, BrokenConfig
        Failure: another one is here.
    """
    place = GatewayPlace(desk.home)
    load_config(desk.home)
    place.make()
    try:
        lock = FileLock(place.lock)
    except Held as held:
        holder = f"process {held.pid}" if held.pid else "another process"
        raise Failure(
            f"a gateway runs on this machine already: {holder}", error="GATEWAY_RUNS", exit_code=HELD_BY_ANOTHER
        ) from None
    try:
        yield place
    finally:
        lock.release()


def taken_over() -> Failure:
    return Failure(
        "another gateway has begun on this machine since this one did: this one has ended and sends nothing more",
        error="GATEWAY_TAKEN_OVER",
        exit_code=HELD_BY_ANOTHER,
    )


def _relay(desk: Desk, place: GatewayPlace, ended: threading.Event, bell: threading.Event) -> None:
    from peerline.cli.komnet.gateway_hub import hub_sessions

    calls = desk.direct()
    journal = Journal(place.journal)
    journal.hold()

    def engines() -> dict[str, Engine]:
        return engines_of(desk, calls)

    notifier = Notifier(desk.home.inbox, now=desk.now, environ=desk.env)
    tell = GatewayNotice(desk.home, notifier, desk.line)
    with hub_sessions(desk.env, place, ring=bell.set, say=desk.line) as (sessions, hub):
        relay = Relay(
            place,
            journal,
            engines,
            sessions or NoSessions(),
            now=desk.now,
            entropy=os.urandom,
            tell=tell,
            say=desk.line,
        )
        relay.adopt()
        there = "yes" if hub is not None and hub.projects else "no"
        desk.line(f"relay-armed poll={int(LOOK_S * 1000)}ms hub={there} home={desk.home.folder}")
        looks = Looks(desk.home, direct=desk.direct, ring=bell.set)
        tell.again(journal.read(lambda tx: tx.items(*STANDING)))
        try:
            _loop(desk, relay, looks, ended, bell)
        except TakenOver:
            raise taken_over() from None
        finally:
            looks.stop()
            tell.close()
    journal.close()


def engines_of(desk: Desk, calls: DirectCalls) -> dict[str, Engine]:
    """By network, the default one first."""
    config = load_config(desk.home)
    names = [*([config.default] if config.default else []), *config.networks]
    return {name: calls.session(name).engine for name in dict.fromkeys(names)}


def _loop(desk: Desk, relay: Relay, looks: Looks, ended: threading.Event, bell: threading.Event) -> None:
    """A step when the hub or a network rings, and every 2 s."""
    while not ended.is_set():
        bell.clear()
        looks.follow({network: joined.remote for network, joined in load_config(desk.home).networks.items()})
        relay.step()
        bell.wait(LOOK_S)


def status(desk: Desk) -> int:
    found = gateway_status.status(opened_journal(desk))
    lines = [
        f"requests  {sum(1 for one in found['requests'] if one['state'] != 'refused')} open",
        f"items     {len(found['items'])} on their way",
        f"held      {len(found['held'])}" + (" — komnet gateway held" if found["held"] else ""),
        f"person    {len(found['waitingForPerson'])} wait for you"
        + (" — komnet gateway held" if found["waitingForPerson"] else ""),
    ]
    for one in found["requests"]:
        why = f" · {visible(' '.join(str(one['detail']).split()), 200)}" if one["state"] == "refused" else ""
        lines.append(f"  {one['id']} {one['state']}{why}")
    return desk.show(lines, found)


def routes(desk: Desk) -> int:
    found = gateway_status.routes(opened_journal(desk))
    lines = []
    for one in found["subscriptions"]:
        lines.append(f"{visible(one['session'], 80)} serves {', '.join('#' + room for room in one['rooms'])}")
    for one in found["pending"]:
        lines.append(
            f"{visible(str(one['session']), 80)} waits in {one['thread']} · {visible(str(one['summary']), 100)}"
        )
    return desk.show(lines or ["no session waits, and none serves a room"], found)


def held(desk: Desk) -> int:
    found = gateway_status.status(opened_journal(desk))
    shown = [*found["waitingForPerson"], *found["held"]]
    lines = []
    for one in shown:
        lines.append(f"{one['id']} #{one['room']} from {one['from']} · needs {one['needs']}")
        lines.append(f"  {visible(str(one['reason']), 200)}")
        lines.append(
            f'  answer it yourself: komnet answer {one["id"]} "<your words>" --as-human'
            if one["state"] == "waits-for-person"
            else f"  komnet gateway resolve {one['id']} --to <session> | --dismiss"
        )
    return desk.show(lines or ["nothing is held, nothing waits for you"], shown)


def subscribe(desk: Desk) -> int:
    session, room = session_name(desk.call.words["SESSION"]), room_id(desk.call.words["ROOM"])
    default = desk.call.flag("--default")
    opened_journal(desk).write(lambda tx: tx.subscribe(session, room, default=default))
    return desk.show(
        [f"✓ {session} serves #{room}" + (" by default" if default else "")], {"session": session, "room": room}
    )


def unsubscribe(desk: Desk) -> int:
    session, room = desk.call.words["SESSION"], desk.call.words.get("ROOM")
    gone = opened_journal(desk).write(lambda tx: tx.unsubscribe(session, room))
    shown = f"✓ {visible(session)} serves {gone} room(s) less" if gone else _serves_nothing(session, room)
    return desk.show([shown], {"session": session, "removed": gone})


def _serves_nothing(session: str, room: str | None) -> str:
    what = f"does not serve #{visible(room)}" if room else "serves no room"
    return f"{visible(session)} {what}; who does: komnet gateway routes"


def refusal(code: str | None, detail: str | None) -> list[str]:
    """Why a request was not sent, a line for each line of it."""
    first, *more = [visible(line, 500) for line in str(detail).split("\n")]
    return [f"✗ refused: {code}: {first}", *more]


def opened_journal(desk: Desk) -> Journal:
    return Journal(made_place(desk).journal)


RUN: Final[dict[str, Callable[[Desk], Any]]] = {
    "gateway run": run,
    "gateway prepare": prepare,
    "gateway status": status,
    "gateway routes": routes,
    "gateway held": held,
    "gateway subscribe": subscribe,
    "gateway unsubscribe": unsubscribe,
}
