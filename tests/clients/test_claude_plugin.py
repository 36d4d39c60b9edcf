"""What Claude Code's own commands say of the plugin."""

import pytest

from tests.clients.claude import Claude
from tests.house.tracked import ROOT


@pytest.mark.parametrize("path", ["plugins/kxm", "."])
def test_the_clients_own_lint_finds_nothing(claude: Claude, path: str) -> None:
    said = claude.run("plugin", "validate", str(ROOT / path), "--strict")
    assert "warning" not in said.stdout.lower()


def test_the_client_connects_to_the_plugins_server(claude: Claude) -> None:
    listed = claude.run("mcp", "list").stdout
    (line,) = [line for line in listed.splitlines() if line.startswith("plugin:kxm:kxm")]
    assert "Connected" in line


def test_the_plugin_is_known_by_the_name_that_the_guide_uses(claude: Claude) -> None:
    assert "kxm@kxm" in claude.run("plugin", "list").stdout


def test_where_kxm_is_not_installed_the_session_says_so_and_works(claude: Claude) -> None:
    printed = claude.headless("hello", PATH="/usr/bin:/bin")
    assert "uv tool install peerline" in "\n".join(printed.hook_outputs("SessionStart"))
    assert printed.result["result"] == "OK"
