"""Who gets a post into the inbox, and what a sender may expect (spec/network.md 4.5)."""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from peerline.core.identifiers import EVERYONE
from peerline.core.post import Needs, Post


class Reason(StrEnum):
    """Why a post is in an inbox."""

    MENTIONED = "mentioned"
    ROOM = "room"
    HUMAN = "human"
    FORGED = "forged"


def delivery(post: Post, me: str, *, forged: bool = False) -> Reason | None:
    """Why `post`, new in a room that `me` subscribes to, goes to its inbox; None: it is only recorded.

    What bears my name and failed the network's proof is `forged`: I am told of it, since I did not write it.
    """
    if post.sender == me:
        return Reason.FORGED if forged else None
    if me in post.mentions:
        return Reason.MENTIONED
    if EVERYONE in post.mentions:
        return Reason.ROOM
    if post.needs is Needs.HUMAN and not post.mentions:
        return Reason.HUMAN
    return None


class Outlook(StrEnum):
    """Whether a mentioned agent will see a post in a room, as far as its card tells."""

    REACHES = "reaches"
    MISSES = "misses"
    UNKNOWN = "unknown"


def forecast(
    mentions: Iterable[str], room: str, me: str, subscriptions: Mapping[str, Collection[str] | None]
) -> dict[str, Outlook]:
    """The outlook of each mentioned agent but `me` and everyone, in the order of `mentions`.

    `subscriptions` holds an entry for each card here; None in it: the card does not say.
    """
    outlooks: dict[str, Outlook] = {}
    for agent in mentions:
        if agent in (me, EVERYONE):
            continue
        rooms = subscriptions.get(agent)
        if rooms is None:
            outlooks[agent] = Outlook.UNKNOWN
        else:
            outlooks[agent] = Outlook.REACHES if room in rooms else Outlook.MISSES
    return outlooks
