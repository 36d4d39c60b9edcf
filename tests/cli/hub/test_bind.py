"""`kxm hub bind`, `unbind` and `view`."""

import json

import pytest

from tests.cli.hub.shell import Operator
from tests.cli.servers import saying, serving
from tests.hub_process import HubProcess

NOTHING = "http://127.0.0.1:1"


def test_bound_commands_talk_to_that_hub_until_unbound(operator: Operator, hub_process: HubProcess) -> None:
    bound = operator.hub("bind", f"{hub_process.url}/")
    assert (bound.code, bound.stdout) == (0, f"bound to {hub_process.url} · loopback hub · on\n")
    assert operator.hub("view").stdout == "hub health=true ready=true · loopback hub\n"
    path = operator.state / "hub-binding.json"
    saved = json.loads(path.read_text())
    assert (saved["schema"], saved["url"], path.stat().st_mode & 0o777) == (
        "kxm.hub-binding.v1",
        hub_process.url,
        0o600,
    )
    assert operator.kxm("peer", "list", KXM_AUTH_TOKEN=hub_process.admin).code == 0
    assert operator.hub("unbind").stdout == f"no longer bound to {hub_process.url}\n"
    assert operator.hub("unbind").refusal[:2] == (1, "hub_not_bound")


def test_a_hub_that_does_not_run_can_be_bound(operator: Operator) -> None:
    assert operator.hub("bind", NOTHING, "--json").json["state"] == "off"


@pytest.mark.parametrize("url", ["ftp://h", "h:7331", "http://u:secret@h", "http://h?token=secret", "http://h#secret"])
def test_what_is_no_hubs_url_is_refused_without_repeating_it(url: str, operator: Operator) -> None:
    refused = operator.hub("bind", url)
    assert refused.refusal[:2] == (2, "hub_url_invalid")
    assert "secret" not in refused.stderr


def test_a_hub_on_another_machine_needs_a_credential_first(operator: Operator) -> None:
    assert operator.hub("bind", "https://hub.invalid").refusal[:2] == (2, "hub_bind_unauthenticated")
    assert not (operator.state / "hub-binding.json").exists()
    bound = operator.hub("bind", "https://hub.invalid", "--json", KXM_AUTH_TOKEN="token-of-p")
    assert (bound.code, bound.json["scope"]) == (0, "remote")
    assert "token-of-p" not in (operator.state / "hub-binding.json").read_text()


def test_a_dry_run_binds_nothing(operator: Operator) -> None:
    planned = operator.hub("--dry-run", "bind", NOTHING)
    assert planned.json["args"] == {"url": NOTHING, "scope": "loopback"}
    assert not operator.state.exists()


def test_view_of_nothing_says_what_to_do(operator: Operator) -> None:
    detail = f"hub not reachable at {NOTHING} (ECONNREFUSED); start it with: kxm hub start"
    assert operator.hub("view", "--server", NOTHING).refusal == (1, "hub_unreachable", detail)


def test_view_of_a_hub_that_is_not_ready_fails_and_tells_both(operator: Operator) -> None:
    well = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{"ok":true}'
    ill = b'HTTP/1.1 503 No\r\nContent-Length: 12\r\n\r\n{"ok":false}'
    with serving(saying(well), saying(ill)) as url:
        seen = operator.hub("view", "--server", url)
    assert (seen.code, seen.stdout) == (1, "hub health=true ready=false · loopback hub\n")
    with serving(saying(well), saying(ill)) as url:
        told = operator.hub("view", "--server", url, "--json")
    assert (told.code, told.json["ok"], told.json["ready"]) == (1, False, {"ok": False})


def test_view_of_something_else_says_that_it_is_no_hub(operator: Operator) -> None:
    with serving(saying(b"SSH-2.0-x\r\n\r\n")) as url:
        code, error, detail = operator.hub("view", "--server", url).refusal
    assert (code, error) == (1, "hub_unreachable")
    assert "is no hub" in detail
