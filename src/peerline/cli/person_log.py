"""`peerline log`: what happens to you, as it happens, until Ctrl-C."""

import re
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import click

from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_session import Interrupted
from peerline.cli.person_self import Message, Person, sent, waiting
from peerline.cli.person_voice import by_gateway, clock, moment, summary, who
from peerline.client.events import Event
from peerline.client.hub import Hub
from peerline.client.records import Registered
from peerline.client.refusals import Unreachable
from peerline.core.errors import DuplicateAgentName, PeerlineError
from peerline.core.fence import visible

SPAN: Final = re.compile(r"(\d{1,6})\s*(s|m|min|h|d)")
ENDING: Final = (signal.SIGINT, signal.SIGTERM)
SECONDS: Final = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400}


@click.command("log")
@click.option(
    "--since", metavar="WHEN", help="First what happened since: 10m, 2h, 1d, or a time like 2026-01-31T08:00."
)
@click.option("--presence", is_flag=True, help="Also who comes and who goes.")
@click.pass_obj
def log(person: Person, since: str | None, presence: bool) -> int:
    """Show requests to you, answers, notes, cancels and expiries as they happen. Ctrl-C ends it."""
    begin = None if since is None else _begin(since)
    caller = person.caller()
    history: list[tuple[str, dict[str, Any]]] = []
    if begin is not None:
        with person.session() as session:
            history = _history([*sent(session, "all", 1_000), *waiting(session)], session.agent_id or "", begin)
    for line, facts in history:
        if code := person.voice.event(person.voice.fitted(line), facts):
            return code
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    try:
        with _online(caller) as hub:
            person.voice.aside(f"{visible(caller.name)} listens in project {visible(caller.project)}; Ctrl-C ends it")
            return _follow(person, hub, presence)
    except Unreachable as error:
        raise Failure(f"{error.text}; start it with `peerline up`", more={"code": error.code}) from None
    except PeerlineError as error:
        raise Failure(error.text, more={"code": error.code}) from None


def _follow(person: Person, hub: Hub, presence: bool) -> int:
    voice, me = person.voice, hub.agent.id

    lost = False

    def gap(error: PeerlineError | None) -> None:
        nonlocal lost
        if error is None:
            voice.aside("connected again")
        elif not lost:
            voice.aside(f"the connection is lost ({visible(error.text)}); trying again until it is back")
        lost = error is not None

    with closing(hub.events(notes=True, on_gap=gap)) as events:
        for event in events:
            line = _line(event, me) if presence or event.agent is None else None
            if line is not None and (code := voice.event(voice.fitted(line), {"event": event.data})):
                return code
    return 0


@contextmanager
def _online(caller: Caller) -> Iterator[Hub]:
    """One more session of this person, by any key that is saved."""
    url = f"unix:{caller.address.unix}" if caller.address.unix else caller.address.url
    keys: list[str | None] = [*caller.saved_keys(), None]
    for key in keys:

        def keep(now: Registered, by: str | None = key) -> None:
            caller.keep_key(now.agent.id, now.agent_key, by)

        hub = Hub(
            url,
            project=caller.project,
            name=caller.name,
            token=caller.token(),
            purpose=caller.purpose,
            resume=key,
            on_registered=keep,
        )
        # An answer to a registration must be read, or nobody knows what to unregister.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            hub.start()
        except DuplicateAgentName:
            if key is None:
                raise
            continue
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        try:
            yield hub
        finally:
            hub.stop()
        return


def _end(number: int, frame: object) -> None:
    raise Interrupted(number)


def _line(event: Event, me: str) -> str | None:
    """One line for a person; None for a kind of event that says nothing to one."""
    at = datetime.now().strftime("%H:%M:%S")
    if event.agent is not None:
        return f"{at}  {who(event.agent.name)} is {event.agent.presence}"
    if event.note is not None:
        return f"{at}  note on {event.message_id}: {summary(event.note.content)}"
    if event.message is not None:
        found = next(_happenings(event.message.as_json(), me, event.type), None)
        return f"{at}  {found}" if found else None
    return None


def _happenings(message: Message, me: str, only: str | None = None) -> Iterator[str]:
    """What a message's record tells that happened to it, in order; `only` one kind of event."""
    mine = message.get("from") == me
    asker = "you" if mine else who(message.get("fromName"))
    asked = who(message.get("toName")) if mine else "you"
    name = message["id"]
    if only in (None, "message"):
        said = summary(str(message.get("content", "")), by_gateway=by_gateway(message.get("fromName")))
        yield f"{asker} asked {asked}: {said}  {name}"
    if only in (None, "reply") and message.get("status") == "replied":
        text = str((message.get("reply") or {}).get("content", ""))
        yield f"{asked} answered {asker}: {summary(text, by_gateway=by_gateway(message.get('toName')))}  {name}"
    if only in (None, "cancelled") and message.get("status") == "cancelled":
        yield f"{asker} cancelled what {asker} asked {asked}  {name}"
    if only in (None, "expired") and message.get("status") == "expired":
        yield f"what {asker} asked {asked} expired  {name}"


def _history(messages: list[Message], me: str, begin: datetime) -> list[tuple[str, dict[str, Any]]]:
    told: list[tuple[datetime, str, Message]] = []
    for message in messages:
        ended = message.get("repliedAt") or message.get("cancelledAt") or message.get("expiresAt")
        times = [moment(message.get("createdAt")), moment(ended)]
        for at, what in zip(times, _happenings(message, me), strict=False):
            if at is not None and at >= begin:
                told.append((at, what, message))
    told.sort(key=lambda each: each[0])
    return [
        (f"{clock(at.isoformat())}  {what}", {"at": at.isoformat(), "message": message}) for at, what, message in told
    ]


def _begin(since: str) -> datetime:
    if found := SPAN.fullmatch(since.strip()):
        return datetime.now(UTC) - timedelta(seconds=int(found[1]) * SECONDS[found[2]])
    try:
        at = datetime.fromisoformat(since.strip())
    except ValueError:
        raise usage("--since takes a span like 10m, 2h or 1d, or a time like 2026-01-31T08:00") from None
    return at.astimezone(UTC)
