"""The JSON of the network's results, as `--json`, the socket and the MCP tools give it (spec/network.md 7)."""

from typing import Any

from peerline.core.post import Post
from peerline.network.health import Health
from peerline.network.inbox import InboxItem
from peerline.network.tables.posts import Stored
from peerline.wire.instants import instant

Json = dict[str, Any]


def message(post: Post) -> Json:
    """A post as `read` and `send` show it."""
    return {
        "id": post.id,
        "room": post.room,
        "from": post.sender,
        "authorKind": post.author.value,
        "ts": instant(post.ts),
        "kind": post.kind.value,
        "needs": post.needs.value,
        "thread": post.thread,
        "inReplyTo": post.in_reply_to,
        "mentions": list(post.mentions),
        "priority": post.priority.value,
        "tags": list(post.tags),
        "refs": list(post.refs),
        "review": _group(post, "review_"),
        "task": _group(post, "task_"),
        "body": post.body,
    }


def header(post: Post) -> Json:
    """A post's header with its body, as a sync report names what it delivered."""
    members: Json = {
        "v": 1,
        "id": post.id,
        "room": post.room,
        "from": post.sender,
        "authorKind": post.author.value,
        "ts": instant(post.ts),
        "kind": post.kind.value,
        "thread": post.thread,
        "needs": post.needs.value,
        "mentions": list(post.mentions),
        "priority": post.priority.value,
        "tags": list(post.tags),
        "refs": list(post.refs),
        "extra": dict(post.extra),
    }
    if post.in_reply_to:
        members["inReplyTo"] = post.in_reply_to
    if post.seen:
        members["seen"] = post.seen
    return {"header": members, "body": post.body}


def camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _group(post: Post, prefix: str) -> Json | None:
    found = {camel(key.removeprefix(prefix)): value for key, value in post.groups.items() if key.startswith(prefix)}
    return found or None


def health(value: Health) -> Json:
    members: Json = {
        "lastSyncAt": None if value.last_sync_at is None else instant(value.last_sync_at),
        "ageSeconds": value.age_seconds,
        "degraded": value.degraded,
    }
    if value.reason is not None:
        members["reason"] = value.reason
    if value.failing_since is not None:
        members["failingSince"] = instant(value.failing_since)
    return members


def item(value: InboxItem) -> Json:
    """An item of the inbox: whom it is from, how that is proved, and what it answers stand beside its text."""
    post = value.post
    members: Json = {
        "id": post.id,
        "room": post.room,
        "from": post.sender,
        "ts": instant(post.ts),
        "kind": post.kind.value,
        "needs": post.needs.value,
        "priority": post.priority.value,
        "thread": post.thread,
        "tags": list(post.tags),
        "path": value.path,
        "body": post.body,
        "processedAt": None if value.changed_at is None else instant(value.changed_at),
        "authorKind": post.author.value,
        "inReplyTo": post.in_reply_to,
        "mentions": list(post.mentions),
        "refs": list(post.refs),
        "verified": value.verified,
    }
    return members if value.verified else {**members, "reason": value.reason}


def shown(stored: Stored) -> Json:
    """A stored post as `read` shows it; one whose writer could not be verified says so."""
    members = message(stored.post)
    return members if stored.verified else {**members, "verified": False, "reason": stored.reason}
