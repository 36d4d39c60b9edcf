"""What a sender is told about a session that nothing wakes."""

import pytest

from peerline.mcp_stdio.silence import silence


@pytest.mark.parametrize(
    ("client", "headless", "reason"),
    [
        ("claude-code", False, "no monitor runs in its session, and whether a channel push is taken is not known"),
        ("claude-code", True, "the session is headless, so nothing wakes it"),
        (
            "opencode",
            False,
            "no conversation has begun in it since it started, or its plugin is missing: peerline setup opencode",
        ),
        ("gemini", False, "gemini takes no push from its MCP server"),
    ],
)
def test_the_reason_is_the_clients_own(client: str, headless: bool, reason: str) -> None:
    assert silence(client, headless=headless, watched=False) == reason
    assert silence(client, headless=headless, watched=True) is None
