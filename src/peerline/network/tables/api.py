"""One transaction on a network's file: its tables, by noun."""

from peerline.database.sql import Sql
from peerline.network.tables.branches import BranchTable
from peerline.network.tables.files import FileTable
from peerline.network.tables.items import ItemTable
from peerline.network.tables.meta import MetaTable
from peerline.network.tables.outbox import OutboxTable
from peerline.network.tables.posts import PostTable
from peerline.network.tables.started import StartedTable
from peerline.network.tables.troubles import TroubleTable


class Tx:
    def __init__(self, sql: Sql) -> None:
        self.posts = PostTable(sql)
        self.items = ItemTable(sql)
        self.outbox = OutboxTable(sql)
        self.branches = BranchTable(sql)
        self.files = FileTable(sql)
        self.troubles = TroubleTable(sql)
        self.started = StartedTable(sql)
        self.meta = MetaTable(sql)
