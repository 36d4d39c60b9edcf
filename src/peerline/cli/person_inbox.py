"""`peerline inbox` and `peerline reply`: what others want of you, and what they answered."""

from time import time
from typing import Final

import click

from peerline.cli.hot_address import escaped
from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_session import Lost, Session, record
from peerline.cli.person_body import body
from peerline.cli.person_self import Message, Person, inbox, named, sent, waiting
from peerline.cli.person_voice import Voice, age, by_gateway, fenced, left, moment, summary, who
from peerline.cli.waiting_briefly import waiting_for_me
from peerline.core.fence import visible
from peerline.core.text import trim
from peerline.core.ulid import is_ulid

ANSWERS: Final = 10
RECENT_S: Final = 86_400


@click.command("inbox")
@click.option("--me", is_flag=True, help="What waits for you in the networks of this machine instead, one line each.")
@click.pass_obj
def inbox_(person: Person, me: bool) -> int:
    """Requests that need your reply, whole; and answers of the last day, one line each."""
    if me:
        from peerline.cli.person_answer import (
            inbox_me,
        )  # here: it loads the network, which the hub's inbox doesn't need

        return inbox_me(person)
    with person.session() as session:
        requests = inbox(session)
        answers = [message for message in sent(session, "all") if _fresh_answer(message)][:ANSWERS]
    voice, lines = person.voice, []
    if requests:
        lines.append(f"{len(requests)} request{'s' if len(requests) != 1 else ''} to answer.")
    for message in requests:
        lines += ["", *_request(voice, message)]
    if answers:
        lines += [*([""] if lines else []), "Answers of the last day; `peerline why ID` shows one whole:"]
        lines += [voice.fitted(_answer(message)) for message in answers]
    if not lines:
        caller = session.caller
        lines = [
            f"Nothing to answer for {visible(caller.name)} in project {visible(caller.project)}, and no new answers."
        ]
    if in_networks := waiting_for_me(person.env):
        lines += ["", in_networks]
    return voice.done(lines, requests=requests, answers=answers)


@click.command("reply")
@click.argument("id")
@click.argument("text", nargs=-1)
@click.option("--file", "-f", metavar="FILE", help="Take the text from FILE; - is standard input.")
@click.pass_obj
def reply(person: Person, id: str, text: tuple[str, ...], file: str | None) -> int:
    """Answer the request ID (a piece of it is enough), once. The text goes to whoever asked."""
    if is_ulid(id):
        raise usage(f"{id} is a message of a network of rooms; answer it with: peerline answer {id}")
    content = body(text, file)
    with person.session() as session:
        message = _replied(session, named(id, lambda: waiting(session)), content)
    name = who(message.get("fromName"))
    return person.voice.done([f"{name} has your reply to {message['id']}."], message=message)


def _replied(session: Session, message_id: str, content: str) -> Message:
    """Reply; if the answer to that is lost, look whether it arrived."""
    path = f"/v1/messages/{escaped(message_id)}"
    try:
        return record(session.call("POST", path + "/reply", {"content": content}))
    except Lost as lost:
        message = session.message(message_id)
        if trim(str((message.get("reply") or {}).get("content", ""))) == trim(content):
            return message
        raise Failure(f"{lost.detail}; it did not arrive: run the command again", more=lost.more) from None
    except Failure as failure:
        if failure.more.get("code") in ("duplicate_reply", "invalid_message_state"):
            failure.detail = f"{failure.detail}; see it with: peerline why {message_id}"
        raise


def _request(voice: Voice, message: Message) -> list[str]:
    since = f"{age(message.get('createdAt'))} ago, {left(message.get('expiresAt'))} left"
    origin = {"from": str(message.get("fromName")), "agent": str(message.get("from"))}
    return [
        f"{voice.styled(str(message['id']), 'bold')}  {since}",
        *fenced(str(message.get("content", "")), origin, by_gateway=by_gateway(message.get("fromName"))),
        f'Answer: peerline reply {message["id"]} "TEXT"',
    ]


def _answer(message: Message) -> str:
    reply = message.get("reply") or {}
    name = who(message.get("toName"))
    said = summary(str(reply.get("content", "")), by_gateway=by_gateway(message.get("toName")))
    return f"{message['id']}  {name}, {age(message.get('repliedAt'))} ago: {said}"


def _fresh_answer(message: Message) -> bool:
    at = moment(message.get("repliedAt"))
    return message.get("status") == "replied" and at is not None and time() - at.timestamp() < RECENT_S
