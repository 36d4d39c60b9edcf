"""Schema 1: agents and their sessions, messages with bodies beside them, trail, notes, leases, tokens.

Times are integer milliseconds. Bodies stand apart so that a change of state rewrites a narrow row only. Partial
indexes hold the open messages; what is final is reached by id, by event number and by age alone.
"""

from peerline.database.migrations import Migration

FIRST = Migration(
    1,
    (
        """CREATE TABLE agent (
            id TEXT PRIMARY KEY, project TEXT NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL,
            purpose TEXT NOT NULL,
            model TEXT, host TEXT, connected_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL,
            next_seq INTEGER NOT NULL DEFAULT 0,
            events INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID""",
        "CREATE UNIQUE INDEX agent_name ON agent (project, name_key)",
        """CREATE TABLE session (
            key_digest BLOB PRIMARY KEY, agent TEXT NOT NULL, opened_at INTEGER NOT NULL, lease_until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX session_agent ON session (agent)",
        """CREATE TABLE message (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,
            sender TEXT NOT NULL, sender_name TEXT NOT NULL, recipient TEXT NOT NULL, recipient_name TEXT NOT NULL,
            delivery TEXT NOT NULL, hops INTEGER NOT NULL, max_hops INTEGER NOT NULL, seq INTEGER NOT NULL,
            correlation_id TEXT, reply_to TEXT, idempotency_key TEXT,
            sent_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
            delivered_at INTEGER, replied_at INTEGER, cancelled_at INTEGER, final_at INTEGER,
            status TEXT NOT NULL, sender_event INTEGER, recipient_event INTEGER
        ) STRICT""",
        "CREATE TABLE body (message INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
        "CREATE TABLE reply (message INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
        "CREATE UNIQUE INDEX message_key ON message (sender, idempotency_key) WHERE idempotency_key IS NOT NULL",
        "CREATE INDEX message_open ON message (recipient, seq) WHERE final_at IS NULL",
        "CREATE INDEX message_sent ON message (sender, number)",
        "CREATE INDEX message_due ON message (expires_at) WHERE final_at IS NULL",
        "CREATE INDEX message_final ON message (final_at) WHERE final_at IS NOT NULL",
        "CREATE INDEX message_told ON message (sender, sender_event) WHERE sender_event IS NOT NULL",
        "CREATE INDEX message_heard ON message (recipient, recipient_event) WHERE recipient_event IS NOT NULL",
        """CREATE TABLE trail (
            message INTEGER NOT NULL, at INTEGER NOT NULL, fact TEXT NOT NULL, observer TEXT NOT NULL, detail TEXT,
            PRIMARY KEY (message, at, fact, observer)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE note (
            message INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (message, number)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE lease (
            project TEXT NOT NULL, name TEXT NOT NULL, holder TEXT NOT NULL, holder_name TEXT NOT NULL,
            fencing_token INTEGER NOT NULL, acquired_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
            PRIMARY KEY (project, name)
        ) STRICT, WITHOUT ROWID""",
        "CREATE TABLE mark (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        """CREATE TABLE project_token (
            id TEXT PRIMARY KEY, project TEXT NOT NULL, digest BLOB NOT NULL, label TEXT NOT NULL,
            listed INTEGER NOT NULL,
            created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER
        ) STRICT, WITHOUT ROWID""",
    ),
)
