"""The lines of `komnet watch`: metadata of what comes, never a body (spec/network.md 7)."""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from peerline.core.fence import visible

REMEMBERED: Final = 5_000
NAMED: Final = 5
FIELD_AT_MOST: Final = 120
REASON_AT_MOST: Final = 200

Json = Mapping[str, Any]
_BREAKS: Final = re.compile(r"[\s\x00-\x1f\x7f]+")


def member(value: Any, at_most: int = FIELD_AT_MOST) -> str:
    """One field of a line: no space can split it, nothing hidden is in it; `-` when empty."""
    text = _BREAKS.sub(" ", "" if value is None else str(value)).strip().replace(" ", "_")
    return visible(text, at_most) or "-"


def said(value: Any, at_most: int = REASON_AT_MOST) -> str:
    """The last field of a line, where spaces may stand."""
    return visible(_BREAKS.sub(" ", str(value)).strip(), at_most) or "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What is told; None or empty lets everything through."""

    room: str | None = None
    thread: str | None = None
    tag: str | None = None
    needs: str | None = None

    def matches(self, item: Json) -> bool:
        return (
            (self.room is None or item["room"] == self.room)
            and (self.thread is None or item["thread"] == self.thread)
            and (self.tag is None or self.tag in item["tags"])
            and (self.needs is None or item["needs"] == self.needs)
        )

    def __str__(self) -> str:
        given = (("room", self.room), ("thread", self.thread), ("tag", self.tag), ("needs", self.needs))
        return ",".join(f"{name}:{member(value)}" for name, value in given if value is not None) or "none"


@dataclass(slots=True)
class Watcher:
    """Turns views of one network into lines, each item once. `new_only` leaves out what waits already at the first."""

    filter: Filter
    new_only: bool = False
    network: str | None = None  # told on each line where several networks are watched
    _seen: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _around: set[str] = field(default_factory=set)
    _degraded: bool = False
    _first: bool = True

    def inbox(self, items: Sequence[Json]) -> list[str]:
        """A line for each item not told before."""
        fresh = [item for item in items if item["id"] not in self._seen]
        first, self._first = self._first, False
        for item in fresh:
            self._seen[item["id"]] = None
        while len(self._seen) > max(REMEMBERED, len(items)):
            self._seen.popitem(last=False)
        matching = [item for item in fresh if self.filter.matches(item)]
        if first and self.new_only:
            return [f"watch-backlog pending={len(matching)} read=komnet+inbox"] if matching else []
        return [self._line(item, "pending" if first else "new") for item in matching]

    def surroundings(self, rooms: Sequence[str], threads: Sequence[Json]) -> list[str]:
        """Rooms that are not followed and threads that others began among themselves, each once, five by name."""
        lines = []
        fresh_rooms = [room for room in rooms if f"#{room}" not in self._around]
        fresh = [one for one in threads if one["thread"] not in self._around]
        self._around.update([*(f"#{room}" for room in fresh_rooms), *(one["thread"] for one in fresh)])
        for room in fresh_rooms[:NAMED]:
            lines.append(f"komnet-room id={member(room)} state=not-joined join=komnet room join {member(room)}")
        if len(fresh_rooms) > NAMED:
            lines.append(f"komnet-room state=not-joined more={len(fresh_rooms) - NAMED} read=komnet+room+list")
        for one in fresh[:NAMED]:
            lines.append(
                f"komnet-thread state=started room={member(one['room'])} thread={member(one['thread'])} "
                f"from={member(one['from'])} kind={member(one['kind'])} needs={member(one['needs'])} addressed-to=other"
            )
        if len(fresh) > NAMED:
            lines.append(f"komnet-thread state=started more={len(fresh) - NAMED} read=komnet+room+list")
        return lines

    def health(self, health: Json) -> list[str]:
        """A line when the view stops being complete, and one when it is again."""
        degraded = bool(health.get("degraded"))
        if degraded == self._degraded:
            return []
        self._degraded = degraded
        last = member(health.get("lastSyncAt"))
        if degraded:
            return [f"watch-degraded reason={said(health.get('reason') or 'never synced')} last-sync={last}"]
        return [f"watch-recovered last-sync={last}"]

    def _line(self, item: Json, state: str) -> str:
        where = f" network={member(self.network)}" if self.network else ""
        unproven = "" if item.get("verified", True) else " verified=no"
        return (
            f"komnet-inbox state={state} id={member(item['id'])} room={member(item['room'])}{where} "
            f"from={member(item['from'])} needs={member(item['needs'])} priority={member(item['priority'])} "
            f"kind={member(item['kind'])} thread={member(item['thread'])} "
            f"tags={member(','.join(item['tags']))}{unproven}"
        )


def armed(poll: int, mode: str, network: str, agent: str, wait: int | None, new_only: bool, filters: Filter) -> str:
    """The first line: what is watched, as whom, how."""
    waiting = f" wait={wait}s" if wait is not None else ""
    only = " new-only=true" if new_only else ""
    sync = "daemon" if mode == "daemon" else "self"
    who = f"network={member(network)} agent={member(agent)}"
    return f"watch-armed poll={poll}s mode={mode} sync={sync} {who}{waiting}{only} filter={filters}"


def timed_out(wait: int, confirmed: bool) -> str:
    return f"watch-timeout after={wait}s nothing matched checked={'confirmed' if confirmed else 'UNCONFIRMED'}"
