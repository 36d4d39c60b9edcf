"""Schema 2: the chain that a request came through, and when the brake on a pair of agents held it (decision 21)."""

from peerline.database.migrations import Migration

SECOND = Migration(
    2,
    (
        "ALTER TABLE message ADD COLUMN path TEXT",
        "ALTER TABLE message ADD COLUMN held_at INTEGER",
        """CREATE INDEX message_held ON message (sender, recipient, held_at)
            WHERE held_at IS NOT NULL AND final_at IS NULL""",
    ),
)
