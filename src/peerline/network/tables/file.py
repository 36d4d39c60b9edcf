"""The network's own SQLite file, shared by the processes of one home."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from peerline.database.shared_file import SharedFile
from peerline.network.tables.api import Tx
from peerline.network.tables.schema import SCHEMAS

APPLICATION_ID: Final = 0x5045454E  # "PEEN": a network's file of ours


class NetworkFile(SharedFile[Tx]):
    def __init__(self, path: Path, *, probe: Callable[[str], None] | None = None) -> None:
        super().__init__(path, application_id=APPLICATION_ID, schemas=SCHEMAS, tables=Tx, probe=probe)
