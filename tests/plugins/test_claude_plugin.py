"""The Claude Code plugin's files: what they name exists, what they start is bounded, and nothing secret is in them."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from peerline import __version__
from tests.house.tracked import ROOT

PLUGIN = ROOT / "plugins" / "kxm"
SCRIPT = PLUGIN / "scripts" / "kxm"
ROOT_VARIABLE = "${CLAUDE_PLUGIN_ROOT}"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def manifest() -> Any:
    return read(PLUGIN / ".claude-plugin" / "plugin.json")


def hooks() -> list[tuple[str, Any]]:
    events = read(PLUGIN / "hooks" / "hooks.json")["hooks"]
    return [(event, hook) for event, groups in events.items() for group in groups for hook in group["hooks"]]


def front_matter(page: Path) -> dict[str, str]:
    _, head, body = page.read_text(encoding="utf-8").split("---\n", 2)
    assert body.strip()
    return dict(line.split(": ", 1) for line in head.splitlines())


PAGES = [*sorted((PLUGIN / "commands").glob("*.md")), *sorted((PLUGIN / "skills").glob("*/SKILL.md"))]


def test_the_marketplace_of_this_repository_is_called_kxm_and_has_the_plugin_kxm() -> None:
    market = read(ROOT / ".claude-plugin" / "marketplace.json")
    (plugin,) = [one for one in market["plugins"] if one["name"] == "kxm"]
    assert market["name"] == "kxm"
    assert (ROOT / plugin["source"]).resolve() == PLUGIN
    assert manifest()["name"] == "kxm"


def test_the_plugin_has_the_version_of_the_package() -> None:
    assert manifest()["version"] == __version__


def test_its_channel_is_its_one_server_whose_tools_are_always_loaded() -> None:
    about = manifest()
    assert list(about["mcpServers"]) == ["kxm"]
    assert [channel["server"] for channel in about["channels"]] == ["kxm"]
    assert about["mcpServers"]["kxm"]["alwaysLoad"] is True


def test_every_option_that_is_used_is_declared_and_none_is_needed() -> None:
    about = manifest()
    used = re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(about["mcpServers"]))
    assert sorted(used) == sorted(about["userConfig"])
    for option in about["userConfig"].values():
        assert {"type", "title", "description"} <= set(option)
        assert not option.get("required", False)
    assert [name for name, option in about["userConfig"].items() if option.get("sensitive")] == ["auth_token"]


def test_no_hook_and_no_monitor_holds_an_option_which_a_shell_would_read() -> None:
    for file in (PLUGIN / "hooks" / "hooks.json", PLUGIN / "monitors" / "monitors.json"):
        assert "user_config" not in file.read_text()


def test_every_hook_is_bounded_and_runs_the_plugins_script_without_a_shell() -> None:
    found = hooks()
    assert {event for event, _ in found} == {
        "SessionStart",
        "UserPromptSubmit",
        "PermissionRequest",
        "PreToolUse",
        "Stop",
    }
    for _, hook in found:
        assert hook["type"] == "command"
        assert 1 <= hook["timeout"] <= 10
        assert hook["command"] == f"{ROOT_VARIABLE}/scripts/kxm"
        assert hook["args"][0] == "hook"


def test_every_file_that_the_plugin_names_is_there() -> None:
    texts = [path.read_text() for path in PLUGIN.rglob("*") if path.is_file() and path.suffix in (".json", ".md")]
    named = {match for text in texts for match in re.findall(r"\$\{CLAUDE_PLUGIN_ROOT\}/([\w./-]+)", text)}
    assert named == {"scripts/kxm"}
    assert os.access(SCRIPT, os.X_OK)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PLUGIN)))
def test_a_command_or_skill_says_in_its_head_what_it_is_for(page: Path) -> None:
    head = front_matter(page)
    assert 20 <= len(head["description"]) <= 1_024
    if page.name == "SKILL.md":
        assert head["name"] == page.parent.name


def test_the_readme_has_the_section_that_the_guide_links_to() -> None:
    headings = re.findall(r"^## (.+)$", (PLUGIN / "README.md").read_text(), re.MULTILINE)
    assert "pushed-channel-mode-and-pull-mode" in [heading.lower().replace(" ", "-") for heading in headings]


@pytest.mark.requirement("MSG-CMD-CLAUDE-CHANNELS", "MSG-CMD-CLAUDE-DEVELOPMENT")
def test_the_readme_has_the_guides_two_commands_for_channels() -> None:
    text = (PLUGIN / "README.md").read_text()
    assert "\nclaude --channels plugin:kxm@kxm\n" in text
    assert "\nclaude --dangerously-load-development-channels plugin:kxm@kxm\n" in text


@pytest.fixture
def run_script(tmp_path: Path) -> Any:
    """The plugin's script with a `kxm` of the test's own, which shows its arguments and its KXM_ variables."""

    def run(*words: str, kxm_in: str | None = "bin", **variables: str) -> "subprocess.CompletedProcess[str]":
        if kxm_in is not None:
            fake = tmp_path / kxm_in / "kxm"
            fake.parent.mkdir(parents=True, exist_ok=True)
            fake.write_text('#!/bin/sh\necho "$@"\nenv | grep -E "^(KXM_|CLAUDE_PLUGIN_OPTION)" | sort\n')
            fake.chmod(0o755)
        path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
        return subprocess.run(
            [str(SCRIPT), *words],
            env={"PATH": path, "HOME": str(tmp_path), **variables},
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )

    return run


def test_the_script_hands_options_on_and_leaves_variables_alone_where_an_option_is_empty(run_script: Any) -> None:
    ran = run_script(
        "hook",
        "stop",
        CLAUDE_PLUGIN_OPTION_AGENT_NAME='it\'s "quoted" $HOME; `id`',
        CLAUDE_PLUGIN_OPTION_PROJECT="",
        KXM_PROJECT="shop",
        KXM_OPTION_SERVER_URL="http://127.0.0.1:1",
        KXM_SERVER_URL="http://127.0.0.1:2",
    )
    assert ran.stdout.splitlines() == [
        "hook stop",
        'KXM_AGENT_NAME=it\'s "quoted" $HOME; `id`',
        "KXM_PROJECT=shop",
        "KXM_SERVER_URL=http://127.0.0.1:1",
    ]


def test_the_script_finds_what_is_not_in_the_path(run_script: Any) -> None:
    assert run_script("mcp", kxm_in=".local/bin").stdout == "mcp\n"


def test_where_kxm_is_not_installed_the_session_is_told_once_and_goes_on(run_script: Any) -> None:
    started = run_script("hook", "session-start", "--client", "claude", kxm_in=None)
    told = json.loads(started.stdout)["hookSpecificOutput"]
    assert "uv tool install peerline" in told["additionalContext"]
    assert told["hookEventName"] == "SessionStart"
    later = run_script("hook", "stop", "--client", "claude", kxm_in=None)
    assert (started.returncode, later.returncode, later.stdout, later.stderr) == (0, 0, "", "")
    server = run_script("mcp", kxm_in=None)
    assert (server.returncode, server.stdout) == (127, "")
    assert "uv tool install peerline" in server.stderr
