"""Schema 4: what a project token is for, if it is not for all of the project."""

from peerline.database.migrations import Migration

FOURTH = Migration(4, ("ALTER TABLE project_token ADD COLUMN scope TEXT",))
