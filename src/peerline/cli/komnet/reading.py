"""`komnet read`, `history`, `search`, `trace`, `receipts`, `mentions`."""

from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.shown import messages


def read(desk: Desk) -> int:
    call, room = desk.call, desk.call.words["ROOM"]
    found = desk.ask("read", room=room, limit=call.count("--limit") or 50, thread=call.text("--thread"))
    return desk.show(messages.posts(found, desk.now()) or [f"nothing stands in #{room} now"], found)


def history(desk: Desk) -> int:
    call, room = desk.call, desk.call.words["ROOM"]
    found = desk.ask("history", room=room, since=call.text("--since"), limit=call.count("--limit"))
    return desk.show(messages.posts(found, desk.now()) or [f"nothing was ever written into #{room}"], found)


def search(desk: Desk) -> int:
    call = desk.call
    found = desk.ask("search", query=call.words["WORDS"], room=call.text("--room"), limit=call.count("--limit") or 20)
    return desk.show(messages.found(found, desk.now()), found)


def trace(desk: Desk) -> int:
    found = desk.ask("trace", messageId=desk.call.words["ID"])
    return desk.show(messages.trace(found, desk.now()), found)


def receipts(desk: Desk) -> int:
    room = desk.call.words["ROOM"]
    found = desk.ask("receipts", room=room, messageId=desk.call.text("--reply-to"))
    return desk.show(messages.receipts(found, room, desk.now()), found)


def mentions(desk: Desk) -> int:
    found = desk.ask("mentions")
    return desk.show(messages.mentions(found, desk.now()), found)


RUN = {"read": read, "history": history, "search": search, "trace": trace, "receipts": receipts, "mentions": mentions}
