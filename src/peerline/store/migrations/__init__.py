"""Every schema there ever was, oldest first."""

from peerline.store.migrations.first import FIRST

MIGRATIONS = (FIRST,)
