"""Secrets do not reach a log line, by their name or by their look."""

from typing import Any

import pytest

from peerline.core.redaction import redacted


@pytest.mark.parametrize(
    "name",
    ["token", "authToken", "SECRET", "webhook_secret", "password", "apiKey", "api_key", "Authorization", "bearer"],
)
def test_a_value_under_a_secrets_name_is_left_out(name: str) -> None:
    assert redacted({name: "hunter2", "project": "shop"}) == {name: "[redacted]", "project": "shop"}


@pytest.mark.parametrize(
    "secret",
    ["kxm_admin_wJalrXUtnFEMI-K7MDENG", "kxm_project_" + "0a" * 32, "key_" + "0" * 32, "Bearer something-else"],
)
def test_what_looks_like_a_secret_is_left_out_wherever_it_stands(secret: str) -> None:
    line = redacted({"detail": f"got {secret} from a client", "more": [{"name": secret}]})
    assert line == {"detail": "got [redacted] from a client", "more": [{"name": "[redacted]"}]}


@pytest.mark.parametrize(
    "harmless", [{"tokenId": "tok_1"}, {"port": 7331}, {"name": "keyboard"}, {"ok": True}, {"detail": None}]
)
def test_what_is_no_secret_stays(harmless: dict[str, Any]) -> None:
    assert redacted(harmless) == harmless
