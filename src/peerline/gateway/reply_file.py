"""Reply files: how an answer reaches a session that cannot be pushed to (spec/network.md 9.4)."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from peerline.core.errors import Invalid
from peerline.core.identifiers import is_agent_id, is_room_id
from peerline.core.ulid import is_ulid
from peerline.database.folder import private_folder
from peerline.gateway.place import write_whole
from peerline.gateway.reply_key import is_reply_key

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_NAME: Final = re.compile(r"([0-9A-HJKMNP-TV-Z]{26})--(.+)\.md")
NAME_AT_MOST: Final = 200


class UnknownReply(Invalid):
    code = "UNKNOWN_REPLY"


class ReplyName(NamedTuple):
    """What a reply's file name says."""

    file: str
    id: str
    room: str
    sender: str


def reply_name(id: str, room: str, sender: str) -> str:
    return "--".join(_UNSAFE.sub("_", part) for part in (id, room, sender)) + ".md"


def read_name(file: str) -> ReplyName | None:
    """The three parts; None: it is no reply's name.

    Ids may hold `--` themselves: of the places where the rest could be split, the one counts that leaves a room's id
    and an agent's id, and with several the first.
    """
    found = _NAME.fullmatch(file)
    if found is None or not is_ulid(found[1]) or len(file) > NAME_AT_MOST:
        return None
    rest = found[2]
    for at in (match.start() for match in re.finditer("(?=--)", rest)):
        room, sender = rest[:at], rest[at + 2 :]
        if is_room_id(room) and is_agent_id(sender):
            return ReplyName(file=file, id=found[1], room=room, sender=sender)
    return None


class ReplyBox:
    """The replies for one project folder, by its reply key."""

    def __init__(self, replies: Path, key: str) -> None:
        """Raises: ValueError: no reply key."""
        if not is_reply_key(key):
            raise ValueError("a reply key is digits")
        self.pending = replies / key / "pending"
        self.delivered = replies / key / "delivered"

    def put(self, id: str, room: str, sender: str, text: str) -> Path:
        """What was taken before stays taken: a gateway that was killed puts it again.

        Raises:
            OSError
        """
        file = self.pending / reply_name(id, room, sender)
        if not self.taken(file.name):
            write_whole(file, text)
        return file

    def waiting(self) -> list[ReplyName]:
        """What has not been taken, the oldest id first."""
        try:
            names = sorted(entry.name for entry in self.pending.iterdir() if entry.is_file())
        except OSError:
            return []
        return [found for name in names if (found := read_name(name)) is not None]

    def read(self, file: str) -> str:
        """Raises: UnknownReply."""
        try:
            return self._known(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            raise UnknownReply(f"there is no reply {file[:100]!a} here") from None

    def mark_delivered(self, file: str) -> None:
        """Move it out of the way; one that was delivered before stays as it is.

        Raises:
            UnknownReply
        """
        source = self._known(file)
        private_folder(self.delivered)
        target = self.delivered / file
        if target.exists():
            raise UnknownReply(f"{file} was delivered before; it is not overwritten")
        try:
            source.rename(target)
        except OSError:
            raise UnknownReply(f"there is no reply {file[:100]!a} here") from None

    def taken(self, file: str) -> bool:
        return (self.delivered / file).is_file()

    def _known(self, file: str) -> Path:
        if read_name(file) is None:
            raise UnknownReply(f"{file[:100]!a} is no reply's name")
        return self.pending / file
