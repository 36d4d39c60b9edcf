"""Rooms and agents as a person reads them."""

from collections.abc import Sequence

from peerline.cli.komnet.shown.words import Json, ago
from peerline.core.fence import visible


def rooms(values: Sequence[Json]) -> list[str]:
    if not values:
        return ["no rooms yet — create one: komnet room create <name>"]
    lines = []
    for room in values:
        mark = "●" if room["subscribed"] else "○"
        pending = f" · {room['pending']} pending" if room["pending"] else ""
        purpose = f" — {visible(room['purpose'], 120)}" if room["purpose"] else ""
        lines.append(f"{mark} {visible(room['id'], 64):<20} {visible(room['title'], 80)}{purpose}{pending}")
    return [*lines, "", "● you follow it   ○ join it with: komnet room join <id>"]


def room(value: Json, now: int) -> list[str]:
    made = (
        f" · created {ago(value['created'], now)} by {visible(value['createdBy'], 40)}" if value.get("created") else ""
    )
    keep = value["retention"]
    return [
        f"{visible(value['title'], 120)} ({value['id']})",
        *([visible(value["purpose"], 300)] if value["purpose"] else []),
        f"status {value['status']}{made}",
        f"window {keep['windowDays']}d / {keep['windowMessages']} msgs · reply budget {value['policy']['replyBudget']}",
    ]


def agents(values: Sequence[Json]) -> list[str]:
    lines = []
    for card in values:
        human = card.get("human") or {}
        facts = [
            card.get("role") or card.get("displayName") or "",
            human.get("name") or "",
            human.get("timezone") or "",
            card.get("tool") or "",
        ]
        lines.append(f"{visible(card['id'], 40):<20} {' · '.join(visible(str(fact), 120) for fact in facts if fact)}")
        if card.get("subscriptions") is not None:
            lines.append(f"  rooms: {', '.join(visible(room, 64) for room in card['subscriptions']) or 'none'}")
    return lines or ["nobody has published a card yet"]


def presence(values: Sequence[Json], now: int) -> list[str]:
    marks = {"live": "● live ", "stale": "◐ stale", "away": "○ away "}
    lines = []
    for one in values:
        seen = one.get("lastActivity") or one.get("lastSeen")
        facts = [
            ago(seen, now) if seen else "never",
            visible(str(one.get("human") or ""), 80),
            visible(str(one.get("timezone") or ""), 40),
        ]
        mark = marks.get(one["status"], one["status"])
        lines.append(f"{mark}  {visible(one['id'], 40):<20} {' · '.join(fact for fact in facts if fact)}")
    return lines or ["nobody has published a card yet"]


def profile(value: Json | None, of: str) -> list[str]:
    if value is None:
        return [f"{visible(of, 40)} has published no profile"]
    environment = value.get("environment") or {}
    place = f"{environment.get('client')} · {environment.get('platform')}/{environment.get('architecture')}"
    if environment.get("workspace"):
        place += f" · {environment['workspace']}"
    lists = (
        ("capabilities", "capabilities"),
        ("responsibilities", "responsibilities"),
        ("constraints", "constraints"),
        ("canHelpWith", "can help with"),
    )
    return [
        f"{visible(value['id'], 40)} — {visible(value['role'], 120)}",
        f"updated {visible(str(value['updatedAt']), 40)}",
        f"mission          {visible(value['mission'], 500)}",
        f"current focus    {visible(value['currentFocus'], 500)}",
        f"environment      {visible(place, 200)}",
        *(
            f"{title:<16} {'; '.join(visible(entry, 240) for entry in value.get(key) or ()) or 'none declared'}"
            for key, title in lists
        ),
    ]
