"""Every schema there ever was, oldest first."""

from peerline.store.migrations.fifth import FIFTH
from peerline.store.migrations.first import FIRST
from peerline.store.migrations.fourth import FOURTH
from peerline.store.migrations.second import SECOND
from peerline.store.migrations.sixth import SIXTH
from peerline.store.migrations.third import THIRD

MIGRATIONS = (FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH)
