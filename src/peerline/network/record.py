"""main: the compact record. Only its present state counts, so two states are compared, not commits walked."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from peerline.core.room import Authenticity, Manifest
from peerline.network import publishing
from peerline.network.authenticity import by_commit
from peerline.network.clone import Clone
from peerline.network.git.branches import MAIN
from peerline.network.git.objects import Objects
from peerline.network.git.walk import FILE, Change, contains, tree_changes
from peerline.network.reports import Anomaly, SyncReport
from peerline.network.tables.api import Tx
from peerline.network.tables.troubles import Trouble
from peerline.wire.members import FILE_BYTES
from peerline.wire.room_files import MANIFEST, read_manifest

_KEPT: Final = re.compile(
    r"\.komnet/(?:net\.yaml|policy\.yaml|allowed_signers)"
    r"|agents/[a-z0-9._-]{1,40}\.yaml"
    r"|rooms/[a-z0-9-]{1,63}/room\.yaml"
    r"|rooms/[a-z0-9-]{1,63}/(?:profiles|decisions|digest)/[a-z0-9._-]{1,80}\.md"
    r"|rooms/[a-z0-9-]{1,63}/receipts/[a-z0-9._-]{1,40}\.json"
)
_CARD: Final = re.compile(r"agents/([a-z0-9._-]{1,40})\.yaml")
_AGAIN: Final = 1_000  # posts of one agent
_AT_MOST: Final = 20_000  # files; a network has a handful for each agent and room
_BATCH: Final = 200


def update(clone: Clone, objects: Objects, new: str, report: SyncReport) -> None:
    """Bring the kept files of main to the state of `new`.

    Raises: GitFailed
    """
    known = clone.file.read(lambda tx: tx.branches.get(MAIN))
    old = known.cursor
    if old == new:
        return
    rewritten = old is not None and not contains(clone.git, new, old)
    base = old if old is not None and clone.git.succeeds("cat-file", "-e", f"{old}^{{commit}}") else None
    if base is None:
        clone.file.write(lambda tx: tx.files.clear())
    todo = (change for change in tree_changes(clone.git, new, base) if change.path and _KEPT.fullmatch(change.path))
    while batch := list(islice(todo, _BATCH)):
        _store(clone, batch, dict(_contents(objects, batch)))

    def move(tx: Tx) -> None:
        tx.branches.set(MAIN, cursor=new, head=new, trouble=None)
        if rewritten:
            found = Anomaly(MAIN, "rewritten", f"the history of {old} was replaced by {new}")
            tx.branches.set(MAIN, rewritten_at=clone.around.now(), rewritten_from=old)
            if tx.troubles.add(Trouble(clone.around.now(), "", found.status, found.path, found.detail)):
                report.anomalies.append(found)

    clone.file.write(move)
    clone.around.probe("record")


def manifest(clone: Clone) -> Manifest:
    """What kind of network this is, as main said when it was last seen."""
    return read_manifest(clone.file.read(lambda tx: tx.files.get(MANIFEST)), clone.place.network)


def _judge_again(tx: Tx, clone: Clone, agents: list[str]) -> None:
    """A card may come after the posts of its agent: what could not be proved then is looked at once more."""
    if not agents or read_manifest(tx.files.get(MANIFEST), clone.place.network).authenticity is not Authenticity.GIT:
        return
    for agent in agents:
        card = publishing.card(tx, agent)
        for stored in tx.posts.unproved(agent, _AGAIN):
            verdict = by_commit(stored.post, card, stored.email)
            if verdict.verified:
                tx.posts.judge(stored.seq, verdict)


def _contents(objects: Objects, batch: list[Change]) -> Iterator[tuple[str, bytes]]:
    wanted = [change for change in batch if change.status != "D" and change.mode == FILE]
    for change, (_, data) in zip(wanted, objects.blobs([c.oid for c in wanted], FILE_BYTES), strict=True):
        if data is not None:
            assert change.path is not None
            yield change.path, data


def _store(clone: Clone, batch: list[Change], found: dict[str, bytes]) -> None:
    def store(tx: Tx) -> None:
        room = _AT_MOST - tx.files.count()
        for change in batch:
            assert change.path is not None
            data = found.get(change.path)
            if data is None:
                tx.files.remove(change.path)  # deleted, a link, or too large to be one of ours
            elif room > 0:
                tx.files.put(change.path, change.oid, data)
                room -= 1
        _judge_again(tx, clone, [agent[1] for change in batch if (agent := _CARD.fullmatch(change.path or ""))])

    clone.file.write(store)
