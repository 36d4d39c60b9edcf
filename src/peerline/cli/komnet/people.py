"""`komnet agents`, `profile`, `presence`, `handshake`."""

from peerline.cli.hot_output import usage
from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.shown import places, words
from peerline.core.fence import visible


def agents(desk: Desk) -> int:
    found = desk.ask("agents")
    return desk.show(places.agents(found), found)


def profile(desk: Desk) -> int:
    of = desk.call.words.get("ID")
    found = desk.ask("profileGet", agent=of)
    return desk.show(places.profile(found, of or "this agent"), found)


def profile_update(desk: Desk) -> int:
    call = desk.call
    names = {
        "role": call.text("--role"),
        "mission": call.text("--mission"),
        "currentFocus": call.text("--focus"),
        "workspace": call.text("--workspace"),
        "capabilities": call.many("--capability") or None,
        "responsibilities": call.many("--responsibility") or None,
        "constraints": call.many("--constraint") or None,
        "canHelpWith": call.many("--help-with") or None,
    }
    if all(value is None for value in names.values()):
        raise usage("profile update needs at least one thing to say, as --role '<what you are>'")
    result = desk.ask("profileUpdate", **names)
    head = "✓ profile published" if result["published"] else "profile unchanged"
    return desk.show([head, *places.profile(result["profile"], "this agent")], result)


def presence(desk: Desk) -> int:
    call = desk.call
    if call.flag("--live") and call.flag("--away"):
        raise usage("pick one of --live or --away")
    if not (call.flag("--live") or call.flag("--away")):
        found = desk.ask("presence")
        return desk.show(places.presence(found, desk.now()), found)
    status = "live" if call.flag("--live") else "away"
    result = desk.ask("announce", status=status)
    shown = [f"✓ published presence: {status}" if result["published"] else f"presence already reads {status}"]
    if status == "live":
        shown.append("  this stamps 'seen now'; peers read live for 5m, then stale, then away")
    return desk.show(shown, result)


def handshake(desk: Desk) -> int:
    call = desk.call
    result = desk.ask(
        "handshake", room=call.words["ROOM"], note=call.words.get("NOTE"), peers=call.many("--peer") or None
    )
    return _shaken(desk, result, "✓ handshake sent")


def acknowledge(desk: Desk) -> int:
    result = desk.ask("handshake", ackTo=desk.call.words["ID"], note=desk.call.words.get("NOTE"))
    return _shaken(desk, result, "✓ handshake acknowledged")


def _shaken(desk: Desk, result: words.Json, head: str) -> int:
    shown = [
        f"{head} {result['message']['id']}",
        f"room       #{visible(result['room'], 64)}",
        f"thread     {result['thread']}",
        f"addressed  {', '.join(visible(agent, 40) for agent in result['addressed'])}",
        f"presence   {'stamped live' if result['presencePublished'] else 'already live'}",
        "",
        *(
            places.presence(result["peers"], desk.now())
            if result["peers"]
            else ["nobody else has published a card yet"]
        ),
    ]
    if result["role"] == "open":
        shown += ["", "watch for the reply:", f"  {result['watch']}"]
    return desk.show(shown, result)


RUN = {
    "agents": agents,
    "profile": profile,
    "profile show": profile,
    "profile update": profile_update,
    "presence": presence,
    "handshake": handshake,
    "handshake ack": acknowledge,
}
