"""What SQLite reports, as a refusal a caller can act on; and which reports mean that nothing may go on."""

import apsw

from peerline.core.errors import Busy, PeerlineError, StorageFailed, StorageFull

# A failed fsync says nothing about what reached the disk, and a second one may lie: the process must end.
_FATAL = {apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC}


def fatal(error: BaseException) -> bool:
    return isinstance(error, apsw.Error) and getattr(error, "extendedresult", 0) in _FATAL


def whole_group(error: BaseException) -> bool:
    """Whether SQLite may have ended the whole transaction, savepoints too, or would refuse every later statement."""
    return isinstance(
        error,
        apsw.FullError
        | apsw.IOError
        | apsw.BusyError
        | apsw.ReadOnlyError
        | apsw.CorruptError
        | apsw.NoMemError
        | apsw.CantOpenError,
    )


def refusal(error: BaseException) -> BaseException:
    """The refusal to answer with; what is not SQLite's stays as it is."""
    if isinstance(error, PeerlineError) or not isinstance(error, apsw.Error):
        return error
    if fatal(error):
        # The commit's record may be in the log all the same, and recovery will then find it.
        text = "the disk failed while storing: it may or may not be stored; repeat it with the same idempotency key"
        return StorageFailed(text, nextAction="repeat_with_the_same_idempotency_key", detail=text)
    if isinstance(error, apsw.FullError):
        return StorageFull(
            "the disk is full; nothing was stored",
            nextAction="free_disk_space",
            detail="the disk is full; nothing was stored",
        )
    if isinstance(error, apsw.ReadOnlyError):
        return StorageFull(
            "the disk is read-only; nothing was stored",
            nextAction="make_the_disk_writable",
            detail="the disk is read-only; nothing was stored",
        )
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Busy(
            "another process holds the database; nothing was stored",
            nextAction="retry",
            detail="another process holds the database; nothing was stored",
        )
    return StorageFailed(
        f"the disk failed ({type(error).__name__}); nothing was stored",
        nextAction="check_the_disk",
        detail=f"the disk failed ({type(error).__name__}); nothing was stored",
    )
