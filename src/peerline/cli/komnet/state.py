"""`komnet sync`, `status`."""

from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.shown import state


def sync(desk: Desk) -> int:
    report = desk.ask("sync")
    return desk.show(state.sync(report), report)


def status(desk: Desk) -> int:
    if not desk.call.flag("--all-networks"):
        found = desk.ask("status")
        return desk.show(state.status(found, _home(desk), desk.now()), found)
    calls = desk.calls()
    every = [calls.call("status", {}, one["id"]) for one in desk.ask("networks")]
    shown = [line for one in every for line in (*state.status(one, _home(desk), desk.now()), "")]
    return desk.show(shown[:-1], every[0] if len(every) == 1 else {"networks": every})


def _home(desk: Desk) -> str:
    return f"{desk.home.folder}" + (" (KOMNET_HOME)" if desk.env.get("KOMNET_HOME") else "")


RUN = {"sync": sync, "status": status}
