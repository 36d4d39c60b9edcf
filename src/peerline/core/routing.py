"""Where an arriving post goes on this machine: the first rule that matches, never everyone (seed relay, Routing)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from peerline.core.identifiers import EVERYONE
from peerline.core.text import lower

# What software may take on; any other need, also one that nobody knows, is a person's.
FOR_AGENTS: Final = frozenset(("none", "agent"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who opened a thread from here: a session by its display name, its reply key, or the hub's message that asked."""

    session: str
    reply_key: str | None = None
    project: str | None = None
    hub_message: str | None = None
    asked_agent: str | None = None  # whose answer it waits for; None or @room: anybody's


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber:
    session: str
    default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """`pending` by thread, `subscribed` by room."""

    pending: Mapping[str, Asker] = field(default_factory=dict)
    subscribed: Mapping[str, tuple[Subscriber, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToPerson:
    """It needs a human: shown, left pending, answered by nobody but them."""


@dataclass(frozen=True, slots=True)
class ToAsker:
    asker: Asker
    answers: bool  # the answer that was waited for; else one more post of the thread


@dataclass(frozen=True, slots=True)
class ToSubscriber:
    session: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Nobody's: kept and shown to the person."""

    reason: str


Route = ToPerson | ToAsker | ToSubscriber | Hold


def route(*, needs: str, thread: str, room: str, sender: str, wish: str | None, routes: Routes) -> Route:
    """`wish` is the session that the sender asked for; it is one among the room's subscribers, or nothing."""
    if needs not in FOR_AGENTS:
        return ToPerson()
    if asker := routes.pending.get(thread):
        return ToAsker(asker, answers=asker.asked_agent in (None, EVERYONE, sender))
    subscribers = routes.subscribed.get(room, ())
    if wish is not None and (
        wished := next((one.session for one in subscribers if lower(one.session) == lower(wish)), None)
    ):
        return ToSubscriber(wished)
    defaults = [one for one in subscribers if one.default]
    if len(subscribers) == 1 or len(defaults) == 1:
        return ToSubscriber((defaults or list(subscribers))[0].session)
    if subscribers:
        return Hold(f"{len(subscribers)} sessions serve #{room} and none is its default")
    return Hold(f"no session here asked in this thread or serves #{room}")
