"""Every schema of a network's file there ever was, oldest first. A released one is never changed."""

from typing import Final

from peerline.database.migrations import Migration

_FIRST: Final = Migration(
    1,
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        # One row a branch: `head` is the remote's at the last look, `cursor` the last commit that was examined.
        """
        CREATE TABLE branch (
            name TEXT PRIMARY KEY, head TEXT, cursor TEXT, noticed TEXT, gone INTEGER NOT NULL DEFAULT 0,
            rewritten_at INTEGER, rewritten_from TEXT, trouble TEXT
        ) WITHOUT ROWID
        """,
        # `seq` is the order of arrival here, which no sender's clock can change. `data` is the file, byte for byte.
        """
        CREATE TABLE post (
            seq INTEGER PRIMARY KEY, room TEXT NOT NULL, id TEXT NOT NULL, path TEXT NOT NULL, thread TEXT NOT NULL,
            in_reply_to TEXT, sender TEXT NOT NULL, author TEXT NOT NULL, ts INTEGER NOT NULL, kind TEXT NOT NULL,
            needs TEXT NOT NULL, live INTEGER NOT NULL, arrived_at INTEGER NOT NULL, email TEXT,
            verified INTEGER NOT NULL, failed INTEGER NOT NULL, reason TEXT NOT NULL, data BLOB NOT NULL,
            UNIQUE (room, id)
        )
        """,
        "CREATE INDEX post_by_id ON post (id)",
        "CREATE INDEX post_by_path ON post (path)",
        "CREATE INDEX post_by_thread ON post (room, thread)",
        "CREATE INDEX post_by_parent ON post (in_reply_to) WHERE in_reply_to IS NOT NULL",
        "CREATE INDEX post_by_sender ON post (sender, seq)",
        "CREATE INDEX post_live ON post (room, live, seq)",
        "CREATE VIRTUAL TABLE words USING fts5(body, content='', tokenize=\"unicode61 remove_diacritics 2\")",
        """
        CREATE TABLE item (
            seq INTEGER PRIMARY KEY REFERENCES post (seq), room TEXT NOT NULL, id TEXT NOT NULL,
            urgency INTEGER NOT NULL, ts INTEGER NOT NULL, needs TEXT NOT NULL, thread TEXT NOT NULL,
            state TEXT NOT NULL, changed_at INTEGER, shown INTEGER NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX item_pending ON item (room, needs) WHERE state = 'pending'",
        "CREATE INDEX item_by_id ON item (id)",
        "CREATE INDEX item_by_room ON item (room, id)",
        """
        CREATE TABLE outbox (
            seq INTEGER PRIMARY KEY REFERENCES post (seq), room TEXT NOT NULL, state TEXT NOT NULL,
            queued_at INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, reason TEXT, sent_at INTEGER,
            requeued INTEGER NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX outbox_queued ON outbox (room, seq) WHERE state = 'queued'",
        # Our own files on main that the remote has not got yet; the last version of each counts.
        """
        CREATE TABLE record (
            path TEXT PRIMARY KEY, data BLOB NOT NULL, subject TEXT NOT NULL, queued_at INTEGER NOT NULL
        ) WITHOUT ROWID
        """,
        # main's files as last seen.
        "CREATE TABLE file (path TEXT PRIMARY KEY, oid TEXT NOT NULL, data BLOB NOT NULL)",
        """
        CREATE TABLE trouble (
            number INTEGER PRIMARY KEY, at INTEGER NOT NULL, room TEXT NOT NULL, kind TEXT NOT NULL,
            path TEXT NOT NULL, detail TEXT NOT NULL, UNIQUE (room, kind, path, detail)
        )
        """,
        """
        CREATE TABLE started (
            seq INTEGER PRIMARY KEY REFERENCES post (seq), room TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0
        )
        """,
    ),
)

SCHEMAS: Final = (_FIRST,)
