"""Every schema of the gateway's journal there ever was, oldest first. A released one is never changed."""

from typing import Final

from peerline.database.migrations import Migration

SCHEMAS: Final = (
    Migration(
        1,
        (
            """
            CREATE TABLE request (
                stem TEXT PRIMARY KEY, network TEXT, room TEXT, session TEXT, reply_key TEXT, project TEXT,
                hub_message TEXT, asked_agent TEXT, needs TEXT, summary TEXT, state TEXT NOT NULL, post TEXT,
                thread TEXT, code TEXT, detail TEXT, digest TEXT, at INTEGER NOT NULL, told INTEGER NOT NULL DEFAULT 0
            ) WITHOUT ROWID
            """,
            "CREATE INDEX request_by_thread ON request (thread) WHERE thread IS NOT NULL",
            """
            CREATE TABLE item (
                network TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, room TEXT NOT NULL, sender TEXT NOT NULL,
                thread TEXT NOT NULL, needs TEXT NOT NULL, state TEXT NOT NULL, rule TEXT, session TEXT,
                reply_key TEXT, project TEXT, answers TEXT, hub_message TEXT, file TEXT, reason TEXT,
                at INTEGER NOT NULL, changed_at INTEGER NOT NULL, PRIMARY KEY (network, id)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX item_open ON item (state) WHERE state NOT IN ('drained', 'gone')",
            "CREATE TABLE seen (network TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID",
            """
            CREATE TABLE subscription (
                session TEXT NOT NULL, room TEXT NOT NULL, is_default INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (session, room)
            ) WITHOUT ROWID
            """,
        ),
    ),
    Migration(2, ("ALTER TABLE request ADD COLUMN until INTEGER",)),
    Migration(3, ("CREATE TABLE holder (number INTEGER NOT NULL)", "INSERT INTO holder VALUES (0)")),
    Migration(
        4,
        (
            """
            CREATE TABLE answer (
                network TEXT NOT NULL, item TEXT NOT NULL, room TEXT NOT NULL, thread TEXT NOT NULL,
                sender TEXT NOT NULL, session TEXT NOT NULL, project TEXT, hub_message TEXT NOT NULL,
                state TEXT NOT NULL, post TEXT, code TEXT, detail TEXT, digest TEXT, tries INTEGER NOT NULL DEFAULT 0,
                told INTEGER NOT NULL DEFAULT 1, at INTEGER NOT NULL, changed_at INTEGER NOT NULL,
                PRIMARY KEY (network, item)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX answer_open ON answer (network, state) WHERE state NOT IN ('sent', 'over')",
        ),
    ),
    Migration(5, ("ALTER TABLE request ADD COLUMN withdrawal TEXT",)),
    Migration(6, ("ALTER TABLE request ADD COLUMN far TEXT",)),
    Migration(7, ("ALTER TABLE item ADD COLUMN handed INTEGER NOT NULL DEFAULT 0",)),
)
