"""`peerline why`: what stands still and why; with an id, everything that was observed of one message."""

from typing import Any

import click

from peerline.cli.hot_address import escaped
from peerline.cli.hot_session import Session
from peerline.cli.person_self import Message, Person, named, sent, waiting
from peerline.cli.person_stuck import party, sentence, stuck
from peerline.cli.person_voice import Voice, age, by_gateway, clock, fenced, moment
from peerline.core.fence import quoted, visible


@click.command("why")
@click.argument("id", required=False)
@click.pass_obj
def why(person: Person, id: str | None) -> int:
    """Without ID: everything of yours that stands still, what was refused lately, and agents that the hub has stopped;
    the cause and the next step, one line each.

    With ID (a piece of it is enough): who saw what of that message and when, its text and its reply.
    """
    with person.session() as session:
        if id is not None:
            return _one(person, session, id)
        return stuck(person.voice, session, person.env)


def _one(person: Person, session: Session, given: str) -> int:
    voice, me = person.voice, session.agent_id
    message_id = named(given, lambda: [*sent(session, "all", 1_000), *waiting(session)])
    trail = session.call("GET", f"/v1/messages/{escaped(message_id)}/trail")
    # Only now: reading it is itself a fact that the trail would show.
    message = session.message(message_id)
    notes = session.call("GET", f"/v1/messages/{escaped(message_id)}/notes").get("notes", [])
    between = f"{party(message, 'fromName')} asked {party(message, 'toName')}"
    standing, step = str(trail.get("standing", "")), str(trail.get("next", ""))
    if message.get("to") == me and message.get("status") == "replied":
        step = "nothing to do"  # the hub's advice is for the sender
    elif message.get("to") == me and message.get("status") in ("queued", "delivered"):
        step = f'peerline reply {message_id} "TEXT"'
    lines = [f"{message_id}: {between} {age(message.get('createdAt'))} ago."]
    lines += [voice.styled(f"{sentence(visible(standing, 300))}. Next: {visible(step, 300)}.", "bold"), ""]
    lines += [*_facts(voice, trail), ""]
    lines += _text("request from", message, "from", me, message)
    for note in notes if isinstance(notes, list) else []:
        lines += ["", *_text("note from", message, "to", me, note)]
    if reply := message.get("reply"):
        lines += ["", *_text("reply from", message, "to", me, reply)]
    told: dict[str, Any] = {
        "facts": trail.get("facts"),
        "standing": standing,
        "next": step,
        "stuck": trail.get("stuck"),
    }
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
    who = message.get(f"{end}Name")
    origin = {label: str(who), "agent": str(message.get(end)), "at": at}
    return fenced(text, origin, by_gateway=by_gateway(who))


def _precise(iso: Any) -> str:
    at = moment(iso)
    return clock(iso) if at is None else f"{clock(iso)}.{at.microsecond // 1000:03d}"
