"""What stands still for a person, and what is under way: one line each, with the cause and the next step."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from peerline.cli.hot_address import escaped
from peerline.cli.hot_output import Failure
from peerline.cli.hot_session import Session
from peerline.cli.person_self import Message, sent, waiting
from peerline.cli.person_voice import Voice, age, by_gateway, left, moment, summary, who
from peerline.cli.waiting_briefly import waiting_here
from peerline.core.fence import visible

if TYPE_CHECKING:
    from peerline.cli.waiting import Waiting

LOOKED_AT: Final = 50
UNREAD: Final = 20
LAPSED_S: Final = 86_400
LISTED: Final = 10
NOTHING: Final = "Nothing of yours stands still: nobody owes you an answer, and you owe none."

Line = dict[str, Any]
"""`id` if there is a message, `between`, `since`, `cause`, `next`."""


def stuck(voice: Voice, session: Session, env: Mapping[str, str]) -> int:
    open_ = sent(session, "open", 1_000)
    looked_at = [(message, _trail(session, message)) for message in open_[:LOOKED_AT]]
    found = [_standing(message, trail) for message, trail in looked_at if trail.get("stuck", True)]
    me = session.caller.name
    found += [_expired(message, _trail(session, message), me) for message in _lapsed(session)]
    replies = [(message, _trail(session, message)) for message in _replies(session)]
    found += [_unread(message, trail) for message, trail in replies if trail.get("stuck", True)]
    found += [_owed(message) for message in waiting(session)]
    moving = [_standing(message, trail) for message, trail in looked_at if not trail.get("stuck", True)]
    held, refused, more = _held(session), _refused(session), max(0, len(open_) - LOOKED_AT)
    lines = [
        f"{each['between']}: {each['held']} held for {each['since']}, since they only talked to each other. "
        f"{each['next']}."
        for each in held
    ]
    lines += [_line(voice, each) for each in (*refused, *found)]
    if moving:
        lines += [*([""] if lines else []), "Under way, nothing to do:", *(_line(voice, each) for each in moving)]
    if more:
        lines.append(f"… and {more} more that you asked.")
    networks = waiting_here(env)
    lines += [_line(voice, _in_network(one)) for one in networks[:LISTED]]
    if len(networks) > LISTED:
        lines.append(f"… and {len(networks) - LISTED} more in the networks of this machine: peerline inbox --me")
    waiting_there = [one.shape() for one in networks]
    return voice.done(
        lines or [NOTHING],
        standing=found, moving=moving, held=held, refused=refused, more=more, networks=waiting_there,
    )  # fmt: skip


def _in_network(one: "Waiting") -> Line:
    """Without a word of its text: who wrote it stands in what it is about."""
    return {
        "id": one.id,
        "between": f"{one.sender} wrote in #{one.room} of {one.network}",
        "since": age(one.at),
        "cause": visible(one.reason, 200),
        "next": f"Next: `{one.next}`",
    }


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def party(message: Message, member: str) -> str:
    return who(message.get(member))


def _line(voice: Voice, each: Line) -> str:
    name = f"{each['id']}  " if each["id"] else ""
    return f"{name}{voice.styled(each['between'], 'bold')}  {each['since']}  {each['cause']}. {each['next']}."


def _trail(session: Session, message: Message) -> dict[str, Any]:
    return session.call("GET", f"/v1/messages/{escaped(str(message['id']))}/trail")


def _standing(message: Message, trail: dict[str, Any]) -> Line:
    return {
        "id": message["id"],
        "between": f"you asked {party(message, 'toName')}",
        "since": age(message.get("createdAt")),
        "cause": visible(str(trail.get("standing") or message.get("status")), 300),
        "next": sentence(visible(str(trail.get("next") or f"peerline why {message['id']}"), 300)),
        "status": message.get("status"),
    }


def _expired(message: Message, trail: dict[str, Any], me: str) -> Line:
    again = f"If it still matters: kxm peer resend {message['id']} --as {visible(me)}"
    return _standing(message, trail) | {"next": again}


def _unread(message: Message, trail: dict[str, Any]) -> Line:
    read = {"since": age(message.get("repliedAt")), "next": f"Read it with `peerline why {message['id']}`"}
    return _standing(message, trail) | read


def _owed(message: Message) -> Line:
    remaining, text = (
        left(message.get("expiresAt")),
        summary(str(message.get("content", "")), 40, by_gateway=by_gateway(message.get("fromName"))),
    )
    return {
        "id": message["id"],
        "between": f"{party(message, 'fromName')} asked you",
        "since": age(message.get("createdAt")),
        "cause": f"it waits for your reply ({remaining} left): {text}",
        "next": f'Answer with `peerline reply {message["id"]} "TEXT"`',
        "status": message.get("status"),
    }


def _held(session: Session) -> list[Line]:
    """The pairs of agents that the hub has stopped, whoever they are."""
    pairs = session.call("GET", "/v1/pairs").get("pairs", [])
    return [
        {
            "between": " and ".join(party(end, "name") for end in pair.get("agents", [])),
            "held": pair.get("held"),
            "since": age(pair.get("since")),
            "cause": "they only talked to each other",
            "next": f"Let them go on with `{visible(str(pair.get('next')), 200)}`",
        }
        for pair in pairs
        if isinstance(pair, dict)
    ]


def _refused(session: Session) -> list[Line]:
    """What the hub did not take, unless something else has gone to the same agent since."""
    try:
        refused = session.call("GET", "/v1/refused").get("refused", [])
    except Failure:
        return []  # a hub that does not know the question
    refused = [each for each in refused if isinstance(each, dict)]
    since = sent(session, "all") if refused else []
    return [_refusal(each) for each in refused if not any(_later(message, each) for message in since)]


def _refusal(refused: dict[str, Any]) -> Line:
    times = refused.get("times")
    again = f" ({times} times)" if isinstance(times, int) and times > 1 else ""
    return {
        "id": None,
        "between": f"you asked {party(refused, 'target')}",
        "since": age(refused.get("at")),
        "cause": f"refused{again}: {visible(str(refused.get('why')), 300)}",
        "next": sentence(visible(str(refused.get("next")), 300)),
        "code": refused.get("code"),
    }


def _later(message: Message, refused: dict[str, Any]) -> bool:
    target = str(refused.get("target")).lower()
    same = target in (str(message.get("to")), str(message.get("toName")).lower())
    return same and str(message.get("createdAt")) > str(refused.get("at"))


def _replies(session: Session) -> list[Message]:
    """Those that no get and no await has fetched, as far as the hub knows."""
    try:
        return sent(session, "unread", UNREAD)
    except Failure:
        return []


def _lapsed(session: Session) -> list[Message]:
    """What expired in the last day and was not sent again."""
    lapsed = [message for message in sent(session, "final") if _lapsed_lately(message)]
    again = {message.get("replyTo") for message in sent(session, "all")} if lapsed else set()
    return [message for message in lapsed if message["id"] not in again]


def _lapsed_lately(message: Message) -> bool:
    at = moment(message.get("expiresAt"))
    return message.get("status") == "expired" and at is not None and (datetime.now(UTC) - at).total_seconds() < LAPSED_S
