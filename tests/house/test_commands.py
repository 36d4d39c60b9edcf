"""The commands that the pages show exist."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.tracked import ROOT, pages, shown, tracked

TARGETS = ("setup", "check", "test", "test-all", "test-compiled", "bench", "demo", "wheel", "ci")
SHELLS = {
    "setup": "sh",
    "demo": "sh",
    "test": "sh",
    "wheel": "sh",
    ".ci/run": "bash",
    "plugins/komnet-gateway/scripts/gateway": "sh",
    "plugins/komnet/scripts/komnet": "sh",
    "plugins/kxm/scripts/kxm": "sh",
}
BLOCK = re.compile(r"^```(?:bash|sh|console|text)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
OURS = re.compile(r"\b(kxm|peerline)((?: [a-z][a-z-]*){1,3})")
# Blocks of `AGENTS.md` are indented; the rest is fenced.
INDENTED = re.compile(r"^    (.+)$", re.MULTILINE)


def _commands(page: Path) -> str:
    text = page.read_text()
    lines = "\n".join(BLOCK.findall(text)) + "\n" + "\n".join(INDENTED.findall(text))
    return re.sub(r"(^|\s)#.*", "", lines)


def _makefile() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_the_makefile_has_every_target() -> None:
    assert set(TARGETS) - _makefile() == set()


def test_every_make_target_that_a_page_names_exists() -> None:
    named = {
        (shown(page), target) for page in pages() for target in re.findall(r"`?make ([a-z][a-z-]*)", _commands(page))
    }
    assert named, "the pages show no make command at all"
    assert {(page, target) for page, target in named if target not in _makefile()} == set()


def test_the_scripts_can_be_run() -> None:
    assert [name for name in SHELLS if not os.access(ROOT / name, os.X_OK)] == []


def test_the_scripts_have_no_syntax_error() -> None:
    for name, shell in SHELLS.items():
        subprocess.run([shell, "-n", name], cwd=ROOT, check=True)


def test_the_console_scripts_are_the_three_commands() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {name: f"peerline.cli.hot:{name}" for name in ("kxm", "komnet", "peerline")}


def _shown_commands() -> list[str]:
    found: set[str] = set()
    for page in pages():
        if page.is_relative_to(ROOT / "docs" / "decisions"):
            continue  # decisions speak of what is not built yet
        for command, words in OURS.findall(_commands(page)):
            found.add(command + words)
    return sorted(found)


@pytest.mark.parametrize("shown_command", _shown_commands())
def test_a_command_that_a_page_shows_has_a_help_page(shown_command: str) -> None:
    # Words behind the command may be arguments: `kxm peer send reviewer`.
    words = shown_command.split()
    length = 4 if words[:3] == ["kxm", "hub", "token"] else 3 if words[:2] in (["kxm", "peer"], ["kxm", "hub"]) else 2
    ran = _help(words[:length])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.strip()


def _help(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "peerline.cli.hot", *words, "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_primer_for_agents_stays_short() -> None:
    # A token is about four characters of such text; the promise is 700.
    assert len((ROOT / "AGENTS.md").read_text()) / 4 <= 700


def test_no_shell_script_hides_without_being_checked() -> None:
    scripts = {shown(path) for path in tracked() if path.suffix == "" and path.read_bytes()[:2] == b"#!"}
    assert scripts == set(SHELLS)
