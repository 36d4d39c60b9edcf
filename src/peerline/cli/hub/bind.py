"""`kxm hub bind` and `unbind`: which hub this machine's commands talk to (`hub-binding.json`)."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from peerline.cli.hot_address import Address
from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import read_object
from peerline.cli.hot_paths import StateRootNotAbsolute, private_write, state_root
from peerline.cli.options import Asked, refused

SCHEMA: Final = "kxm.hub-binding.v1"
PROBE_MS: Final = 300


@click.command("bind")
@click.argument("url")
@click.pass_obj
def bind(asked: Asked, url: str) -> int:
    """Talk to the hub at URL from now on. KXM_SERVER_URL and --server still win over it."""
    root = _root(asked)
    try:
        address = Address(url)
    except ValueError as error:
        raise refused("hub_url_invalid", str(error), exit_code=2) from None
    if not address.loopback and not _has_credential(asked, root):
        detail = "no credential for a hub on another machine: set KXM_AUTH_TOKEN to your project's token first"
        raise refused("hub_bind_unauthenticated", detail, exit_code=2, nextAction="export_kxm_auth_token")
    scope = "loopback" if address.loopback else "remote"
    if asked.dry_run:
        return asked.planned("hub bind", url=address.url, scope=scope)
    state = _probe(address)
    bound_at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = {"schema": SCHEMA, "url": address.url, "scope": scope, "boundAt": bound_at}
    try:
        private_write(str(root / "hub-binding.json"), (json.dumps(body, indent=2) + "\n").encode())
    except OSError as error:
        raise refused("hub_bind_failed", f"the binding could not be saved: {error.strerror}") from None
    return asked.done(
        "hub bind", f"bound to {address.url} · {scope} hub · {state}", url=address.url, scope=scope, state=state
    )


@click.command("unbind")
@click.pass_obj
def unbind(asked: Asked) -> int:
    """Forget the binding: this machine's commands talk to http://127.0.0.1:7331 again."""
    path = _root(asked) / "hub-binding.json"
    url = read_object(str(path)).get("url")
    if not path.exists():
        raise refused("hub_not_bound", "this machine is bound to no hub")
    if asked.dry_run:
        return asked.planned("hub unbind", url=url)
    path.unlink(missing_ok=True)
    return asked.done("hub unbind", f"no longer bound to {url}", url=url)


def _root(asked: Asked) -> Path:
    try:
        return Path(state_root(asked.env))
    except StateRootNotAbsolute as error:
        raise refused(error.code, str(error), exit_code=2) from None


def _has_credential(asked: Asked, root: Path) -> bool:
    path = root / "hub-env.json"
    saved = read_object(str(path))
    if path.exists() and not saved:
        raise refused("hub_credential_unreadable", f"saved credentials cannot be read: {path}", exit_code=2)
    return bool(asked.env.get("KXM_AUTH_TOKEN") or saved.get("projectTokens") or saved.get("authToken"))


def _probe(address: Address) -> str:
    """`on` if a hub answers, `off` if nothing listens, `unknown` if neither is certain in the time given."""
    hub = Connection(address, {})
    try:
        return "on" if hub.request("GET", "/health", timeout_ms=PROBE_MS).status == 200 else "unknown"
    except Unreachable as why:
        return "off" if str(why) == "ECONNREFUSED" else "unknown"
    except (ConnectionLost, ValueError):
        return "unknown"
    finally:
        hub.close()
