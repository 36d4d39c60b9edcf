"""Schema 3: the branch that an agent works on, for whoever looks for it."""

from peerline.database.migrations import Migration

THIRD = Migration(3, ("ALTER TABLE agent ADD COLUMN branch TEXT",))
