"""What each tool of `komnet mcp` does: the same operations as the command line and the daemon's socket."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from peerline.core.errors import Invalid
from peerline.network.calls import Calls
from peerline.wire.komnet_tools import WAIT_DEFAULT_S

LOOK_S: Final = 3.0

Given = Mapping[str, Any]
Wait = Callable[[float], None]


def _named(method: str, **names: str) -> Callable[[Calls, Given, Wait], Any]:
    """The tool's arguments are the operation's members, some under another name."""

    def act(calls: Calls, given: Given, wait: Wait) -> Any:
        params = {names.get(name, name): value for name, value in given.items() if name != "network"}
        return calls.call(method, params, given.get("network"))

    return act


def _inbox(calls: Calls, given: Given, wait: Wait) -> Any:
    query = {name: given[name] for name in ("room", "needs") if name in given}
    view = calls.call("inbox", query, given.get("network"))
    wanted = given.get("ids")
    if wanted is None and not given.get("drain"):
        return view
    shown = [item["id"] for item in view["items"]]
    done = calls.call("inboxDrain", {"ids": wanted if wanted is not None else shown}, given.get("network"))
    return {"health": view["health"], **done}


def _send(calls: Calls, given: Given, wait: Wait) -> Any:
    members = {"replyTo": "inReplyTo"}
    made = {members.get(name, name): value for name, value in given.items() if name not in ("room", "network")}
    return _sent(calls.call("send", {"room": given["room"], "input": made}))


def _ask(calls: Calls, given: Given, wait: Wait) -> Any:
    made = {"body": given["question"], "kind": "question", "needs": given.get("needs", "agent")}
    made |= {name: given[name] for name in ("mentions", "tags") if name in given}
    return _sent(calls.call("send", {"room": given["room"], "input": made}))


def _decide(calls: Calls, given: Given, wait: Wait) -> Any:
    made = {"body": f"{given['title']}\n\n{given['body']}", "kind": "decision"}
    if "supersedes" in given:
        made["inReplyTo"] = given["supersedes"]
    return _sent(calls.call("send", {"room": given["room"], "input": made}))


def _sent(result: Any) -> Any:
    """`message` says pushed or queued; `delivery` tells whom it reaches."""
    return {"message": result["message"], "delivery": result["forecast"]}


def _profile(calls: Calls, given: Given, wait: Wait) -> Any:
    if given["action"] == "read":
        return calls.call("profileGet", {"agent": given["agent"]} if "agent" in given else {})
    if "agent" in given:
        raise Invalid("only your own profile can be updated; leave agent out")
    return calls.call("profileUpdate", {name: value for name, value in given.items() if name != "action"})


def _wait(calls: Calls, given: Given, wait: Wait) -> Any:
    """Until a matching item is in the inbox; what is there already counts."""
    seconds = given.get("timeoutSec", WAIT_DEFAULT_S)
    query = {name: given[name] for name in ("room", "needs", "tag", "thread") if name in given}
    began = time.monotonic()
    while True:
        view = calls.call("inbox", query)
        waited = time.monotonic() - began
        if view["items"] or waited >= seconds:
            break
        wait(min(LOOK_S, seconds - waited))
        if calls.mode == "direct":
            calls.call("refresh", {})
    timed_out = not view["items"]
    note = (
        {"note": "nothing came, and the remote could not be asked"} if timed_out and view["health"]["degraded"] else {}
    )
    return {**view, "timedOut": timed_out, "waitedMs": int(waited * 1000), **note}


ACTS: Final[Mapping[str, Callable[[Calls, Given, Wait], Any]]] = {
    "komnet_agents": _named("agents"),
    "komnet_answer": _named("answer"),
    "komnet_ask": _ask,
    "komnet_decide": _decide,
    "komnet_handshake": _named("handshake"),
    "komnet_history": _named("history"),
    "komnet_inbox": _inbox,
    "komnet_mentions": _named("mentions"),
    "komnet_networks": _named("networks"),
    "komnet_policy": _named("policy"),
    "komnet_presence": _named("presence"),
    "komnet_profile": _profile,
    "komnet_read": _named("read"),
    "komnet_receipts": _named("receipts"),
    "komnet_rooms": _named("rooms"),
    "komnet_search": _named("search"),
    "komnet_send": _send,
    "komnet_status": _named("status"),
    "komnet_sync": _named("sync"),
    "komnet_trace": _named("trace"),
    "komnet_wait": _wait,
}
