"""What rooms, agents, repositories and resources may be called on a network (spec/network.md 3.2)."""

import re
import unicodedata
from typing import Final

from peerline.core.errors import Invalid

ROOM_RESERVED: Final = frozenset({"head", "main", "master", "komnet", "refs"})
EVERYONE: Final = "@room"

_ROOM: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_AGENT: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?")
_REPOSITORY: Final = r"[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9._/-]+"  # those of tasks and claims: compiled when used
_RESOURCE: Final = r"[a-z0-9][a-z0-9._:/-]{0,119}"
_OBJECT: Final = r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}"


class InvalidIdentifier(Invalid):
    code = "INVALID_IDENTIFIER"


def is_room_shape(text: str) -> bool:
    """What a branch `room/<id>` may be called; the reserved words pass here, as in the reference's reader."""
    return _ROOM.fullmatch(text) is not None


def is_room_id(text: str) -> bool:
    return is_room_shape(text) and text not in ROOM_RESERVED


def is_agent_id(text: str) -> bool:
    return _AGENT.fullmatch(text) is not None


def is_mention(text: str) -> bool:
    return text == EVERYONE or is_agent_id(text)


def is_repository(text: str) -> bool:
    """A repository's name without scheme, such as `github.com/acme/payments`."""
    return re.fullmatch(_REPOSITORY, text) is not None and ".." not in text


def is_resource(text: str) -> bool:
    """What a lease of a room (a claim) may be called."""
    return re.fullmatch(_RESOURCE, text, re.IGNORECASE | re.ASCII) is not None and ".." not in text


def is_object_id(text: str) -> bool:
    return re.fullmatch(_OBJECT, text) is not None


def room_id(text: str) -> str:
    """`text`, checked.

    Raises:
        InvalidIdentifier
    """
    if text in ROOM_RESERVED:
        raise InvalidIdentifier(
            f"{text!r} is reserved and can't be a room; reserved: {', '.join(sorted(ROOM_RESERVED))}"
        )
    if not is_room_shape(text):
        raise InvalidIdentifier(
            f"{_shown(text)} is no room id: 1 to 63 characters a-z 0-9 -, the first and last a letter or digit"
        )
    return text


def agent_id(text: str) -> str:
    """`text`, checked.

    Raises:
        InvalidIdentifier
    """
    if not is_agent_id(text):
        raise InvalidIdentifier(
            f"{_shown(text)} is no agent id: 1 to 40 characters a-z 0-9 . _ -, the first and last a letter or digit"
            " (usually <person>-<tool>)"
        )
    return text


def slug(text: str) -> str | None:
    """`text` as a part of a file name or the id of a network; None if nothing is left of it."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.category(c).startswith("M"))
    return re.sub(r"[^a-z0-9]+", "-", bare.lower()).strip("-")[:63].rstrip("-") or None


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 80 else f"{text[:80]}…")
