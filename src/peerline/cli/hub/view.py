"""`kxm hub view`: whether the hub that this machine talks to is healthy and ready."""

from typing import Any, Final

import click

from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import Caller, unreachable
from peerline.cli.options import Asked, refused

TIMEOUT_MS: Final = 5_000


@click.command("view")
@click.option("--server", metavar="URL", help="On this hub (KXM_SERVER_URL).")
@click.pass_obj
def view(asked: Asked, server: str | None) -> int:
    """Ask the hub whether it is healthy and ready. Exit code 0 only if it is both."""
    caller = Caller({**asked.env, "KXM_PROJECT": "any"}, {"--server": server})
    address = caller.address
    scope = "loopback" if address.loopback else "remote"
    target = {"url": address.url, "scope": scope, "source": _source(asked, server, address.url)}
    if asked.dry_run:
        return asked.planned("hub view", target=target)
    hub = Connection(address, {})
    try:
        health = hub.request("GET", "/health", timeout_ms=TIMEOUT_MS)
        ready = hub.request("GET", "/ready", timeout_ms=TIMEOUT_MS)
    except Unreachable as why:
        raise refused("hub_unreachable", unreachable(address, why).detail) from None
    except (ConnectionLost, ValueError) as why:
        raise refused("hub_unreachable", f"no answer of a hub at {address.url}: {why}") from None
    finally:
        hub.close()
    facts: dict[str, Any] = {"target": target, "health": health.body, "ready": ready.body}
    healthy, is_ready = health.status == 200, ready.status == 200
    text = f"hub health={_word(healthy)} ready={_word(is_ready)} · {scope} hub"
    code = asked.done("hub view", text, **facts, **({} if healthy and is_ready else {"ok": False}))
    return code or int(not (healthy and is_ready))


def _word(good: bool) -> str:
    return "true" if good else "false"


def _source(asked: Asked, server: str | None, url: str) -> str:
    if server:
        return "option"
    if asked.env.get("KXM_SERVER_URL"):
        return "environment"
    return "default" if url == "http://127.0.0.1:7331" else "binding"
