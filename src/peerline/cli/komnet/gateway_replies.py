"""`komnet gateway replies` and `await-reply`: answers that wait as files for a project (spec/network.md 9.9, 9.11)."""

import time
from typing import Any, Final

from peerline.cli.hot_output import usage
from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.gateway import made_place, project_key
from peerline.gateway.reply_file import ReplyBox, ReplyName

QUIET: Final = 3
WAIT_S: Final = 900
LONGEST_S: Final = 3_600
LOOK_S: Final = 0.1


def replies(desk: Desk) -> int:
    call, box = desk.call, ReplyBox(made_place(desk).replies, project_key(desk))
    if file := call.text("--mark-delivered"):
        box.mark_delivered(file)
        return desk.show([f"✓ {file} is delivered"], {"delivered": file})
    if file := call.text("--read"):
        text = box.read(file)
        return desk.show([text], {"file": file, "body": text})
    found = [_shape(one) for one in box.waiting()]
    shown = [f"[{one['room']}] from {one['from']} ({one['id']}): {one['file']}" for one in found]
    return desk.show(shown or ["no answers wait here"], found)


def await_reply(desk: Desk) -> int:
    call, box = desk.call, ReplyBox(made_place(desk).replies, project_key(desk))
    expect, timeout = call.count("--expect") or 1, call.count("--timeout") or WAIT_S
    if timeout > LONGEST_S:
        raise usage(f"--timeout must be at most {LONGEST_S} seconds")
    seen: set[str] = set()
    end = time.monotonic() + timeout
    while True:
        for one in box.waiting():
            if one.file not in seen:
                seen.add(one.file)
                desk.line(f"reply room={one.room} from={one.sender} id={one.id}")
        if len(seen) >= expect:
            return 0
        if time.monotonic() >= end:
            return QUIET
        time.sleep(min(LOOK_S, max(0.0, end - time.monotonic())))


def _shape(one: ReplyName) -> dict[str, Any]:
    return {"file": one.file, "id": one.id, "room": one.room, "from": one.sender}


RUN = {"gateway replies": replies, "gateway await-reply": await_reply}
