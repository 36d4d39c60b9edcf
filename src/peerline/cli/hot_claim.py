"""The name under which a file is claimed, and the line for a session that is about to edit one that another claimed."""

from __future__ import annotations

import os

from peerline.cli.hot_brief import named
from peerline.cli.hot_identity import _main, _repository
from peerline.cli.hot_paths import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = "file:"
LONGEST, KEPT = 200, 120  # a lease's name, in UTF-16 units


def claim_name(path: str, folder: str, home: str) -> str:
    """The same for one file of a repository in each of its work trees; outside of one, the whole path.

    `folder` is what a relative path starts at.
    """
    whole = os.path.realpath(os.path.join(folder, os.path.expanduser(path)))
    top = _repository(os.path.dirname(whole), home)
    if top is not None:
        whole = f"{os.path.basename(_main(top))}/{os.path.relpath(whole, top)}".replace(os.sep, "/")
    name = PREFIX + "".join(c if c.isprintable() else "?" for c in whole)
    if len(name.encode("utf-16-le", "replace")) // 2 <= LONGEST and name == PREFIX + whole.strip():
        return name
    return f"{name[: KEPT // 2]}…#{sha256_hex(whole.encode('utf-8', 'replace'))[:32]}"


def edited(told: dict[str, Any]) -> str | None:
    """The file that the tool at hand will write, if it is one that writes a file."""
    given = told.get("tool_input")
    given = given if isinstance(given, dict) else {}
    path = given.get("file_path") or given.get("notebook_path")
    return path if isinstance(path, str) and "\0" not in path else None


def warning(leases: object, name: str, own: str) -> str:
    """Who else claimed the file of that name; empty when nobody did. `own` is the session's agent id."""
    for lease in leases if isinstance(leases, list) else []:
        if isinstance(lease, dict) and lease.get("name") == name and lease.get("holderAgentId") != own:
            holder, until = named(lease.get("holderAgentName")), str(lease.get("expiresAt", ""))[:19]
            return (
                f"KXM: the file you are about to edit is claimed by agent {holder} (until {named(until)}Z or longer). "
                "Nothing stops you; if it is not urgent, ask that agent first with kxm_send."
            )
    return ""
