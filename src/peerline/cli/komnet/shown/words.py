"""What every result is told with: ages, first lines, and why a view may be incomplete."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from peerline.core.fence import visible

Json = Mapping[str, Any]


def ago(iso: Any, now: int) -> str:
    """How long ago: `just now`, `5m ago`; `now` in milliseconds since 1970."""
    try:
        at = datetime.fromisoformat(str(iso)).astimezone(UTC).timestamp()
    except ValueError:
        return "at an unknown time"
    seconds = now / 1000 - at
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    return "just now"


def first_line(body: str, at_most: int = 100) -> str:
    first = next((line for line in body.split("\n") if line.strip()), "").strip()
    return visible(first, at_most)


def health(value: Json, now: int) -> list[str]:
    """Why a view may be incomplete; nothing when it is not."""
    if not value.get("degraded"):
        return []
    last = value.get("lastSyncAt")
    lines = [f"! this view may be incomplete — {'last synced ' + ago(last, now) if last else 'never synced'}"]
    if value.get("reason"):
        since = f" since {ago(value['failingSince'], now)}" if value.get("failingSince") else ""
        lines.append(f"  sync failing{since}: {visible(str(value['reason']), 300)}")
    lines.append("  an empty list here means nothing reached this machine, not that nothing was said")
    lines.append("  check the transport: komnet doctor")
    return lines


def unproven(item: Json) -> str:
    """The mark on a message whose sender could not be verified."""
    if item.get("verified", True):
        return ""
    return f"  ! not verified: {visible(str(item.get('reason') or 'unknown'), 120)}"
