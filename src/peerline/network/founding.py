"""Coming to a network: an empty repository becomes one, any other is joined; our card and profile are published."""

from collections.abc import Collection

from peerline.core.errors import Conflict
from peerline.core.room import Manifest
from peerline.network import publishing
from peerline.network.clone import Clone
from peerline.network.examination import Examination
from peerline.network.git.append import Addition, append
from peerline.network.git.branches import MAIN
from peerline.network.git.errors import Contended, RemoteFailed
from peerline.network.git.remote import Move, fetch, heads, push
from peerline.network.git.repository import seen_tips
from peerline.network.outbox import Outbox
from peerline.network.reports import SyncReport
from peerline.network.tables.api import Tx
from peerline.wire.room_files import MANIFEST, write_manifest

_BUDGET_S = 60.0


class NoNetwork(Conflict):
    """The repository holds something else."""

    code = "NO_NETWORK"


def initialise(clone: Clone, rooms: Collection[str], *, wait_lock: float) -> bool:
    """Make sure that the repository is a network and knows us; True: it was empty and is one now.

    Raises:
        RemoteFailed: it is away, or does not take what we push.
        NoNetwork: its main holds other things.
        Busy, GitFailed
    """
    with clone.locked(wait_lock), Examination(clone, SyncReport()) as examination:
        first = MAIN not in heads(clone.git) and _found(clone)
        _raise(fetch(clone.git, [MAIN]))
        examination.examine(MAIN, seen_tips(clone.git)[MAIN])
        clone.file.read(lambda tx: _require_network(tx, clone))
        publishing.queue_card(clone, tuple(rooms))
        if clone.file.read(lambda tx: publishing.profile(tx, clone.identity.agent)) is None:
            publishing.queue_profile(clone, publishing.first_profile(clone))
        flushed = Outbox(clone, examination).flush(_BUDGET_S)
        if clone.file.read(lambda tx: tx.files.queued()):
            raise RemoteFailed(flushed.reason or "the remote did not take the agent's card")
    return first


def _found(clone: Clone) -> bool:
    """Two may come first at once: one of them founds, the other joins."""
    manifest = Manifest(id=clone.place.network, name=clone.place.network)
    root = Addition(
        branch=MAIN, tip=None, message="komnet: initialise network", files={MANIFEST: write_manifest(manifest)}
    )
    made = append(clone.git, [root], clone.author, clone.around.now())[MAIN]
    outcome = push(clone.git, [Move(MAIN, None, made)])[MAIN]
    if outcome is not None and not isinstance(outcome, Contended):
        raise outcome
    return outcome is None


def _require_network(tx: Tx, clone: Clone) -> None:
    if tx.files.get(MANIFEST) is None and not tx.files.below("agents/"):
        raise NoNetwork(
            f"{clone.place.remote} is no network: its branch main holds other things. "
            "Everything in a network can be read by all its members and stays; give it an empty repository of its own"
        )


def _raise(failed: dict[str, RemoteFailed]) -> None:
    for error in failed.values():
        raise error
