"""The plugin komnet: what its hook says, and that it names only what exists."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from peerline.wire.komnet_tools import BY_NAME
from tests.house.tracked import ROOT
from tests.plugins.komnet_commands import shown_commands, wrong_with

PLUGIN = ROOT / "plugins" / "komnet"
SCRIPT = PLUGIN / "scripts" / "komnet"
PAGES = sorted([*PLUGIN.glob("skills/*/SKILL.md"), PLUGIN / "README.md"])
BRIEF_CHARACTERS = 1_500


class Machine:
    """A user's PATH on which `komnet` prints what a test says; an installed one is not looked for elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder)}

    def komnet(self, prints: str, code: int = 0) -> None:
        (self.folder / "printed").write_text(prints)
        program = self.folder / "komnet"
        called = f'echo "$@" "${{KOMNET_AGENT:-}}" >{self.folder}/called'
        program.write_text(f"#!/bin/sh\n{called}\ncat {self.folder}/printed\nexit {code}\n")
        program.chmod(0o755)

    def start(self, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        env = self.environment | variables
        return subprocess.run([SCRIPT, *words], env=env, capture_output=True, text=True, check=False)

    def context(self) -> str | None:
        ran = self.start("session-start")
        assert (ran.returncode, ran.stderr) == (0, "")
        if not ran.stdout:
            return None
        answer: dict[str, Any] = json.loads(ran.stdout)["hookSpecificOutput"]
        assert answer["hookEventName"] == "SessionStart"
        return str(answer["additionalContext"])


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_hook_passes_the_brief_on(machine: Machine) -> None:
    machine.komnet("komnet: 1 pending message\n  [build] ada-claude (agent): is it green?\n")
    assert machine.context() == "komnet: 1 pending message\n  [build] ada-claude (agent): is it green?"
    assert (machine.folder / "called").read_text().split() == ["inbox", "--brief"]


@pytest.mark.parametrize(("prints", "code"), [("", 0), ("", 1), ("half a brief", 1), ("no network", 2)])
def test_the_hook_is_silent_when_nothing_waits_or_komnet_is_not_set_up(
    machine: Machine, prints: str, code: int
) -> None:
    machine.komnet(prints, code)
    assert machine.context() is None


def test_the_hook_says_when_nothing_tells_which_agent_this_is(machine: Machine) -> None:
    machine.komnet("", 6)
    assert "KOMNET_AGENT" in (machine.context() or "")


def test_the_hook_says_where_komnet_is_not_installed(machine: Machine) -> None:
    assert "uv tool install peerline" in (machine.context() or "")
    ran = machine.start("mcp")
    assert ran.returncode == 127
    assert "not installed" in ran.stderr


@pytest.mark.parametrize(
    "line",
    ['say "hi" \\ \\n \\u0041', "tab\there", "ä → 中 ⟨U+202E⟩", "a\x01\x1b[31mb\x7f", "'; touch x; '", "$(id) `id` %s"],
)
def test_whatever_the_brief_holds_stays_text(machine: Machine, line: str) -> None:
    machine.komnet(f"first\n  {line}\nlast\n")
    context = machine.context() or ""
    assert context.splitlines()[0] == "first"
    assert context.splitlines()[-1] == "last"
    assert len(context.splitlines()) == 3
    plain = re.sub(r"[\x00-\x08\x0b-\x1f]", "", line).replace("\t", " ")
    assert context.splitlines()[1] == f"  {plain}"
    assert not (machine.folder / "x").exists()


def test_a_brief_that_is_too_long_is_cut_at_a_line(machine: Machine) -> None:
    machine.komnet("".join(f"  [build] ada-claude (agent): ä line {number} {'x' * 60}\n" for number in range(100)))
    context = machine.context() or ""
    assert len(context) <= BRIEF_CHARACTERS
    assert context.splitlines()[-1] == "(more: komnet inbox)"
    assert all(line.endswith("x") for line in context.splitlines()[:-1])


def test_a_plugin_option_counts_more_than_the_variable(machine: Machine) -> None:
    machine.komnet("")
    machine.start("status", KOMNET_AGENT="from-shell")
    assert (machine.folder / "called").read_text() == "status from-shell\n"
    machine.start("status", KOMNET_AGENT="from-shell", KOMNET_OPTION_AGENT="from-option")
    assert (machine.folder / "called").read_text() == "status from-option\n"


def test_both_clients_get_the_same_plugin() -> None:
    claude = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    codex = json.loads((PLUGIN / ".codex-plugin" / "plugin.json").read_text())
    assert [claude[name] == codex[name] for name in ("name", "version", "description", "license")] == [True] * 4
    for path, source in ((".claude-plugin", str), (".agents/plugins", dict)):
        listed = {one["name"]: one for one in json.loads((ROOT / path / "marketplace.json").read_text())["plugins"]}
        assert isinstance(listed["komnet"]["source"], source)
        assert "./plugins/komnet" in str(listed["komnet"]["source"])


def test_each_skill_is_named_as_its_folder_and_says_when_to_use_it() -> None:
    skills = sorted(PLUGIN.glob("skills/*/SKILL.md"))
    assert [skill.parent.name for skill in skills] == ["human-handoff", "inbox", "messaging", "setup"]
    for skill in skills:
        head = skill.read_text().split("---\n")[1]
        assert f"name: {skill.parent.name}\n" in head
        assert "Use it when" in head


def test_the_skills_name_tools_that_exist() -> None:
    named = {tool for page in PAGES for tool in re.findall(r"\bkomnet_[a-z]+\b", page.read_text())}
    assert named <= BY_NAME.keys()
    assert {"komnet_inbox", "komnet_answer", "komnet_ask", "komnet_send", "komnet_decide"} <= named


def test_every_command_and_option_that_the_skills_name_exists() -> None:
    found = shown_commands(PLUGIN, PAGES)
    assert len(found) > 30
    assert [(one.page, one.command, why) for one in found if (why := wrong_with(one.command))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_skills_never_have_an_agent_speak_for_a_person_or_force_a_send(page: Path) -> None:
    text = page.read_text()
    for option in ("--as-human", "--force-unsafe"):
        for line in (line for line in text.splitlines() if option in line):
            assert page.parent.name in ("human-handoff", "messaging", "komnet"), line
    assert "komnet send ROOM TEXT --force-unsafe" not in text


def test_the_script_runs_under_a_plain_shell() -> None:
    for shell in ("sh", "bash", "dash"):
        if os.access(f"/bin/{shell}", os.X_OK):
            subprocess.run([f"/bin/{shell}", "-n", SCRIPT], check=True)
    assert sys.platform != "win32"
