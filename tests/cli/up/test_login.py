"""The unit of `peerline up --at-login`, byte for byte there and byte for byte gone."""

import plistlib
import re
from pathlib import Path

import pytest

from peerline.cli.hot_output import Failure
from peerline.cli.up.login import MARK, add, installed, login, remove
from tests.cli.person_shell import Shell


def tree(folder: Path) -> dict[str, bytes | str | None]:
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_it_comes_as_often_as_wished_and_goes_without_a_trace(tmp_path: Path, platform: str) -> None:
    kept = tmp_path / "mine"
    kept.write_text("x")
    before, wanted = tree(tmp_path), login({"HOME": str(tmp_path), "KXM_PORT": "7441"}, platform)
    assert add(wanted) == "created"
    once = tree(tmp_path)
    assert add(wanted) == "unchanged"
    assert tree(tmp_path) == once
    assert wanted.file.stat().st_mode & 0o077 == 0
    assert remove(wanted) is True
    assert tree(tmp_path) == before
    assert remove(wanted) is False


def test_what_changed_meanwhile_is_written_anew(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    add(login(env, "linux"))
    assert add(login({**env, "KOMNET_HOME": "/somewhere/else"}, "linux")) == "updated"
    assert b'Environment="KOMNET_HOME=/somewhere/else"' in login(env, "linux").file.read_bytes()
    assert remove(login(env, "linux")) is True


def test_a_file_or_a_link_of_somebody_else_is_never_touched(tmp_path: Path) -> None:
    wanted = login({"HOME": str(tmp_path)}, "linux")
    wanted.file.parent.mkdir(parents=True)
    wanted.file.write_text("[Service]\nExecStart=/usr/bin/mine\n")
    before = tree(tmp_path)
    for act in (add, remove):
        with pytest.raises(Failure, match="not from `peerline up --at-login`"):
            act(wanted)
    assert tree(tmp_path) == before
    wanted.file.unlink()
    assert wanted.link is not None
    wanted.link.parent.mkdir()
    wanted.link.write_text("mine")
    with pytest.raises(Failure, match="is not ours"):
        add(wanted)


def test_neighbours_in_the_folder_stay(tmp_path: Path) -> None:
    wanted = login({"HOME": str(tmp_path)}, "linux")
    wanted.file.parent.mkdir(parents=True)
    (wanted.file.parent / "other.service").write_text("theirs")
    before = tree(tmp_path)
    add(wanted)
    remove(wanted)
    assert tree(tmp_path) == before


def test_no_token_gets_into_the_file(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "KXM_AUTH_TOKEN": "secret-of-a-test", "KXM_PROJECT_TOKENS": "a:secret-of-a-test"}
    for platform in ("linux", "darwin"):
        assert b"secret-of-a-test" not in login(env, platform).text


def test_no_value_can_write_a_line_or_a_specifier_into_a_unit(tmp_path: Path) -> None:
    text = login({"HOME": str(tmp_path), "KXM_DATA_PATH": '/a b"%h\\$x/kxm.db'}, "linux").text.decode()
    assert 'Environment="KXM_DATA_PATH=/a b\\"%%h\\\\$x/kxm.db"' in text
    assert re.search(r'^ExecStart="[^"]+" "-m" "peerline.cli.hot" "peerline" "up" "--foreground"$', text, re.MULTILINE)
    with pytest.raises(Failure, match="cannot stand in a unit"):
        login({"HOME": str(tmp_path), "KXM_DATA_PATH": "/a\nExecStart=/bin/x"}, "linux")


def test_a_property_list_is_one_that_launchd_reads(tmp_path: Path) -> None:
    wanted = login({"HOME": str(tmp_path), "KXM_PORT": "7441"}, "darwin")
    assert MARK.encode() in wanted.text
    found = plistlib.loads(wanted.text)
    assert found["ProgramArguments"][3:] == ["peerline", "up", "--foreground"]
    assert (found["RunAtLoad"], found["KeepAlive"]) == (True, {"SuccessfulExit": False})
    assert found["EnvironmentVariables"] == {"KXM_PORT": "7441"}


def test_elsewhere_it_says_what_to_do_instead(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="add `peerline up` to what runs at your login"):
        login({"HOME": str(tmp_path)}, "win32")


def test_uninstall_takes_it_away_and_a_dry_run_does_not(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    wanted = login(shell.env)
    add(wanted)
    assert f"would remove {wanted.file}" in shell.says("uninstall", "--dry-run")
    assert installed(shell.env) == wanted.file
    assert f"{wanted.file} is removed: nothing starts at login any more." in shell.says("uninstall")
    assert installed(shell.env) is None
    assert not (tmp_path / ".config").exists()


def test_remove_alone_is_a_usage_error(tmp_path: Path) -> None:
    assert "--remove goes with --at-login" in Shell(tmp_path).refused("up", "--remove", code=2)
