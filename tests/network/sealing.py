"""A seal made by another implementation, as the recorded repositories show it: planned, posts taken away, released."""

import json

from peerline.wire.post_file import read_post
from tests.network.remotes import BareRemote


def seal(remote: BareRemote, room: str, keep: int = 0) -> list[str]:
    """Take all posts of the room but the newest `keep` from its branch; returns their paths."""
    branch, folder = f"room/{room}", f"rooms/{room}/.seal"
    files = remote.files(branch)
    posts = {path: read_post(path, data) for path, data in files.items() if "/msg/" in path}
    ordered = sorted(posts, key=lambda path: posts[path].id)
    gone = ordered[: len(ordered) - keep]
    head = remote.tip(branch)
    remote.commit(branch, {f"{folder}/lock.json": b'{"v": 2}\n'}, f"komnet: acquire seal lock for {room}")
    plan = {
        "v": 1, "id": "cb3917e31ee068b5", "created_at": "2026-11-30T10:08:30.000Z", "source_head": head,
        "message_ids": [posts[path].id for path in gone], "open_question_ids": [], "decision_ids": [],
        "batches": [{"period": "2026-11", "message_ids": [posts[path].id for path in gone]}],
    }  # fmt: skip
    remote.commit(branch, {f"{folder}/transaction.json": json.dumps(plan, indent=2).encode()}, "komnet: plan seal")
    pruned: dict[str, bytes | None] = dict.fromkeys(gone)
    remote.commit(branch, pruned | {f"{folder}/transaction.json": None}, "komnet: prune seal transaction")
    remote.commit(branch, {f"{folder}/lock.json": None}, f"komnet: release seal lock for {room}")
    return gone
