"""How long requests have waited, read from the file beside the hub's own connection: it may take a while."""

from peerline.core.ids import Millis
from peerline.database.connection import open_reader
from peerline.database.sql import Sql
from peerline.store.tables.messages import MessageTable


def pending(path: str) -> tuple[Millis | None, int]:
    """When the oldest message that nobody has taken was sent, and how many there are. For any thread."""
    connection = open_reader(path)
    try:
        return MessageTable(Sql(connection)).oldest_pending()
    finally:
        connection.close()
