"""`peerline inbox --me` and `peerline answer`: what waits for the person of this machine in its networks."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from peerline.cli.at_terminal import confirm_human_answer, require_person
from peerline.cli.hot_output import Failure, usage
from peerline.cli.person_body import body
from peerline.cli.person_self import FRAGMENT, Person
from peerline.cli.person_voice import Voice, age, summary
from peerline.cli.waiting import HUMAN, WITHDRAWN, Reach, Waiting, reaches, waiting, withdrawn
from peerline.core.errors import PeerlineError
from peerline.core.fence import visible
from peerline.core.post import AuthorKind, Kind, Needs, Post
from peerline.core.ulid import is_ulid
from peerline.network.shapes import shown
from peerline.network.tables.posts import Stored
from peerline.wire.instants import instant

NO_NETWORK: Final = (
    "This machine is in no network; `peerline join URL` joins one. Without --me: what the hub has for you."
)


def inbox_me(person: Person) -> int:
    """One line for each item, and the command that deals with it."""
    return guarded(lambda: _inbox_me(person))


def guarded(work: Callable[[], int]) -> int:
    """What the network refuses, said as this command says it."""
    try:
        return work()
    except PeerlineError as error:
        text = "; ".join(line.strip() for line in error.text.split("\n"))
        # This command has no such option: whoever overrides the scanner types the whole of it.
        text = text.replace("with --force-unsafe", 'with: komnet answer ID "TEXT" --as-human --force-unsafe WHY')
        raise Failure(text, more={"code": error.code}) from None


def _inbox_me(person: Person) -> int:
    voice = person.voice
    places = list(reaches(person.env))
    if not places:
        return voice.done([NO_NETWORK], waiting=[], unseen=[])
    unseen = [(reach.network, why) for reach in places if (why := reach.look(person.env)) is not None]
    for network, why in unseen:
        voice.aside(f"network {network} could not be looked at, this is what was known before: {visible(why, 300)}")
    found = waiting(person.env)
    lines = [f"{len(found)} wait{'' if len(found) != 1 else 's'} for you."] if found else []
    lines += [line for one in found for line in ["", *item_lines(voice, one)]]
    if found:
        lines += ["", f"A whole text: komnet read {found[0].room} --thread {found[0].thread}"]
    names = ", ".join(dict.fromkeys(reach.network for reach in places))
    shapes = [one.shape() for one in found]
    return voice.done(
        lines or [f"Nothing waits for you in {names}."], waiting=shapes, unseen=[name for name, _ in unseen]
    )


def item_lines(voice: Voice, one: Waiting) -> list[str]:
    proof = "" if one.unproven is None else ", sender not verified"
    reason = visible(one.reason, 160)
    why = reason.removeprefix("it ") if one.state == HUMAN else f"{one.state}: {reason}"
    head = f"{voice.styled(one.id, 'bold')}  {one.sender} in #{one.room} ({one.network}), {age(one.at)} ago{proof}"
    return [voice.fitted(f"{head}, {why}: {summary(one.text)}"), f"  {one.next}"]


@click.command("answer")
@click.argument("id")
@click.argument("text", nargs=-1)
@click.option("--file", "-f", metavar="FILE", help="Take the text from FILE.")
@click.pass_obj
def answer(person: Person, id: str, text: tuple[str, ...], file: str | None) -> int:
    """Answer, as the person you are, what waits in a network of this machine (`peerline inbox --me`), once.

    ID: a piece of it is enough. You see the question and your words, and confirm them: an agent can't do this for you.
    What the hub has for you is answered with `peerline reply`.
    """
    if id.startswith("msg_"):
        raise usage(f"{visible(id, 40)} is a message of the hub; answer it with: peerline reply {visible(id, 40)}")
    words = body(text, file)
    require_person(person.env)
    return guarded(lambda: _answer(person, id, words))


def _answer(person: Person, given: str, words: str) -> int:
    message_id = _meant(person.env, given)
    reach, stored = _found(person.env, message_id)
    _require_open(reach, stored.post)
    if withdrawn(reach.view, stored.post):
        person.voice.aside(f"{stored.post.sender} has {WITHDRAWN}; an answer stays in #{stored.post.room} all the same")
    confirm_human_answer(person.env, shown(stored), words)
    result: dict[str, Any] = reach.calls.answer_as_human(message_id, words, reach.network)
    where = f"#{stored.post.room} of {reach.network}"
    if result["delivery"] == "queued":
        lines = [
            f"Your answer is written here and goes out by itself as soon as {reach.network} can be reached;"
            " do not send it again.",
            f"It is {result['id']}: {visible(str(result.get('queuedReason') or 'not pushed yet'), 300)}",
        ]
    else:
        lines = [f"{stored.post.sender} has your answer in {where}, as a person's decision: {result['id']}"]
    return person.voice.done(lines, answered=message_id, message=result, network=reach.network)


def _meant(env: Mapping[str, str], given: str) -> str:
    """The id that `given` means: itself, or the only one that waits and holds this piece.

    Raises:
        Failure: the piece is in none or in several of them.
    """
    wanted = given.upper()
    if is_ulid(wanted):
        return wanted
    if not re.fullmatch(r"[0-9A-Z]+", wanted) or len(wanted) < FRAGMENT:
        raise usage(
            f"{visible(given, 40)} is no id of a message, nor {FRAGMENT} characters of one; see peerline inbox --me"
        )
    found = _holding(env, wanted)
    if not found:
        for reach in reaches(env):
            reach.look(env)
        found = _holding(env, wanted)
    if len(found) != 1:
        what = f"{len(found)} messages have {given} in their ids; give more of it" if found else f"nothing with {given}"
        raise Failure(what if found else f"{what} in its id waits for you; see: peerline inbox --me")
    return found[0]


def _holding(env: Mapping[str, str], piece: str) -> list[str]:
    return sorted({one.id for one in waiting(env) if piece in one.id})


def _found(env: Mapping[str, str], message_id: str) -> tuple[Reach, Stored]:
    """The agent and network in whose inbox it waits, else any that knows it."""
    places = list(reaches(env))
    if not places:
        raise Failure(NO_NETWORK)
    found = _known(places, message_id)
    if not found:
        for reach in places:
            reach.look(env)
        found = _known(places, message_id)
    if not found:
        networks = ", ".join(dict.fromkeys(reach.network for reach in places))
        raise Failure(
            f"no message {message_id} in the rooms that are followed here ({networks}): it is not here yet"
            " (komnet sync), or the id is wrong"
        )
    return found[0]


def _known(places: list[Reach], message_id: str) -> list[tuple[Reach, Stored]]:
    found = [(reach, stored) for reach in places if (stored := reach.view.find(message_id)) is not None]
    return sorted(found, key=lambda each: not _waits(each[0], message_id))


def _waits(reach: Reach, message_id: str) -> bool:
    item = reach.view.item(message_id)
    return item is not None and item.state == "pending"


def _require_open(reach: Reach, post: Post) -> None:
    """Raises: Failure: it has its answer already; a second one would stand beside it for ever."""
    answers = [one for one in reach.view.replies(post.id) if one.kind is Kind.ANSWER]
    if post.needs is Needs.HUMAN:
        answers = [one for one in answers if one.author is AuthorKind.HUMAN]
    if not answers:
        return
    first = answers[0]
    by = "you answered" if first.sender == reach.config.agent.id else f"{first.sender} answered"
    raise Failure(
        f"{by} {post.id} {age(instant(first.ts))} ago already: {summary(first.body)}. To add to it:"
        f" komnet send {post.room} 'TEXT' --reply-to {post.id} --mention {post.sender}",
        more={"code": "ANSWERED_ALREADY"},
    )
