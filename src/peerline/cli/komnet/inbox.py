"""`komnet inbox`: look, filter, drain."""

from typing import Any

from peerline.cli.hot_output import Failure
from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.shown import messages, words
from peerline.core.fence import visible


def inbox(desk: Desk) -> int:
    call = desk.call
    if call.flag("--brief") and not desk.home.provisioned:
        return 0  # a session's start has nothing to say about a network that nobody set up
    if call.flag("--all-networks"):
        return _everywhere(desk)
    view = desk.ask("inbox", **_query(desk))
    items = _chosen(desk, view["items"])
    _require_waiting(call.many("--id"), items)
    if call.flag("--brief"):
        return desk.show(messages.brief(items), {**view, "items": items})
    if call.flag("--drain"):
        return _drain(desk, view, items)
    desk.aside(words.health(view["health"], desk.now()))
    return desk.show(messages.inbox(items, desk.now()), {**view, "items": items})


def _drain(desk: Desk, view: Any, items: list[Any]) -> int:
    """Only what this command shows is drained: an item that comes meanwhile stays."""
    result = desk.ask("inboxDrain", ids=[item["id"] for item in items])
    waiting = result["awaitingHuman"]
    shown = [*messages.inbox(items, desk.now()), "", f"✓ drained {result['drained']}"] if items else ["inbox is empty"]
    if waiting:
        shown.append(f"  {len(waiting)} left pending — 'needs: human' items require a person.")
    desk.aside(words.health(view["health"], desk.now()))
    return desk.show(shown, {"health": view["health"], **result})


def _everywhere(desk: Desk) -> int:
    networks = [one["id"] for one in desk.ask("networks")]
    calls, views = desk.calls(), []
    for network in networks:
        view = calls.call("inbox", {n: v for n, v in _query(desk).items() if v is not None}, network)
        views.append({"network": network, **view, "items": _chosen(desk, view["items"])})
    items = [item for view in views for item in view["items"]]
    if desk.call.flag("--brief"):
        return desk.show(messages.brief(items), {"networks": views})
    shown: list[str] = []
    for view in views:
        shown += [
            f"{view['network']}:",
            *words.health(view["health"], desk.now()),
            *messages.inbox(view["items"], desk.now()),
            "",
        ]
    value = (
        {name: member for name, member in views[0].items() if name != "network"}
        if len(views) == 1
        else {"networks": views}
    )
    return desk.show(shown[:-1], value)


def _query(desk: Desk) -> dict[str, Any]:
    call = desk.call
    return {"room": call.text("--room"), "needs": call.text("--needs"), "tag": call.text("--tag")}


def _chosen(desk: Desk, items: list[Any]) -> list[Any]:
    wanted = desk.call.many("--id")
    return [item for item in items if item["id"] in wanted] if wanted else items


def _require_waiting(wanted: list[str], items: list[Any]) -> None:
    """Raises: Failure: an id that was asked for does not wait here, so nothing is drained for it."""
    if missing := [id for id in wanted if all(item["id"] != id for item in items)]:
        raise Failure(
            f"{visible(missing[0], 40)} does not wait in this inbox: it was drained or answered already, is not here "
            "yet (komnet sync), or the id is wrong; nothing was drained",
            error="UNKNOWN_MESSAGE",
        )


RUN = {"inbox": inbox}
