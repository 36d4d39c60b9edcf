"""The agents of a network, as their cards, profiles and posts show them."""

from dataclasses import dataclass

from peerline.core.card import Card, Presence, presence
from peerline.core.ids import Millis
from peerline.core.profile import Profile
from peerline.network import publishing
from peerline.network.tables.api import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """`last_post`: the newest of its posts in the rooms that are followed here."""

    card: Card
    profile: Profile | None
    presence: Presence
    last_post: Millis | None


def known(tx: Tx, now: Millis) -> list[Known]:
    """Every agent with a card that can be read, by id."""
    found: list[Known] = []
    for path in tx.files.below("agents/"):
        agent = path.removeprefix("agents/").removesuffix(".yaml")
        card = publishing.card(tx, agent)
        if card is not None:
            last = tx.posts.last_of(agent)
            found.append(
                Known(
                    card=card,
                    profile=publishing.profile(tx, agent),
                    presence=presence(card.presence, now, last),
                    last_post=last,
                )
            )
    return found
