"""Whether a post is by the agent it says it is from, as far as its network can prove it (spec/network.md 3.8).

A verdict never hides a post: it stands beside the item, with its reason, wherever the item is shown.
"""

from typing import NamedTuple

from peerline.core.card import Card
from peerline.core.fence import visible
from peerline.core.post import Post
from peerline.core.room import Authenticity
from peerline.network.signing import SigningFailed, Verifier
from peerline.wire.post_file import signed_form
from peerline.wire.room_files import read_allowed_signers


class Verdict(NamedTuple):
    """`failed`: the network asks for a proof and this post has none; not the same as not `verified`."""

    verified: bool
    reason: str
    failed: bool = False


UNCHECKED = Verdict(verified=False, reason="this network does not check who wrote a post")


def by_commit(post: Post, card: Card | None, author_email: str | None) -> Verdict:
    """The verdict of mode git: the commit that added the file is by the git author on the sender's card."""
    if card is None:
        return _failed(f"there is no card for {post.sender}")
    if card.git_author is None or not card.git_author.email:
        return _failed(f"the card of {post.sender} names no git author")
    if not author_email:
        return _failed("the author of its commit is not known")
    if author_email.casefold() != card.git_author.email.casefold():
        return _failed(
            f"committed by {visible(author_email, 100)}, but the card of {post.sender} says"
            f" {visible(card.git_author.email, 100)}"
        )
    return Verdict(verified=True, reason="committed by the git author on the sender's card")


class Signed:
    """The verdicts of mode signed, for one state of allowed_signers; `verifier` is made of the same."""

    def __init__(self, signers: bytes, verifier: Verifier) -> None:
        self._agents = {agent for signer in read_allowed_signers(signers) for agent in signer.agents}
        self._verifier = verifier

    def verdict(self, post: Post, data: bytes) -> Verdict:
        """The verdict on `post`, which was read from `data`."""
        if not post.sig:
            return _failed("it is not signed")
        try:
            held = self._verifier.holds(signed_form(data), post.sig, post.sender)
        except SigningFailed as error:
            return _failed(f"its signature could not be checked: {error}")
        if held:
            return Verdict(verified=True, reason="signed with a key of the sender")
        if post.sender not in self._agents:
            return _failed(f"{post.sender} has no key in allowed_signers, or the signature does not hold")
        return _failed(f"its signature does not hold for the keys of {post.sender}")


def verdict(
    mode: Authenticity, post: Post, data: bytes, *, card: Card | None, author_email: str | None, signed: Signed | None
) -> Verdict:
    """The verdict of a network's `mode`; `signed` is needed for mode signed only."""
    if mode is Authenticity.NONE:
        return UNCHECKED
    if mode is Authenticity.GIT:
        return by_commit(post, card, author_email)
    return signed.verdict(post, data) if signed else _failed("there are no allowed signers to check it against")


def _failed(reason: str) -> Verdict:
    return Verdict(verified=False, reason=reason, failed=True)
