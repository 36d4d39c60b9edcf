"""`komnet gateway ask`: a request file for the gateway of this machine, and its outcome."""

import json
import os
import time
from pathlib import Path
from typing import Any, Final

from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.gateway import refusal
from peerline.cli.komnet.gateway_place import made_place, project_key
from peerline.core.fence import visible
from peerline.gateway.journal import ItemRow, Journal
from peerline.gateway.place import GatewayPlace
from peerline.gateway.reply_file import ReplyBox
from peerline.gateway.request_file import Request, queue_request

QUIET: Final = 3
LOOK_S: Final = 0.2


def ask(desk: Desk) -> int:
    call, place, key = desk.call, made_place(desk), project_key(desk)
    folder = call.text("--project-dir") or str(Path.cwd())
    needs = call.text("--needs")
    request = Request(
        session=call.text("--session") or Path(folder).name[:60] or "session",
        reply_key=key,
        room=call.words["ROOM"],
        body=desk.body(),
        queued_at="",
        needs="agent" if needs is None else needs,
        to=call.text("--to"),
        network=call.text("--network"),
    )
    name = queue_request(place.requests, request, now=desk.now(), entropy=os.urandom)
    value: dict[str, Any] = {
        "state": "queued",
        "file": name,
        "room": request.room,
        "replyKey": key,
        "session": request.session,
    }
    wait = call.count("--wait")
    if wait is None:
        shown = [f"✓ queued {name}", f"  the answer comes to reply key {key}: komnet gateway await-reply --key {key}"]
        return desk.show(shown, value)
    return _awaited(desk, place, name, key, wait, value)


def _awaited(desk: Desk, place: GatewayPlace, name: str, key: str, wait: int, value: dict[str, Any]) -> int:
    """Until the answer of this very request is there; a refusal ends it at once."""
    end, box = time.monotonic() + wait, ReplyBox(place.replies, key)
    result: dict[str, Any] = {}
    journal, stem = Journal(place.journal), name.removesuffix(".json")
    while time.monotonic() < end:
        result = _result(place, name) or result
        if result.get("state") == "refused":
            return desk.show(refusal(result.get("code"), result.get("detail")), {**value, **result}, 1)
        answer = journal.read(lambda tx: tx.answer_to(stem)) if result.get("state") == "answered" else None
        if answer is not None:
            return _shown(desk, box, answer, {**value, **result})
        time.sleep(LOOK_S)
    state = result.get("state", "not taken by a gateway yet")
    return desk.show([f"no answer within {wait} s; the request is {state}"], {**value, **result}, QUIET)


def _shown(desk: Desk, box: ReplyBox, answer: ItemRow, value: dict[str, Any]) -> int:
    """The answer's text; where the hub has it, or a session took the file meanwhile, who has it now."""
    reply = {"id": answer.id, "from": answer.sender}
    if answer.file not in [one.file for one in box.waiting()]:
        where = f"session {answer.session} has it" + (f" as {answer.hub_message}" if answer.hub_message else "")
        return desk.show([f"✓ answered: {visible(where, 300)}"], {**value, "reply": reply})
    text = box.read(answer.file)
    box.mark_delivered(answer.file)
    return desk.show([text], {**value, "reply": {**reply, "text": text}})


def _result(place: GatewayPlace, name: str) -> dict[str, Any] | None:
    try:
        found = json.loads((place.results / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


RUN = {"gateway ask": ask}
