"""The lines by which a session is told that something waits for it: ids and names, never a body.

A client's monitor wakes its session by each line, so each says which tool reads the rest.
"""

from typing import Final

from peerline.core.fence import attribution, cut

LISTED: Final = 3
_BARE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def request_line(message_id: str, sender: str, *, soon: bool) -> str:
    """`soon`: it was sent to steer."""
    urgency = ", steer: soon" if soon else ""
    return (
        f"KXM request {named(message_id)} from {named(sender)}{urgency}: read it with kxm_inbox, answer with kxm_reply"
    )


def reply_line(message_id: str, recipient: str) -> str:
    return f"KXM reply to {named(message_id)} from {named(recipient)}: read it with kxm_get"


def lines(found: list[str]) -> list[str]:
    """What is told at once of all that is new; the rest is only counted."""
    if len(found) <= LISTED:
        return found
    return [*found[:LISTED], f"KXM: {len(found) - LISTED} more wait: kxm_inbox lists them"]


def named(name: str) -> str:
    """A foreign name on one line; whatever is not one plain word is quoted, and cannot end its quotes."""
    if name and len(name) <= 64 and _BARE.issuperset(name):
        return name
    return attribution({"": cut(name, 64)}).removeprefix(": ")
