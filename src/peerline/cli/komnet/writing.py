"""`komnet send`, `ask`, `answer`, `decide`."""

import sys
from typing import Any

from peerline.cli.at_terminal import confirm_human_answer, opened_by
from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.shown import messages


def send(desk: Desk) -> int:
    return _send(desk, kind="msg", needs="none")


def ask(desk: Desk) -> int:
    return _send(desk, kind="question", needs="agent")


def _send(desk: Desk, kind: str, needs: str) -> int:
    call, room = desk.call, desk.call.words["ROOM"]
    said = call.text("--needs")
    needs = needs if said is None else said  # an empty one is refused like any that nobody knows
    draft = {
        "body": desk.body(),
        "kind": call.text("--kind") or kind,
        "needs": needs,
        "mentions": call.many("--mention"),
        "tags": call.many("--tag"),
        "refs": call.many("--ref"),
        "priority": call.text("--priority"),
        "inReplyTo": call.text("--reply-to"),
        "forceUnsafe": _override(desk),
    }
    result = desk.ask("send", room=room, input={name: value for name, value in draft.items() if value is not None})
    message = result["message"]
    desk.aside(messages.forecast(result["forecast"], room))
    shown = messages.sent(message)
    if needs == "human" and message["delivery"] == "pushed":
        shown.append("  parked — surface this to a human; relay attribution is cooperative.")
    return desk.show(shown, message)


def answer(desk: Desk) -> int:
    call, message_id = desk.call, desk.call.words["ID"]
    body = desk.body()
    if call.flag("--as-human"):
        return _answer_as_human(desk, message_id, body)
    result = desk.ask("answer", messageId=message_id, body=body, forceUnsafe=_override(desk))
    return desk.show(messages.sent(result, "answered"), result)


def _answer_as_human(desk: Desk, message_id: str, body: str) -> int:
    """Never through the daemon: the person is asked here, at this terminal."""
    calls = desk.direct()
    network = desk.call.text("--network")
    asked: dict[str, Any] = calls.call("message", {"messageId": message_id}, network)
    confirm_human_answer(desk.env, asked, body)
    result = calls.answer_as_human(message_id, body, network, unsafe_reason=_override(desk))
    if result["delivery"] == "queued":
        return desk.show(messages.sent(result), result)
    return desk.show([f"✓ recorded as a human-relayed decision {result['id']}"], result)


def decide(desk: Desk) -> int:
    call = desk.call
    title, text = call.words["TITLE"], desk.body()
    result = desk.ask(
        "send",
        room=call.words["ROOM"],
        input={
            "body": f"{title}\n\n{text}" if text else title,
            "kind": "decision",
            "needs": "none",
            **({"inReplyTo": call.text("--reply-to")} if call.text("--reply-to") else {}),
            **({"forceUnsafe": _override(desk)} if call.text("--force-unsafe") else {}),
        },
    )["message"]
    shown = messages.sent(result, "decision recorded")
    if result["delivery"] == "pushed":
        shown.append("  decisions are never pruned by sealing — this outlives the live window")
    return desk.show(shown, result)


def _override(desk: Desk) -> str | None:
    """The reason of `--force-unsafe`: only a person at a terminal overrides the scanner, for their own words."""
    reason = desk.call.text("--force-unsafe")
    if reason is None:
        return None
    from peerline.network.scanner.refusal import (
        override_reason,
    )  # here: it loads the rules, which a send has no use for

    person = sys.stdin.isatty() and sys.stdout.isatty() and opened_by(desk.env) is None
    return override_reason(reason, person_at_terminal=person, own_words=True)


RUN = {"send": send, "ask": ask, "answer": answer, "decide": decide}
