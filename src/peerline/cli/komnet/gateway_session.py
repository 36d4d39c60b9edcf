"""`komnet gateway send|show|resolve|drain`: what a session that plays the gateway does with one request or item."""

import os
import re
from collections.abc import Callable
from typing import Any, Final

from peerline.cli.hot_output import usage
from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.gateway import engines_of, opened_journal, refusal
from peerline.cli.komnet.gateway_place import made_place
from peerline.core.fence import visible
from peerline.gateway import resolving
from peerline.gateway import status as gateway_status
from peerline.gateway.heading import Heading, heading
from peerline.gateway.journal import ItemRow, Journal
from peerline.gateway.relay import Relay
from peerline.gateway.request_file import REQUEST_NAME, session_name
from peerline.gateway.sessions import NoSessions
from peerline.network.engine import Engine

TO: Final = {
    "person": "needs a human: show it to your person as it stands, and stop",
    "nobody": "nobody's: leave it held, and tell your person",
}


def send(desk: Desk) -> int:
    file = desk.call.words["FILE"]
    if not re.fullmatch(REQUEST_NAME, file):
        raise usage("FILE must be the name of a request, as the line relay-request has it")
    row = _relay(desk, opened_journal(desk)).send_one(file.removesuffix(".json"))
    value = {"state": row.state, "messageId": row.post, "thread": row.thread, "code": row.code, "detail": row.detail}
    if row.state == "refused":
        return desk.show(refusal(row.code, row.detail), value, 1)
    if row.thread is None:
        return desk.show(["not sent yet; try again: it is sent once"], value, 1)
    return desk.show([f"✓ {row.state} {row.post} in thread {row.thread}"], value)


def show(desk: Desk) -> int:
    journal = opened_journal(desk)
    row = resolving.known(journal, desk.call.words["ID"])
    found = _heading(desk, journal, row)
    where = TO.get(found.to) or f"for session {visible(str(found.session), 80)}: {found.reason}"
    if found.to == "nobody":
        where += f" ({visible(found.reason, 200)})"
    value = {"id": row.id, "to": found.to, "session": found.session, "reason": found.reason, "text": found.text}
    return desk.show([where, "", found.text], value)


def resolve(desk: Desk) -> int:
    call, journal, id = desk.call, opened_journal(desk), desk.call.words["ID"]
    chosen = [name for name in ("--to", "--pushed", "--filed", "--dismiss") if name in call.given]
    if len(chosen) != 1:
        raise usage("say one of --to SESSION, --pushed REPORT, --filed, --dismiss")
    if session := call.text("--to"):
        resolving.hand_to(journal, id, session_name(session), None, desk.now())
    elif report := call.text("--pushed"):
        resolving.record_push(journal, id, report, desk.now())
        _relay(desk, journal).publish()
    elif call.flag("--filed"):
        text = _heading(desk, journal, resolving.known(journal, id)).text
        resolving.file_reply(journal, made_place(desk), id, text, desk.now())
        _relay(desk, journal).publish()
    else:
        resolving.dismiss(journal, id, desk.now())
    row = resolving.known(journal, id)
    return desk.show([f"✓ {id} is {row.state}"], gateway_status.item(row))


def drain(desk: Desk) -> int:
    id, journal = desk.call.words["ID"], opened_journal(desk)
    row = resolving.known(journal, id)
    resolving.drain(journal, made_place(desk), _engine(desk, row), id, desk.now())
    return desk.show([f"✓ drained {id}"], {"drained": id})


def _heading(desk: Desk, journal: Journal, row: ItemRow) -> Heading:
    return heading(journal, _engine(desk, row), row, now=desk.now(), entropy=os.urandom)


def _engine(desk: Desk, row: ItemRow) -> Engine:
    return desk.direct().session(row.network).engine


def _relay(desk: Desk, journal: Journal) -> Relay:
    """The relay for a single act; what it says is an aside."""
    calls = desk.direct()
    return Relay(
        made_place(desk),
        journal,
        lambda: engines_of(desk, calls),
        NoSessions(),
        now=desk.now,
        entropy=os.urandom,
        tell=lambda row, why: None,
        say=lambda line: desk.aside([line]),
    )


RUN: Final[dict[str, Callable[[Desk], Any]]] = {
    "gateway send": send,
    "gateway show": show,
    "gateway resolve": resolve,
    "gateway drain": drain,
}
