"""`peerline setup` and `uninstall` in a home with a user's own files for each client."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from peerline.cli.setup.change import addition, written
from peerline.cli.setup.client import Part
from peerline.cli.setup.clients import CLIENTS
from peerline.cli.setup.entry import Entry
from peerline.cli.setup.probe import serves
from peerline.cli.setup.program import installed
from peerline.cli.setup.record import Manifest
from tests.cli.person_shell import Shell

# As a user of each client may have them; their formats are those of the clients' own documentation.
THEIRS = {
    ".claude/settings.json": '{\n\t"model": "opus",\n\t"env": {"THEIR_TOKEN": "s3cr3t-of-mine"},\n\t"hooks": {\n'
    '\t\t"Stop": [\n\t\t\t{"hooks": [{"type": "command", "command": "say done"}]}\n\t\t]\n\t}\n}',
    ".codex/config.toml": '# my own\nmodel = "gpt"\n\n[mcp_servers.docs]\ncommand = "docs"\n\n[projects."/w"]\n'
    'trust_level = "trusted"\n',
    ".gemini/settings.json": '{"security":{"auth":{"selectedType":"gemini-api-key"}},"mcpServers":{}}',
    ".config/opencode/opencode.json": '{\r\n  "$schema": "https://opencode.ai/config.json",\r\n  "mcp": {}\r\n}\r\n',
    ".pi/agent/settings.json": '{\n    "packages": [\n        "npm:theirs"\n    ],\n    "theme": "dark"\n}\n',
    ".cursor/mcp.json": '{ "mcpServers": { "docs": { "command": "docs" } } }\n',
}
NAMES = tuple(CLIENTS)


class Home(Shell):
    def __init__(self, home: Path) -> None:
        super().__init__(home)
        # The state folder where it is without a setting: below the home, so that it is compared too.
        del self.env["KXM_STATE_HOME"]
        self.env["PATH"] = str(home.parent / "bin") + ":/usr/bin:/bin"
        (home.parent / "bin").mkdir()

    def has(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def program(self, name: str, text: str) -> None:
        path = self.home.parent / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def json(self, name: str) -> Any:
        return json.loads((self.home / name).read_bytes())

    def tree(self) -> dict[str, tuple[int, bytes | None]]:
        """Every file and folder below the home: its mode and its bytes."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            mode = stat.S_IMODE(path.lstat().st_mode)
            found[str(path.relative_to(self.home))] = (mode, path.read_bytes() if path.is_file() else None)
        return found


@pytest.fixture
def shell(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.mark.parametrize("files", [THEIRS, {}], ids=["own files", "empty home"])
@pytest.mark.parametrize("words", [["uninstall"], ["uninstall", "--purge"], ["setup", "--remove"]], ids=" ".join)
def test_after_it_was_taken_out_the_home_is_as_before(shell: Home, files: dict[str, str], words: list[str]) -> None:
    shell.has(files)
    if files:
        (shell.home / ".claude/settings.json").chmod(0o600)
    before = shell.tree()
    shell.says("setup", *NAMES)
    assert shell.tree() != before
    shell.says(*words)
    assert shell.tree() == before


def test_purge_stops_the_hub_and_leaves_the_home_as_it_was(shell: Home) -> None:
    shell.has(THEIRS)
    before = shell.tree()
    shell.env["KXM_PORT"] = "0"
    url = shell.told("up")["url"]
    shell.env["KXM_SERVER_URL"] = url
    shell.says("setup", *NAMES)
    shell.says("list")
    assert shell.told("uninstall", "--purge")["stopped"] > 0
    assert shell.tree() == before


def test_uninstall_without_purge_keeps_the_hub_and_its_messages(shell: Home) -> None:
    shell.env["KXM_PORT"] = "0"
    shell.env["KXM_SERVER_URL"] = shell.told("up")["url"]
    try:
        shell.says("setup", "claude")
        assert "messages stay" in shell.says("uninstall")
        shell.says("list")
    finally:
        shell.says("uninstall", "--purge")
    assert shell.tree() == {}


def test_what_its_owner_had_is_still_there_beside_ours(shell: Home) -> None:
    shell.has(THEIRS)
    shell.says("setup", *NAMES)
    for name in (".gemini/settings.json", ".cursor/mcp.json"):
        mine, now = json.loads(THEIRS[name]), shell.json(name)
        assert set(now.pop("hooks", {})) == ({"SessionStart", "BeforeAgent"} if "gemini" in name else set())
        ours = now["mcpServers"].pop("kxm")
        assert now == mine
        assert Path(ours["command"]).is_absolute()
        assert ours["args"] == ["mcp"]
    settings = shell.json(".claude/settings.json")
    assert Path(settings["env"].pop("KXM_PROGRAM")).is_absolute()
    marketplace = Path(settings.pop("extraKnownMarketplaces")["kxm"]["source"]["path"])
    assert (marketplace / "plugins/kxm/.claude-plugin/plugin.json").is_file()
    assert settings.pop("enabledPlugins") == {"kxm@kxm": True}
    assert settings == json.loads(THEIRS[".claude/settings.json"])
    config = tomllib.loads((shell.home / ".codex/config.toml").read_text())
    assert set(config["mcp_servers"]) == {"docs", "kxm"}
    opencode = shell.json(".config/opencode/opencode.json")
    assert Path(opencode["mcp"]["kxm"]["command"][0]).is_absolute()
    (plugin,) = opencode["plugin"]
    theirs, package = shell.json(".pi/agent/settings.json")["packages"]
    assert theirs == "npm:theirs"
    assert Path(plugin).is_file()
    assert (Path(package) / "package.json").is_file()


def test_each_changed_file_has_a_backup_with_its_bytes_and_mode(shell: Home) -> None:
    shell.has(THEIRS)
    (shell.home / ".claude/settings.json").chmod(0o600)
    before = shell.tree()
    changes = [change for client in shell.told("setup", *NAMES)["clients"] for change in client["changes"]]
    assert len(changes) == len(THEIRS)
    after = shell.tree()
    for change in changes:
        name = str(Path(change["path"]).relative_to(shell.home))
        backup = str(Path(change["backup"]).relative_to(shell.home))
        assert Path(backup).parent == Path(name).parent
        assert after[backup] == before[name]


def test_what_an_earlier_version_wrote_where_nothing_belongs_any_more_goes(shell: Home) -> None:
    theirs = '{"mcpServers": {"docs": {"command": "docs"}}}\n'
    shell.has({".pi/agent/mcp.json": theirs})
    before = shell.tree()
    path = shell.home / ".pi/agent/mcp.json"
    entry = Entry(path=("mcpServers", "kxm"), value={"command": "/opt/kxm", "args": ["mcp"]}, what="the kxm_ tools")
    root = shell.home / ".local/state/kxm"
    root.mkdir(parents=True)
    manifest = Manifest(root)
    written(addition("pi", Part(path=path, entries=(entry,)), manifest), manifest, datetime.now(UTC))
    told = shell.told("setup", "pi")["clients"][0]["changes"]
    assert [(Path(one["path"]).name, one["action"]) for one in told] == [
        ("mcp.json", "removed"),
        ("settings.json", "created"),
    ]
    assert path.read_text() == theirs
    shell.says("uninstall", "--purge")
    assert shell.tree() == before


def test_the_second_run_changes_nothing(shell: Home) -> None:
    shell.has(THEIRS)
    shell.says("setup", *NAMES)
    before = shell.tree()
    again = shell.told("setup", *NAMES)
    assert {change["action"] for client in again["clients"] for change in client["changes"]} == {"unchanged"}
    assert shell.tree() == before


def test_kxm_setup_is_the_same_command(shell: Home) -> None:
    shell.says("setup", "claude")
    told = json.loads(_kxm(shell, "setup", "claude", "--json"))
    assert [change["action"] for change in told["clients"][0]["changes"]] == ["unchanged"]


@pytest.mark.parametrize("option", ["--dry-run", "--print"])
def test_a_look_writes_nothing(shell: Home, option: str) -> None:
    shell.has(THEIRS)
    before = shell.tree()
    said = shell.says("setup", *NAMES, option)
    assert "kxm" in said
    assert "  created " not in said, "nothing was"
    shell.says("uninstall", "--purge", "--dry-run")
    assert shell.tree() == before


def test_what_is_printed_is_what_would_be_written_into_an_empty_home(shell: Home) -> None:
    snippets = shell.told("setup", *NAMES, "--print")["snippets"]
    shell.says("setup", *NAMES)
    assert len(snippets) == len(THEIRS)
    for snippet in snippets:
        path, text = Path(snippet["path"]), snippet["text"]
        read = tomllib.loads if path.suffix == ".toml" else json.loads
        assert read(path.read_text()) == read(text)


def test_no_secret_of_the_environment_or_of_a_file_reaches_what_is_written(shell: Home) -> None:
    shell.has(THEIRS)
    shell.env["KXM_AUTH_TOKEN"] = "kxm-token-of-this-test"
    said = shell.says("setup", *NAMES)
    assert "Set here and written nowhere: KXM_AGENT_NAME, KXM_AUTH_TOKEN" in said
    for name, (_, data) in shell.tree().items():
        assert b"kxm-token-of-this-test" not in (data or b""), name
        if not name.startswith(".claude/settings.json"):
            assert b"s3cr3t-of-mine" not in (data or b""), name


def test_a_plugin_that_the_client_installed_itself_is_left_alone(shell: Home) -> None:
    shell.has({".claude/settings.json": '{"enabledPlugins": {"kxm@kxm": true}}'})
    before = shell.tree()
    assert "is installed already, by the client's own commands" in shell.says("setup", "claude")
    assert shell.tree() == before


def test_without_a_name_the_clients_on_the_path_are_set_up(shell: Home) -> None:
    shell.program("gemini", "echo 'kxm: /x mcp (stdio) - Connected'")
    shell.program("pi", "echo '    /opt/plugins/pi'")
    told = shell.told("setup", "--no-wake")
    assert [client["target"] for client in told["clients"]] == ["gemini", "pi"]
    assert not (shell.home / ".claude").exists()


def test_without_a_client_it_says_how_to_go_on(shell: Home) -> None:
    assert "none of claude, codex" in shell.refused("setup")


def test_an_unknown_client_is_a_usage_error_with_a_guess(shell: Home) -> None:
    assert shell.refused("setup", "cladue", code=2).endswith("there is no client «cladue»; did you mean claude?")


def test_print_and_remove_exclude_each_other(shell: Home) -> None:
    assert "exclude each other" in shell.refused("setup", "pi", "--print", "--remove", code=2)


def test_a_file_with_comments_is_left_alone_and_the_others_are_written(shell: Home) -> None:
    theirs = '{\n  // mine\n  "mcp": {}\n}\n'
    shell.has({".config/opencode/opencode.jsonc": theirs})
    done = shell.run("setup", "opencode", "pi")
    assert done.returncode == 1
    assert "opencode.jsonc is left as it is: it is JSON with comments" in done.stdout
    assert "peerline setup opencode --print" in done.stdout
    assert (shell.home / ".config/opencode/opencode.jsonc").read_text() == theirs
    assert (shell.home / ".pi/agent/settings.json").exists()


def test_an_entry_of_that_name_that_is_not_ours_stays(shell: Home) -> None:
    theirs = '{"mcpServers": {"kxm": {"command": "mine"}}}'
    shell.has({".cursor/mcp.json": theirs})
    assert "has a mcpServers.kxm of its own, which stays" in shell.says("setup", "cursor")
    shell.says("uninstall")
    assert (shell.home / ".cursor/mcp.json").read_text() == theirs


def test_a_file_that_its_client_wrote_anew_loses_our_lines_and_nothing_else(shell: Home) -> None:
    shell.has(THEIRS)
    shell.says("setup", "claude")
    data = shell.json(".claude/settings.json") | {"model": "sonnet"}
    (shell.home / ".claude/settings.json").write_text(json.dumps(data))
    shell.says("uninstall")
    assert shell.json(".claude/settings.json") == json.loads(THEIRS[".claude/settings.json"]) | {"model": "sonnet"}


def test_when_kxm_has_moved_its_entries_follow(shell: Home) -> None:
    shell.has(THEIRS)
    before = shell.tree()
    shell.says("setup", "claude", "codex")
    record = next((shell.home / ".local").rglob("setup.json"))
    here = installed(shell.env)
    for path in (
        record,
        *(shell.home / name for name in (".claude/settings.json", ".codex/config.toml")),
    ):
        path.write_text(path.read_text().replace(here, "/old/bin/kxm"))
    actions = [c["action"] for one in shell.told("setup", "claude", "codex")["clients"] for c in one["changes"]]
    assert actions == ["updated", "updated"]
    assert "/old/bin" not in (shell.home / ".codex/config.toml").read_text()
    assert shell.json(".claude/settings.json")["env"]["KXM_PROGRAM"] == here
    shell.says("uninstall", "--purge")
    assert shell.tree() == before


def test_a_file_behind_a_link_is_changed_where_it_is(shell: Home) -> None:
    shell.has({"dotfiles/mcp.json": "{}\n"})
    (shell.home / ".cursor").mkdir()
    (shell.home / ".cursor/mcp.json").symlink_to(shell.home / "dotfiles/mcp.json")
    shell.says("setup", "cursor")
    assert (shell.home / ".cursor/mcp.json").is_symlink()
    assert "kxm" in shell.json("dotfiles/mcp.json")["mcpServers"]
    shell.says("setup", "cursor")
    shell.says("uninstall")
    assert (shell.home / "dotfiles/mcp.json").read_text() == "{}\n"


def test_what_others_keep_in_the_state_folder_stays(shell: Home) -> None:
    shell.says("setup", "pi")
    theirs = shell.home / ".local/state/kxm/notes.txt"
    theirs.write_text("mine")
    assert "which stays: notes.txt" in shell.says("uninstall", "--purge")
    assert theirs.read_text() == "mine"


def test_purge_names_the_sessions_that_still_run(shell: Home) -> None:
    shell.says("setup", "pi")
    record = shell.home / ".local/state/kxm/sessions/abc.json"
    record.parent.mkdir()
    record.write_text(json.dumps({"pid": os.getpid()}))
    assert "Agent sessions that still run kxm: 1." in shell.says("uninstall", "--purge")
    assert shell.tree() == {}


def test_a_record_that_cannot_be_read_stops_everything(shell: Home) -> None:
    shell.says("setup", "pi")
    record = next((shell.home / ".local").rglob("setup.json"))
    record.write_text("{")
    before = shell.tree()
    assert "cannot be read, so what setup wrote is not known" in shell.refused("uninstall")
    assert "cannot be read" in shell.refused("setup", "claude")
    assert shell.tree() == before


def test_what_the_written_command_offers_is_asked_of_it(shell: Home) -> None:
    found = serves(installed(shell.env), shell.env)
    assert found.ok is True
    assert "offers 10 tools" in found.text
    assert shell.tree() == {}


def test_a_command_that_gives_no_tools_fails_the_setup(shell: Home, tmp_path: Path) -> None:
    assert serves("/bin/false", shell.env).ok is False
    assert serves(str(tmp_path / "nothing"), shell.env).ok is False


@pytest.mark.parametrize(
    ("program", "says", "line"),
    [
        ("claude", "echo 'plugin:kxm:kxm: /x mcp - ✘ Failed — it ended'", "says: plugin:kxm:kxm: /x mcp - ✘ Failed"),
        ("pi", "echo oops; exit 3", "`pi list` says: oops"),
        ("gemini", "exit 0", "`gemini mcp list` says: nothing"),
    ],
)
def test_a_client_that_does_not_connect_fails_the_setup_in_its_own_words(
    shell: Home, program: str, says: str, line: str
) -> None:
    shell.program(program, says)
    done = shell.run("setup")
    assert done.returncode == 1
    assert line in done.stdout


def test_the_check_runs_in_a_home_of_its_own(shell: Home) -> None:
    shell.program("opencode", f'echo "$HOME $KXM_AUTH_TOKEN" > {shell.home.parent}/seen; echo "kxm connected"')
    shell.env["KXM_AUTH_TOKEN"] = "kxm-token-of-this-test"
    assert "`opencode mcp list` says: connected" in shell.says("setup", "--no-wake")
    seen = (shell.home.parent / "seen").read_text()
    assert str(shell.home) not in seen
    assert "kxm-token" not in seen


def test_without_the_program_the_check_is_left_out_in_plain_words(shell: Home) -> None:
    said = shell.says("setup", "claude")
    assert "`claude` is not on the PATH, so whether it connects was not checked" in said
    assert "`claude` is not on the PATH, so no session of it was woken" in said
    assert "No session was woken to try it, as you asked." in shell.says("setup", "claude", "--no-wake")


def test_a_session_that_ends_by_itself_fails_the_trial_with_what_it_showed(shell: Home) -> None:
    shell.program("pi", '[ "$1" = list ] && exec echo /opt/plugins/pi; echo "no models here" >&2; exit 3')
    done = shell.run("setup")
    assert done.returncode == 1
    assert "not woken: its session ended before it was on the hub: no models here. Next: `kxm doctor`" in done.stdout
    assert "Waking a session of Pi to try it" in done.stderr


def test_a_program_in_the_cache_of_uv_is_no_place_to_start_from(tmp_path: Path) -> None:
    place = tmp_path / "archive-v0" / "abc" / "bin"
    place.mkdir(parents=True)
    shutil.copy("/bin/true", place / "kxm")
    with pytest.raises(Exception, match="uv tool install peerline"):
        installed({"PATH": ""}, str(place / "python"))


def test_a_link_on_the_path_to_the_same_program_is_what_is_written(tmp_path: Path) -> None:
    tool, links = tmp_path / "tool", tmp_path / "links"
    tool.mkdir()
    links.mkdir()
    shutil.copy("/bin/true", tool / "kxm")
    (links / "kxm").symlink_to(tool / "kxm")
    assert installed({"PATH": str(links)}, str(tool / "python")) == str(links / "kxm")
    assert installed({"PATH": "/nowhere"}, str(tool / "python")) == str(tool / "kxm")


def _kxm(shell: Home, *words: str) -> str:
    command = [sys.executable, "-m", "peerline.cli.hot", "kxm", *words]
    return subprocess.run(command, env=shell.env, cwd=shell.home, capture_output=True, text=True, check=True).stdout
