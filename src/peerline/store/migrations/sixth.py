"""Schema 6: what each agent sent and its own events stand in lists of their own, which may be a moment behind.

`ended` numbers the messages in the order in which they became final. Earlier ones have none; they are taken in here.
"""

from peerline.database.migrations import Migration

SIXTH = Migration(
    6,
    (
        "ALTER TABLE message ADD COLUMN ended INTEGER",
        "CREATE INDEX message_ended ON message (ended) WHERE ended IS NOT NULL",
        """CREATE TABLE sent (
            sender TEXT NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (sender, message)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE event (
            agent TEXT NOT NULL, number INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (agent, number)
        ) STRICT, WITHOUT ROWID""",
        "INSERT INTO sent (sender, message) SELECT sender, number FROM message ORDER BY 1, 2",
        """INSERT INTO event (agent, number, message)
            SELECT sender, sender_event, number FROM message WHERE sender_event IS NOT NULL
            UNION ALL
            SELECT recipient, recipient_event, number FROM message WHERE recipient_event IS NOT NULL
            ORDER BY 1, 2""",
        "INSERT INTO mark (name, value) SELECT 'sent', coalesce(max(number), 0) FROM message",
        "DROP INDEX message_sent",
        "DROP INDEX message_told",
        "DROP INDEX message_heard",
    ),
)
