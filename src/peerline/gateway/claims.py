"""Claims: a request file goes from `requests/` to `claimed/` by one atomic rename, so that one gateway takes it up."""

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from peerline.gateway.journal import Journal
from peerline.gateway.place import GatewayPlace, sync_folder
from peerline.gateway.request_file import REQUEST_NAME


def request_files(folder: Path) -> list[str]:
    """The names in `requests/` or `claimed/`, the oldest first."""
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".json"))
    except OSError:
        return []


def claim(place: GatewayPlace, journal: Journal, names: Sequence[str], *, plain: bool = False) -> list[str]:
    """Claim these files; the names that they have then. Durable when this returns: what was sent does not lie in
    `requests/` again after a power cut.

    `plain`: a name that can't stand in a shell's command is replaced.
    """
    claimed = []
    for name in names:
        target = _free(place, journal, _plain(name) if plain else name)
        try:
            (place.requests / name).rename(place.claimed / target)
        except OSError:
            continue  # another gateway was first
        claimed.append(target)
    if claimed:
        sync_folder(place.claimed)
        sync_folder(place.requests)
    return claimed


def _free(place: GatewayPlace, journal: Journal, name: str) -> str:
    """A name that was used before is another request's, and stays its; this one gets a name of its own."""
    first, number = name.removesuffix(".json"), 1
    stem = first
    while os.path.lexists(place.claimed / f"{stem}.json") or journal.read(
        lambda tx, stem=stem: tx.request(stem)  # type: ignore[misc]
    ):
        number += 1
        stem = f"{first}-{number}"
    return f"{stem}.json"


def _plain(name: str) -> str:
    if re.fullmatch(REQUEST_NAME, name):
        return name
    return f"unnamed-{hashlib.sha256(os.fsencode(name)).hexdigest()}.json"
