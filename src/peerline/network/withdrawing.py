"""Taking back a post that nobody has seen: while the remote has not got it, it can be as if it never was."""

from peerline.network.clone import Clone
from peerline.network.tables.api import Tx


def withdraw(clone: Clone, id: str, *, wait_lock: float) -> bool:
    """Remove a post of ours that still waits to go out; False: the remote has it, or it is not known here.

    A push whose outcome was lost may have carried it all the same; then it comes back with a later sync.

    Raises: Busy
    """

    def work(tx: Tx) -> bool:
        stored = tx.posts.by_id(id)
        if stored is None or not tx.outbox.is_queued(stored.seq):
            return False
        tx.outbox.remove(stored.seq)
        tx.posts.remove(stored.seq, stored.post.body)
        return True

    with clone.locked(wait_lock):  # no push is on its way meanwhile
        return clone.file.write(work)
