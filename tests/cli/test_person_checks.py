"""The doctor's looks at this machine, each on a case made for it."""

import os
import stat
from pathlib import Path

import pytest

from peerline.cli.person_checks import file_system, integrity, kind_of, modes, room, unix_socket
from peerline.database.connection import open_writer, prepare

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /tmp rw shared:2 - tmpfs tmpfs rw
31 22 0:27 / /home/ada\\040b rw - nfs4 server:/home rw
32 22 0:28 / /mnt rw - fuse.sshfs host:/ rw
nonsense
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/kxm.db", "ext4"),
        ("/tmp/x/kxm.db", "tmpfs"),
        ("/tmpfiles/kxm.db", "ext4"),
        ("/home/ada b/kxm.db", "nfs4"),
        ("/mnt/kxm.db", "fuse.sshfs"),
    ],
)
def test_the_longest_mount_point_above_a_file_tells_its_file_system(path: str, kind: str) -> None:
    assert kind_of(Path(path), MOUNTS) == kind


@pytest.mark.parametrize(
    ("path", "level"),
    [("/var/kxm.db", "ok"), ("/tmp/kxm.db", "warn"), ("/home/ada b/kxm.db", "fail"), ("/mnt/kxm.db", "fail")],
)
def test_a_file_system_that_corrupts_is_red_and_one_that_forgets_is_yellow(path: str, level: str) -> None:
    found = file_system(Path(path), MOUNTS)
    assert (found.level, bool(found.fix)) == (level, level != "ok")


def test_a_system_without_a_mount_table_is_no_fault() -> None:
    assert file_system(Path("/var/kxm.db"), "").level == "ok"


def a_store(path: Path) -> Path:
    prepare(path)
    connection = open_writer(str(path))
    connection.execute("CREATE TABLE noise (number INTEGER PRIMARY KEY, text TEXT)").fetchall()
    connection.executemany("INSERT INTO noise (text) VALUES (?)", [("x" * 800,)] * 200).fetchall()
    connection.close()
    return path


def test_a_whole_store_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    store = a_store(tmp_path / "kxm.db")
    before = store.read_bytes()
    assert integrity(store).level == "ok"
    assert store.read_bytes() == before


def test_a_damaged_store_is_red(tmp_path: Path) -> None:
    store = a_store(tmp_path / "kxm.db")
    data = bytearray(store.read_bytes())
    data[8192:40_960] = b"\xff" * (40_960 - 8192)
    store.write_bytes(data)
    found = integrity(store)
    assert found.level == "fail"
    assert str(store) in found.detail


def test_a_file_that_is_no_store_is_red_and_a_missing_one_is_not(tmp_path: Path) -> None:
    other = tmp_path / "kxm.db"
    other.write_bytes(b"not a database, but long enough to be looked at" * 100)
    assert integrity(other).level == "fail"
    assert integrity(tmp_path / "missing.db").level == "ok"


def test_files_open_to_others_are_named_with_the_command_that_closes_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "agents").mkdir(mode=0o700)
    (tmp_path / "hub-env.json").write_text("{}")
    (tmp_path / "hub-env.json").chmod(0o640)
    (tmp_path / "agents" / "a.key").write_text("{}")
    (tmp_path / "agents" / "a.key").chmod(0o600)
    red = [found for found in modes(tmp_path, tmp_path / "kxm.db") if found.level == "fail"]
    assert [found.fix for found in red] == [f"chmod 700 {tmp_path}", f"chmod 600 {tmp_path / 'hub-env.json'}"]
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_link_in_the_state_folder_is_worth_a_look(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "local-tokens.json").symlink_to("/nowhere")
    assert [found.level for found in modes(tmp_path, None)] == ["warn", "ok"]


def test_an_empty_machine_has_nothing_to_look_at(tmp_path: Path) -> None:
    assert list(modes(tmp_path / "missing", None)) == []


def test_room_is_told_for_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    found = room(tmp_path / "a" / "b" / "kxm.db")
    assert str(tmp_path) in found.detail
    assert os.statvfs(tmp_path).f_bavail > 0


def test_a_missing_socket_is_said_with_where_it_would_be() -> None:
    assert unix_socket("/run/hub.sock", "/x").level == "ok"
    assert "/x" in unix_socket(None, "/x").detail
