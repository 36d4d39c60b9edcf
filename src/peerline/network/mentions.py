"""Who mentioned us in rooms that we do not follow: nothing else would ever show it."""

from collections.abc import Collection
from typing import Final

from peerline.core.post import Post
from peerline.network.clone import Clone
from peerline.network.git.branches import room_of
from peerline.network.git.objects import Objects
from peerline.network.git.remote import fetch, heads
from peerline.network.git.repository import seen_tips
from peerline.network.git.walk import FILE, tree_changes
from peerline.wire.post_file import FILE_BYTES, PATH, MalformedPost, UnsupportedVersion, read_post

_ROOMS: Final = 200
_LAST: Final = 25


def mentions(clone: Clone, followed: Collection[str], *, wait_lock: float, limit_s: float | None = None) -> list[Post]:
    """Posts among the last 25 of each such room that mention this agent by name.

    Raises:
        RemoteFailed, Busy, GitFailed
    """
    with clone.locked(wait_lock), Objects(clone.git) as objects:
        there = heads(clone.git, limit_s)
        wanted = [name for name in sorted(there) if (room := room_of(name)) and room not in followed][:_ROOMS]
        tips = seen_tips(clone.git)
        fetch(clone.git, [name for name in wanted if tips.get(name) != there[name]], limit_s)
        tips = seen_tips(clone.git)
        found: list[Post] = []
        for name in wanted:
            room = room_of(name)
            if name in tips and room is not None:
                found += _in_room(clone, objects, tips[name], room)
    return found


def _in_room(clone: Clone, objects: Objects, tip: str, room: str) -> list[Post]:
    files: list[tuple[str, str]] = []
    for change in tree_changes(clone.git, tip, None):
        place = PATH.fullmatch(change.path or "")
        if place is not None and place["room"] == room and change.mode == FILE:
            files.append((change.path or "", change.oid))
            if len(files) > 100 * _LAST:
                files = sorted(files)[-_LAST:]
    found: list[Post] = []
    last = sorted(files)[-_LAST:]
    for (path, _), (_, data) in zip(last, objects.blobs([oid for _, oid in last], FILE_BYTES), strict=True):
        try:
            post = read_post(path, data) if data is not None else None
        except (MalformedPost, UnsupportedVersion):
            continue
        if post is not None and clone.identity.agent in post.mentions:
            found.append(post)
    return found
