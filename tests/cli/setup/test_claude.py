"""What Claude Code is pointed at: the plugin where it lies, and the kxm that it starts."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from peerline.cli.setup.claude import parts
from peerline.cli.setup.client import snippet
from peerline.cli.setup.shipped import marketplace
from tests.house.tracked import ROOT

SCRIPT = ROOT / "plugins" / "kxm" / "scripts" / "kxm"

PLUGINS = ("kxm", "komnet", "komnet-gateway", "opencode", "pi")


def test_the_wheel_holds_the_marketplace_where_setup_looks_for_it() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    inside = {name: target.removeprefix("peerline/marketplace/") for name, target in wheel["force-include"].items()}
    # As in the repository, for the marketplace names its plugins by paths below itself.
    places = (".claude-plugin/marketplace.json", *(f"plugins/{name}" for name in PLUGINS))
    assert inside == {name: name for name in places}
    assert all((ROOT / name).exists() for name in inside)


@pytest.mark.plain
def test_a_checkout_is_its_own_marketplace() -> None:
    assert marketplace() == ROOT


def test_the_plugin_starts_the_kxm_that_the_settings_name(tmp_path: Path) -> None:
    for folder in ("named", "on path"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kxm").write_text(f'#!/bin/sh\necho "{folder}" "$@"\n')
        (tmp_path / folder / "kxm").chmod(0o755)
    path = f"{tmp_path / 'on path'}:{os.environ['PATH']}"

    def started(program: str) -> str:
        env = {"PATH": path, "KXM_PROGRAM": program}
        return subprocess.run([SCRIPT, "mcp"], env=env, capture_output=True, text=True, check=True).stdout

    assert started(str(tmp_path / "named" / "kxm")) == "named mcp\n"
    assert started(str(tmp_path / "gone" / "kxm")) == "on path mcp\n"
    assert started("") == "on path mcp\n"


@pytest.mark.parametrize("variable", ["HOME", "CLAUDE_CONFIG_DIR"])
def test_the_settings_are_where_the_client_reads_them(tmp_path: Path, variable: str) -> None:
    env = {"HOME": str(tmp_path / "home")} | {variable: str(tmp_path / "given")}
    (part,) = parts(env, "/opt/kxm")
    below = "given/settings.json" if variable == "CLAUDE_CONFIG_DIR" else "given/.claude/settings.json"
    assert part.path == tmp_path / below
    assert "/opt/kxm" in snippet(part)
