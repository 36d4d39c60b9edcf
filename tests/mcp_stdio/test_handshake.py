"""How the server introduces itself, and to whom it does not."""

import json
from typing import Any

import pytest

from peerline.mcp_stdio import rpc
from peerline.mcp_stdio.handshake import introduce, label
from peerline.tools.introduction import INSTRUCTIONS


def answered(method: str, params: dict[str, Any], notice: str = "") -> Any:
    answer = introduce(rpc.Request(method, params, 1), notice)
    assert answer is not None
    return json.loads(answer)


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        (None, "2025-11-25"),
    ],
)
def test_a_revision_is_one_in_which_a_server_may_speak_unasked(asked: str | None, given: str) -> None:
    answer = answered("initialize", {"protocolVersion": asked})["result"]
    assert answer["protocolVersion"] == given
    assert answer["capabilities"] == {"experimental": {"claude/channel": {}}, "tools": {}}
    assert answer["serverInfo"]["name"] == "kxm"


def test_the_newer_eras_opening_is_refused_so_that_the_client_falls_back() -> None:
    assert answered("server/discover", {})["error"]["code"] == rpc.METHOD_NOT_FOUND


def test_the_instructions_are_short_and_name_the_tools() -> None:
    assert len(INSTRUCTIONS) < 800
    for word in ("<channel>", "kxm_inbox", "kxm_reply", "message_id", "kxm_send", "kxm_get", "go on without KXM"):
        assert word in INSTRUCTIONS


def test_a_session_is_told_of_its_name_in_the_instructions() -> None:
    assert answered("initialize", {}, "Your agent name is x-1.")["result"]["instructions"].endswith("is x-1.")


@pytest.mark.parametrize(
    ("about", "short"),
    [
        ({"name": "claude-code"}, "claude-code"),
        ({"name": "codex-mcp-client"}, "codex"),
        ({"name": "pi"}, "pi"),
        ({"name": "a b\n"}, "mcp"),
        ({}, "mcp"),
        (None, "mcp"),
        ({"name": 7}, "mcp"),
    ],
)
def test_a_client_is_called_by_its_short_name(about: object, short: str) -> None:
    assert label({"clientInfo": about}) == short
