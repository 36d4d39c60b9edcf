"""`peerline why`: what stands still and why; with an id, everything that was observed of one message."""

from datetime import UTC, datetime
from typing import Any, Final

import click

from peerline.cli.hot_address import escaped
from peerline.cli.hot_session import Session
from peerline.cli.person_self import Message, Person, inbox, named, sent
from peerline.cli.person_voice import Voice, age, clock, fenced, left, moment, summary
from peerline.core.fence import quoted, visible

LOOKED_AT: Final = 50
LAPSED_S: Final = 86_400


@click.command("why")
@click.argument("id", required=False)
@click.pass_obj
def why(person: Person, id: str | None) -> int:
    """Without ID: everything of yours that stands still, and agents that the hub has stopped; the cause and the next
    step, one line each.

    With ID (a piece of it is enough): who saw what of that message and when, its text and its reply.
    """
    with person.session() as session:
        if id is not None:
            return _one(person, session, id)
        return _all(person, session)


def _all(person: Person, session: Session) -> int:
    voice = person.voice
    waiting = [message for message in sent(session, "undelivered") if _lapsed_lately(message)]
    open_ = sent(session, "open", 1_000)
    owed = inbox(session)
    held = _held(session)
    found = [_standing(session, message) for message in open_[:LOOKED_AT]]
    found += [_lapsed(session.caller.name, message) for message in waiting]
    found += [_owed(message) for message in owed]
    lines = [
        f"{each['between']}: {each['held']} held for {each['since']}, since they only talked to each other. "
        f"{each['next']}."
        for each in held
    ]
    lines += [
        f"{each['id']}  {voice.styled(each['between'], 'bold')}  {each['since']}  {each['cause']}. {each['next']}."
        for each in found
    ]
    if len(open_) > LOOKED_AT:
        lines.append(f"… and {len(open_) - LOOKED_AT} more that you asked.")
    if not lines:
        lines = ["Nothing of yours stands still: nobody owes you an answer, and you owe none."]
    return voice.done(lines, standing=found, held=held, more=max(0, len(open_) - LOOKED_AT))


def _held(session: Session) -> list[dict[str, Any]]:
    """The pairs of agents that the hub has stopped, whoever they are."""
    pairs = session.call("GET", "/v1/pairs").get("pairs", [])
    return [
        {
            "between": " and ".join(_name(end, "name") for end in pair.get("agents", [])),
            "held": pair.get("held"),
            "since": age(pair.get("since")),
            "cause": "they only talked to each other",
            "next": f"Let them go on with `{visible(str(pair.get('next')), 200)}`",
        }
        for pair in pairs
        if isinstance(pair, dict)
    ]


def _standing(session: Session, message: Message) -> dict[str, Any]:
    trail = session.call("GET", f"/v1/messages/{escaped(str(message['id']))}/trail")
    return {
        "id": message["id"],
        "between": f"you asked {_name(message, 'toName')}",
        "since": age(message.get("createdAt")),
        "cause": visible(str(trail.get("standing") or message.get("status")), 300),
        "next": _sentence(visible(str(trail.get("next") or f"peerline why {message['id']}"), 300)),
        "status": message.get("status"),
    }


def _lapsed(me: str, message: Message) -> dict[str, Any]:
    name = _name(message, "toName")
    return {
        "id": message["id"],
        "between": f"you asked {name}",
        "since": age(message.get("createdAt")),
        "cause": f"expired; {name} never took it",
        "next": f"If it still matters: kxm peer resend {message['id']} --as {visible(me)}",
        "status": message.get("status"),
    }


def _owed(message: Message) -> dict[str, Any]:
    remaining, text = left(message.get("expiresAt")), summary(str(message.get("content", "")), 40)
    return {
        "id": message["id"],
        "between": f"{_name(message, 'fromName')} asked you",
        "since": age(message.get("createdAt")),
        "cause": f"it waits for your reply ({remaining} left): {text}",
        "next": f'Answer with `peerline reply {message["id"]} "TEXT"`',
        "status": message.get("status"),
    }


def _one(person: Person, session: Session, given: str) -> int:
    voice, me = person.voice, session.agent_id
    message_id = named(given, lambda: [*sent(session, "all", 1_000), *inbox(session)])
    trail = session.call("GET", f"/v1/messages/{escaped(message_id)}/trail")
    # Only now: reading it is itself a fact that the trail would show.
    message = session.message(message_id)
    notes = session.call("GET", f"/v1/messages/{escaped(message_id)}/notes").get("notes", [])
    between = f"{_name(message, 'fromName')} asked {_name(message, 'toName')}"
    standing, step = str(trail.get("standing", "")), str(trail.get("next", ""))
    if message.get("to") == me and message.get("status") == "replied":
        step = "nothing to do"  # the hub's advice is for the sender
    elif message.get("to") == me and message.get("status") in ("queued", "delivered"):
        step = f'peerline reply {message_id} "TEXT"'
    lines = [f"{message_id}: {between} {age(message.get('createdAt'))} ago."]
    lines += [voice.styled(f"{_sentence(visible(standing, 300))}. Next: {visible(step, 300)}.", "bold"), ""]
    lines += [*_facts(voice, trail), ""]
    lines += _text("request from", message, "from", me, message)
    for note in notes if isinstance(notes, list) else []:
        lines += ["", *_text("note from", message, "to", me, note)]
    if reply := message.get("reply"):
        lines += ["", *_text("reply from", message, "to", me, reply)]
    told: dict[str, Any] = {"facts": trail.get("facts"), "standing": standing, "next": step}
    return voice.done(lines, message=message, notes=notes, **told)


def _facts(voice: Voice, trail: dict[str, Any]) -> list[str]:
    facts = [fact for fact in trail.get("facts", []) if isinstance(fact, dict)]
    rows = [
        (
            _precise(fact.get("at")),
            visible(str(fact.get("fact", "?")), 40),
            visible(str(fact.get("observer") or ""), 60),
            visible(str(fact.get("detail") or ""), 120),
        )
        for fact in facts
    ]
    return voice.table(("WHEN", "WHAT", "SEEN BY", "MORE"), rows)


def _text(label: str, message: Message, end: str, me: str | None, part: dict[str, Any]) -> list[str]:
    """One text of the exchange: foreign ones in the fence, one's own only marked."""
    text, at = str(part.get("content") or ""), clock(part.get("createdAt"))
    if message.get(end) == me:
        return [f"Your {label.removesuffix(' from')}, {at}:", *quoted(text)]
    return fenced(text, {label: _name(message, f"{end}Name"), "agent": str(message.get(end)), "at": at})


def _precise(iso: Any) -> str:
    at = moment(iso)
    return clock(iso) if at is None else f"{clock(iso)}.{at.microsecond // 1000:03d}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def _name(message: Message, member: str) -> str:
    return visible(str(message.get(member, "?")), 64)


def _lapsed_lately(message: Message) -> bool:
    at = moment(message.get("expiresAt"))
    return message.get("status") == "expired" and at is not None and (datetime.now(UTC) - at).total_seconds() < LAPSED_S
