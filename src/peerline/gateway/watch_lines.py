"""The lines that a session which plays the gateway reads: metadata alone, no body (spec/network.md 9.6)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from peerline.network.watching import member, said

DEFAULT_MS, LEAST_MS, MOST_MS = 15_000, 2_000, 600_000
DEGRADED_AFTER: Final = 3


def poll_ms(named: str | None) -> int:
    """`KOMNET_RELAY_POLL_MS`, within its bounds; what is no number counts as not given."""
    try:
        return min(MOST_MS, max(LEAST_MS, int(named))) if named else DEFAULT_MS
    except ValueError:
        return DEFAULT_MS


def armed(poll: int, *, inbox: bool, requests: bool, home: str) -> str:
    """`inbox` and `requests`: whether the file system's own notifications shorten the wait for them."""
    on = {True: "on", False: "off"}
    return f"relay-armed poll={poll}ms watch-inbox={on[inbox]} watch-requests={on[requests]} home={said(home)}"


def request_line(file: str, data: bytes) -> str:
    """A claimed request; what can't be read is told too."""
    session, room = "unparseable", "-"
    try:
        value = json.loads(data)
        session, room = member(value.get("session")), member(value.get("room"))
    except (ValueError, AttributeError, RecursionError):
        pass
    return f"relay-request file={member(file)} session={session} room={room}"


def item_line(item: Mapping[str, Any]) -> str:
    return (
        f"komnet-inbox id={member(item['id'])} room={member(item['room'])} from={member(item['from'])} "
        f"needs={member(item['needs'])} priority={member(item['priority'])} kind={member(item['kind'])} "
        f"thread={member(item['thread'])}"
    )


@dataclass(slots=True)
class Sight:
    """Whether the inbox can be seen: told once after three looks in a row that failed, and once when it can again."""

    _failures: int = 0

    def failed(self, reason: str) -> list[str]:
        self._failures += 1
        if self._failures != DEGRADED_AFTER:
            return []
        return [f"relay-degraded consecutive-failures={self._failures} reason={said(reason)}"]

    def well(self) -> list[str]:
        failures, self._failures = self._failures, 0
        return [f"relay-recovered after-failures={failures}"] if failures >= DEGRADED_AFTER else []
