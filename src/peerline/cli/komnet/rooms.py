"""`komnet room …`."""

from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.shown import places


def list_(desk: Desk) -> int:
    found = desk.ask("rooms")
    return desk.show(places.rooms(found), found)


def show(desk: Desk) -> int:
    found = desk.ask("roomShow", room=desk.call.words["ROOM"])
    return desk.show(places.room(found, desk.now()), found)


def create(desk: Desk) -> int:
    call, room = desk.call, desk.call.words["ROOM"]
    budget = call.count("--reply-budget")
    made = desk.ask(
        "roomCreate", room=room, title=call.text("--title"), purpose=call.text("--purpose"), replyBudget=budget
    )
    shown = [f"✓ created room {room} and subscribed"]
    if budget is not None:
        shown.append(f"  reply budget {budget} — threads park for a person after that")
    return desk.show(shown, made)


def join(desk: Desk) -> int:
    room = desk.call.words["ROOM"]
    found = desk.ask("roomJoin", room=room)
    return desk.show([f"✓ joined {room}"], found)


def leave(desk: Desk) -> int:
    room = desk.call.words["ROOM"]
    found = desk.ask("roomLeave", room=room)
    return desk.show([f"✓ left {room}"], found)


RUN = {"room list": list_, "room show": show, "room create": create, "room join": join, "room leave": leave}
