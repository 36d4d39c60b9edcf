"""The sessions on the hub of this machine: what the relay pushes to them and takes from them."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeVar

from peerline.client.async_hub import AsyncHub
from peerline.client.records import Agent, Message, Trail
from peerline.client.refusals import HubFailed, InvalidAnswer, OutcomeUnknown
from peerline.client.refusals import Unreachable as NoHub
from peerline.core.agent import GATEWAY
from peerline.core.directory import ENTRIES, Remote
from peerline.core.errors import (
    Conflict,
    DuplicateReply,
    IdempotencyConflict,
    MessageForbidden,
    MessageNotFound,
    PeerlineError,
    TooMany,
    Unavailable,
    Unproven,
)
from peerline.core.fence import unrender
from peerline.core.text import lower
from peerline.gateway.hub_line import HubLine
from peerline.gateway.sessions import Asked, Away, Far, Standing, Unanswered, Uncertain, Unreachable
from peerline.wire.directory import published

CONFIRMS: Final = frozenset(("in turn", "read", "outcome read"))
PASSING: Final = (OutcomeUnknown, HubFailed, InvalidAnswer, TooMany, Unavailable)
LATELY: Final = 1_000
AGAIN_S: Final = 30.0

T = TypeVar("T")


class HubSessions:
    """A session is found by its name, or as `project/name` where several projects have the name.

    `elapsed` is a clock in seconds that only grows: what was pushed is looked after less and less often.
    """

    def __init__(self, line: HubLine, elapsed: Callable[[], float]) -> None:
        self._line, self._elapsed = line, elapsed
        self._published: dict[str, tuple[list[dict[str, Any]], float]] = {}
        self._looks: dict[str, tuple[float, float]] = {}  # first look, next look

    def find(self, session: str, project: str | None) -> None:
        self._found(session, project)

    def push(self, session: str, project: str | None, text: str, *, key: str, thread: str) -> str:
        where, agent = self._found(session, project)
        try:
            sent = self._line.call(
                where,
                lambda hub: hub.send(agent.id, text, idempotency_key=key, correlation_id=thread, allow_offline=True),
            )
        except IdempotencyConflict:
            return self._pushed_before(where, key)  # each rendering has a fence of its own
        except PeerlineError as error:
            raise _failed(error) from None
        return sent.id

    def reply(self, hub_message: str, text: str) -> str:
        async def work(hub: AsyncHub) -> str:
            try:
                return (await hub.reply(hub_message, text)).id
            except DuplicateReply:
                before = (await hub.get(hub_message)).reply
                if before is None or not _same(before.content, text):
                    raise
                return hub_message

        try:
            answered = self._as_its_gateway(work)
        except PeerlineError as error:
            raise _failed(error) from None
        self._line.settled(hub_message)
        return answered

    def standing(self, hub_message: str) -> Standing:
        if not self._due(hub_message):
            return "waiting"
        try:
            trail = self._as_its_gateway(lambda hub: hub.trail(hub_message))
        except MessageNotFound:
            found: Standing = "gone"  # purged, and nothing ever confirmed it
        except PeerlineError as error:
            raise Away(error.text) from None
        else:
            found = _standing(trail)
        self._looked(hub_message, again=found == "waiting")
        return found

    def answer(self, hub_message: str) -> str | None:
        look = f"answer {hub_message}"
        if not (self._line.news_of(hub_message) or self._due(look)):
            return None
        try:
            message = self._as_its_gateway(lambda hub: hub.get(hub_message))
        except MessageNotFound:
            raise Unanswered("the hub has it no more") from None
        except PeerlineError as error:
            raise Away(error.text) from None
        self._looked(look, again=not message.final)
        if message.final and message.reply is None:
            raise Unanswered(f"it is {message.status}")
        return message.reply.content if message.reply is not None else None

    def _due(self, look: str) -> bool:
        now = self._elapsed()
        return now >= self._looks.get(look, (now, now))[1]

    def _looked(self, look: str, *, again: bool) -> None:
        now = self._elapsed()
        first, _ = self._looks.pop(look, (now, now))
        if again:
            self._looks[look] = (first, now + min(60.0, (now - first) / 10))

    def asked(self) -> list[Asked]:
        return [
            Asked(
                hub_message=message.id,
                project=message.project,
                session=message.sender_name,
                target=message.recipient_name,
                body=message.content,
                until=round(message.expires_at.timestamp() * 1000),
                needs=message.needs,
            )
            for message in self._line.waiting()
        ]

    def take(self, hub_message: str) -> None:
        async def work(hub: AsyncHub) -> Message:
            return (await hub.acknowledge(hub_message)).message

        try:
            self._as_its_gateway(work)
        except PeerlineError as error:
            raise _failed(error) from None
        finally:
            self._line.settled(hub_message)

    def cancelled(self, hub_message: str) -> bool:
        look = f"cancelled {hub_message}"
        if not (self._line.news_of(hub_message) or self._due(look)):
            return False
        try:
            message = self._as_its_gateway(lambda hub: hub.trail(hub_message)).message
        except MessageNotFound:
            return False
        except PeerlineError as error:
            raise Away(error.text) from None
        self._looked(look, again=not message.final)
        return message.status == "cancelled"

    def report(self, hub_message: str, fact: Far, by: str, why: str) -> None:
        try:
            self._as_its_gateway(lambda hub: hub.report(hub_message, fact, adapter=by, reason=why or None))
        except MessageNotFound:
            pass  # it was purged: nobody reads its trail
        except PeerlineError as error:
            raise Away(error.text) from None

    def publish(self, known: Sequence[Remote]) -> None:
        entries, now = [published(remote) for remote in known[:ENTRIES]], self._elapsed()
        for project in self._line.projects:
            told, at = self._published.get(project, (None, now))
            if told == entries and now - at < AGAIN_S:  # a hub that was started anew knows nothing of it
                continue
            try:
                self._line.call(project, lambda hub: hub.publish_remote(entries))
            except PeerlineError:
                continue
            self._published[project] = (entries, now)

    def ended(self, hub_message: str) -> bool:
        try:
            return self._as_its_gateway(lambda hub: hub.trail(hub_message)).message.final
        except MessageNotFound:
            return True
        except PeerlineError as error:
            raise Away(error.text) from None

    def _found(self, session: str, project: str | None) -> tuple[str, Agent]:
        """Raises: Unreachable."""
        named, _, name = session.rpartition("/")
        only = named or project
        places = [only] if only else self._line.projects
        if not places:
            raise Away("no hub runs here")
        found: list[tuple[str, Agent]] = []
        for place in places:
            try:
                agents = self._line.call(place, lambda hub: hub.agents(include_offline=True))
            except PeerlineError as error:
                raise Away(error.text) from None
            found += [(place, agent) for agent in agents if lower(agent.name) == lower(name) and agent.name != GATEWAY]
        if not found:
            raise Unreachable(f"the hub knows no session {session[:80]!a}")
        if len(found) > 1:
            raise Unreachable(
                f"{len(found)} projects on the hub have a session {name[:80]!a}; name it as "
                + " or ".join(f"{place}/{agent.name}" for place, agent in found[:3])
            )
        return found[0]

    def _pushed_before(self, project: str, key: str) -> str:
        try:
            sent = self._line.call(project, lambda hub: hub.sent(limit=LATELY))
        except PeerlineError as error:
            raise Uncertain(error.text) from None
        for message in sent:
            if message.idempotency_key == key:
                return message.id
        raise Uncertain("the hub has it under another of the gateway's messages")

    def _as_its_gateway(self, work: Callable[[AsyncHub], Coroutine[Any, Any, T]]) -> T:
        """In the project whose message it is: a gateway sees only its own project's.

        Raises:
            Away: that project's gateway is not there now.
            PeerlineError
        """
        for project in self._line.projects:
            try:
                return self._line.call(project, work)
            except MessageForbidden:
                continue
        raise Away("no hub runs here, or the gateway is not in that project now")


def _failed(error: PeerlineError) -> PeerlineError:
    if isinstance(error, (Unreachable, Uncertain)):
        return error
    if isinstance(error, (NoHub, Unproven)):
        return Away(error.text)
    if isinstance(error, PASSING):
        return Uncertain(error.text)
    if isinstance(error, Conflict):
        return Unreachable("nobody waits for it on the hub any more")
    return Unreachable(error.text)


def _standing(trail: Trail) -> Standing:
    message = trail.message
    ours = message.sender_name == GATEWAY
    reader = message.recipient_name if ours else message.sender_name
    if any(fact.fact in CONFIRMS and fact.observer == reader for fact in trail.facts):
        return "confirmed"
    if ours and message.status == "replied":
        return "confirmed"
    return "gone" if message.status in ("cancelled", "expired") else "waiting"


def _same(one: str, other: str) -> bool:
    """Whether two renderings, each with a fence of its own, say the same."""
    try:
        return one.split("\n")[1] == other.split("\n")[1] and unrender(one) == unrender(other)
    except (ValueError, IndexError):
        return one == other
