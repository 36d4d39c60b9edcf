"""`peerline ask`: hand a request to an agent, and wait for the answer if wished."""

import os
from typing import Any, Final

import click

from peerline.cli.hot_output import FAILED, Failure
from peerline.cli.hot_session import FINAL, Interrupted, Lost, Session
from peerline.cli.person_body import body
from peerline.cli.person_self import Message, Person
from peerline.cli.person_voice import by_gateway, fenced, left, span, who
from peerline.core.fence import visible
from peerline.core.next_step import NO_GATEWAY

TRIES: Final = 3
WAIT_S: Final = 60
LONGEST_S: Final = 86_400


class Ask(click.Command):
    """`--wait` takes seconds if a number follows, else it means one minute."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for place, word in enumerate(args):
            if word == "--":
                break
            if word == "--wait" and not (args[place + 1 :] and args[place + 1].isascii() and args[place + 1].isdigit()):
                args = [*args[:place], f"--wait={WAIT_S}", *args[place + 1 :]]
        return super().parse_args(ctx, args)


@click.command("ask", cls=Ask)
@click.argument("name")
@click.argument("text", nargs=-1)
@click.option(
    "--wait", type=click.IntRange(1, LONGEST_S), metavar="[S]", help="Wait for the answer, 60 s or S seconds."
)
@click.option("--file", "-f", metavar="FILE", help="Take the text from FILE; - is standard input.")
@click.option("--offline", is_flag=True, help="Also if NAME is not here now: it gets the request when it comes back.")
@click.option("--key", metavar="KEY", help="Idempotency key: the same key and text never make a second request.")
@click.pass_obj
def ask(
    person: Person, name: str, text: tuple[str, ...], wait: int | None, file: str | None, offline: bool, key: str | None
) -> int:
    """Hand the request TEXT to the agent NAME. One task, and what answer you expect."""
    content = body(text, file)
    with person.session() as session:
        message = _sent(session, {"target": name, "content": content, "allowOffline": offline}, key)
        if wait is None:
            return _told(person, message)
        try:
            person.voice.aside(
                f"asked {_recipient(message)}; waiting up to {span(wait)} (Ctrl-C ends only the waiting)"
            )
            message = session.wait(message["id"], wait * 1_000)
        except Interrupted:
            person.voice.aside(f"stopped waiting; the request goes on. Look later: peerline why {message['id']}")
            raise
    return answered(person, message)


def answered(person: Person, message: Message) -> int:
    """Tell how a request that we waited for ended; the exit code."""
    voice, name, status = person.voice, _recipient(message), message.get("status")
    if status == "replied":
        reply = message.get("reply") or {}
        origin = {"from": str(message.get("toName")), "agent": str(message.get("to")), "answers": str(message["id"])}
        return voice.done(
            fenced(str(reply.get("content", "")), origin, by_gateway=by_gateway(message.get("toName"))), message=message
        )
    if status in FINAL:
        happened = "expired before" if status == "expired" else f"was {status} before"
        return voice.done([f"The request {happened} {name} replied."], code=FAILED, message=message)
    lines = [
        f"No answer from {name} yet; the request goes on ({left(message.get('expiresAt'))} left).",
        f"Why, and what to do: peerline why {message['id']}",
    ]
    return voice.done(lines, code=FAILED, message=message)


def _told(person: Person, message: Message) -> int:
    if message.get("status") in FINAL:
        return answered(person, message)
    if message.get("held"):
        lines = [
            f"The hub has it on disk, but keeps it from {_recipient(message)} for now: {message['id']}",
            f"{visible(str(message['held']), 400)}",
        ]
        return person.voice.done(lines, message=message)
    lines = [
        f"Asked {_recipient(message)}. The hub has it on disk, {left(message.get('expiresAt'))} left: {message['id']}",
        "The answer will stand in: peerline inbox",
        f"Where it is meanwhile: peerline why {message['id']}",
    ]
    return person.voice.done(lines, message=message)


def _sent(session: Session, fields: dict[str, Any], key: str | None) -> Message:
    """Send; an answer that is lost is asked for again under the same key, so nothing is sent twice."""
    key = key or f"person:{os.urandom(12).hex()}"
    for attempt in range(TRIES):
        try:
            message = session.call("POST", "/v1/messages", {**fields, "idempotencyKey": key}).get("message")
            if not isinstance(message, dict) or not isinstance(message.get("id"), str):
                raise Failure("the hub's answer holds no message; is it a hub of another version?")
            return message
        except Lost as lost:
            if attempt + 1 == TRIES:
                raise Failure(
                    f"{lost.detail}. The same command with --key {key} is safe to repeat", more=lost.more
                ) from None
        except Failure as failure:
            raise _explained(session, failure, str(fields["target"]), key) from None
    raise AssertionError("unreachable")


def _explained(session: Session, failure: Failure, target: str, key: str) -> Failure:
    code = failure.more.get("code")
    if code == "target_not_found":
        agents = session.call("GET", "/v1/agents?includeOffline=true").get("agents", [])
        names = {str(agent.get("name")): agent for agent in agents if isinstance(agent, dict)}
        project = visible(session.caller.project)
        if "@" in target:
            text = f"{target} is in a room, and no gateway of project {project} is at work; {NO_GATEWAY}"
        elif any(target.lower() in (name.lower(), agent.get("id")) for name, agent in names.items()):
            text = f"{target} is not here now; with --offline the request waits until it comes back"
        elif others := [visible(name, 32) for name, agent in names.items() if agent.get("id") != session.agent_id]:
            text = f"nobody is called {target} in project {project}; known are {', '.join(sorted(others)[:8])}"
        else:
            text = f"nobody is called {target}: project {project} has nobody else yet; --project P names another"
        return Failure(text, more=failure.more)
    if code == "self_target":
        return Failure(f"you are {target} yourself; ask somebody else", more=failure.more)
    if code == "idempotency_conflict":
        return Failure(f"the key {key} was used for another request; use a new one for new work", more=failure.more)
    return failure


def _recipient(message: Message) -> str:
    return who(message.get("toName"))
