"""Facts that may be written a little later: pushed, read, outcome taken (decision 2)."""

from collections.abc import Callable

from peerline.core.ids import Millis
from peerline.core.trail import Fact, Observed
from peerline.database.later import Later, ready
from peerline.store.api import Store, Tx

FLUSH_AT = 2_000


class Facts:
    """Collects facts in memory; `flush` stores them. A crash loses at most those of the last moment: they are
    observations, not states."""

    def __init__(self, store: Store, now: Callable[[], Millis]) -> None:
        self._store, self._now = store, now
        self._facts: list[tuple[int, Fact]] = []
        self._got: list[tuple[int, bool]] = []

    def observed(self, message: int, fact: Observed, observer: str, detail: str | None = None) -> None:
        self._facts.append((message, Fact(self._now(), fact, observer, detail)))
        if len(self._facts) >= FLUSH_AT:
            self.flush()

    def got(self, message: int, *, sender: bool, fact: Observed, observer: str) -> None:
        """That agent has the final state of the message."""
        self._got.append((message, sender))
        self.observed(message, fact, observer)

    def flush(self) -> Later[None]:
        if not self._facts and not self._got:
            return ready(None)
        facts, self._facts = self._facts, []
        got, self._got = self._got, []

        def work(tx: Tx) -> None:
            tx.trail.add(facts)
            tx.messages.got(got)

        return self._store.write(work)
