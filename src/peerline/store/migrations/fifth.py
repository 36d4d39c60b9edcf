"""Schema 5: who is to answer a request, if not an agent."""

from peerline.database.migrations import Migration

FIFTH = Migration(5, ("ALTER TABLE message ADD COLUMN needs TEXT",))
