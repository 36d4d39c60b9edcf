"""The Codex plugin's files: what they name exists, what they start is bounded, and Claude Code's are left alone."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from peerline import __version__
from tests.house.tracked import ROOT

PLUGIN = ROOT / "plugins" / "kxm"
OWN = PLUGIN / ".codex-plugin"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_marketplace_of_this_repository_is_called_kxm_and_has_the_plugin_kxm() -> None:
    market = read(ROOT / ".agents" / "plugins" / "marketplace.json")
    (plugin,) = [one for one in market["plugins"] if one["name"] == "kxm"]
    assert market["name"] == "kxm"
    assert (ROOT / plugin["source"]["path"]).resolve() == PLUGIN
    assert read(OWN / "plugin.json")["name"] == "kxm"


def test_the_plugin_has_the_version_of_the_package() -> None:
    assert read(OWN / "plugin.json")["version"] == __version__


def test_every_file_that_the_manifest_names_is_there() -> None:
    manifest = read(OWN / "plugin.json")
    assert [(PLUGIN / manifest[part]).exists() for part in ("skills", "mcpServers", "hooks")] == [True, True, True]


def test_the_two_clients_share_no_file_that_either_finds_by_its_place() -> None:
    assert not (PLUGIN / ".mcp.json").exists(), "Claude Code would start a second server"
    assert "--client codex" not in (PLUGIN / "hooks" / "hooks.json").read_text()


def test_every_hook_is_bounded_and_runs_the_plugins_script_for_codex() -> None:
    events = read(OWN / "hooks.json")["hooks"]
    assert set(events) == {"SessionStart", "UserPromptSubmit", "Stop"}
    for groups in events.values():
        for hook in (hook for group in groups for hook in group["hooks"]):
            assert re.fullmatch(r'"\$\{PLUGIN_ROOT\}/scripts/kxm" hook [a-z-]+ --client codex', hook["command"])
            assert 1 <= hook["timeout"] <= 10
    assert os.access(PLUGIN / "scripts" / "kxm", os.X_OK)


def test_the_server_is_found_where_installers_put_it_and_gets_names_of_variables_but_no_values(tmp_path: Path) -> None:
    (server,) = read(OWN / "mcp.json")["mcpServers"].values()
    assert "env" not in server
    assert set(server["env_vars"]) >= {"CODEX_HOME", "KXM_AUTH_TOKEN", "KXM_SERVER_URL", "KXM_STATE_HOME"}
    fake = tmp_path / ".local" / "bin" / "kxm"
    fake.parent.mkdir(parents=True)
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(0o755)
    ran = subprocess.run(
        [server["command"], *server["args"]],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert ran.stdout == "mcp\n"
