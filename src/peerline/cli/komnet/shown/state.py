"""Where this agent stands, and what a look at the remote found."""

from peerline.cli.komnet.shown.words import Json, ago, health
from peerline.core.fence import visible


def status(value: Json, home: str, now: int) -> list[str]:
    pending = f"{value['pending']}" + (f" ({value['pendingHuman']} need a human)" if value["pendingHuman"] else "")
    stopping = value["attention"]["interrupting"]
    lines = [
        f"{value['networkId']} {value['remote']}",
        f"agent      {value['agentId']} · {home}",
        f"rooms      {', '.join(value['subscriptions']) or 'none — komnet room list'}",
        f"pending    {pending}",
    ]
    if stopping:
        reasons = ", ".join(sorted({one["reason"] for one in stopping}))
        lines.append(
            f"attention  {len(stopping)} worth stopping for ({reasons}) · {value['attention']['deferred']} can wait"
        )
    if value["queued"]:
        lines.append(f"queued     {value['queued']} — written here, not yet on the remote; do not send again")
    around = value["surroundings"]
    elsewhere = []
    if around["rooms"]:
        named = ", ".join(visible(room, 64) for room in around["rooms"][:5])
        elsewhere.append(f"{len(around['rooms'])} room(s) you have not joined: {named}")
    if around["threads"]:
        elsewhere.append(f"{len(around['threads'])} conversation(s) started without you")
    if elsewhere:
        lines += [f"elsewhere  {' · '.join(elsewhere)}", "           komnet room list · komnet room join <id>"]
    last = value["health"].get("lastSyncAt")
    degraded = "  · DEGRADED" if value["health"].get("degraded") else ""
    lines.append(f"last sync  {ago(last, now) if last else 'never'}{degraded}")
    lines += health(value["health"], now)
    running = value.get("daemon")
    if running:
        lines.append(f"daemon     running · cadence {running['cadence']} · {running['sessions']} session(s)")
    else:
        lines.append("daemon     not running — delivery is pull-based (komnet sync)")
    return lines


def sync(value: Json) -> list[str]:
    lines = [
        f"polled {value['roomsPolled']} room(s) · {len(value['changed'])} changed · "
        f"{value['recorded']} new message(s) · {value['delivered']} delivered to inbox"
    ]
    lines += [f"✓ sent {one['pushed']} queued message(s) to {one['roomId']}" for one in value["drained"]]
    lines += [f"! unreadable: {visible(one['path'], 200)}: {visible(one['error'], 200)}" for one in value["unreadable"]]
    lines += [f"! anomaly: {visible(one['path'], 200)} was {one['status']}" for one in value["anomalies"]]
    lines += [
        f"! not verified: {one['id']} from {visible(one['from'], 40)} in {visible(one['room'], 64)}: "
        f"{visible(one['reason'], 200)}"
        for one in value["unverified"]
    ]
    return lines
