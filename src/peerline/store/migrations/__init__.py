"""Every schema there ever was, oldest first."""

from peerline.store.migrations.first import FIRST
from peerline.store.migrations.second import SECOND

MIGRATIONS = (FIRST, SECOND)
