"""Whether what is here is what the remote has: carried with every answer, so that silence is not taken for quiet."""

from typing import TYPE_CHECKING, NamedTuple

from peerline.core.ids import Millis

if TYPE_CHECKING:
    from peerline.network.tables.api import Tx


class Health(NamedTuple):
    """Whether what is here is what the remote has. `age_seconds` None: no sync ever succeeded."""

    last_sync_at: Millis | None
    age_seconds: int | None
    degraded: bool
    reason: str | None = None
    failing_since: Millis | None = None


_SYNCED, _SINCE, _REASON, _TRIED, _AWAY = (
    "last_sync_at", "failing_since", "failing_reason", "last_attempt_at", "away",
)  # fmt: skip


def reached(tx: "Tx", now: Millis) -> None:
    tx.meta.set(_SYNCED, now)
    tx.meta.set(_TRIED, now)
    tx.meta.set(_SINCE, None)
    tx.meta.set(_REASON, None)
    tx.meta.set(_AWAY, None)


def failed(tx: "Tx", reason: str, now: Millis, *, away: bool) -> None:
    """The first failure's time is kept. `away`: the remote itself did not answer, not only one of its branches."""
    tx.meta.set(_AWAY, 1 if away else None)
    tx.meta.set(_TRIED, now)
    tx.meta.set(_REASON, reason)
    if tx.meta.get(_SINCE) is None:
        tx.meta.set(_SINCE, now)


def is_away(tx: "Tx") -> bool:
    """Whether the remote did not answer the last time."""
    return tx.meta.get(_AWAY) is not None


def health(tx: "Tx", now: Millis) -> Health:
    synced, since = tx.meta.number(_SYNCED), tx.meta.number(_SINCE)
    reason = tx.meta.get(_REASON)
    return Health(
        last_sync_at=synced,
        age_seconds=None if synced is None else max(0, (now - synced) // 1000),
        degraded=since is not None or synced is None,
        reason=reason or ("no sync has succeeded yet" if synced is None else None),
        failing_since=since,
    )
