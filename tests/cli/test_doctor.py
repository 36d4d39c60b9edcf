"""`kxm doctor` names what is wrong, and a command that puts it right; run as told, the next look is clean."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from peerline.cli.doctor import machine, store
from peerline.cli.doctor.finding import Level
from peerline.database.lock import FileLock
from tests.cli.hub.shell import Operator
from tests.database.stores import damage, open_store, store_with_texts, texts
from tests.hub_process import HubProcess, Project


@pytest.fixture
def hub(start_hub: Callable[..., HubProcess]) -> HubProcess:
    return start_hub()


@pytest.fixture
def operator(hub: HubProcess) -> Operator:
    return Operator(hub.home)


def looked(operator: Operator, url: str, **variables: str) -> dict[str, dict[str, Any]]:
    """Findings by what was looked at; the exit code must agree with them."""
    ran = operator.kxm("doctor", "--json", **{"KXM_SERVER_URL": url} | variables)
    found = {one["check"]: one for one in ran.json["findings"]}
    red = any(one["level"] == "fail" for one in found.values())
    assert (ran.code, ran.json["ok"]) == (int(red), not red)
    assert all((one["fix"] is None) == (one["level"] == "ok") for one in found.values())
    return found


def wrong(found: dict[str, dict[str, Any]]) -> set[str]:
    return {check for check, one in found.items() if one["level"] == "fail"}


def test_a_running_hub_is_well(hub: HubProcess, operator: Operator) -> None:
    Project(hub, "shop", hub.admin).register("lead")
    found = looked(operator, hub.url)
    assert wrong(found) == set()
    assert str(hub.process.pid) in found["owner"]["detail"]
    assert "healthy and ready, 1 agents online" in found["hub"]["detail"]
    assert "1 agents, 1 sessions" in found["store"]["detail"]


def test_people_read_a_line_for_each_finding_and_a_verdict(hub: HubProcess, operator: Operator) -> None:
    ran = operator.kxm("doctor", KXM_SERVER_URL=hub.url)
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("ok    versions ")
    assert lines[-1].startswith("nothing is wrong, ")
    assert "→ kxm backup" in ran.stdout


def test_a_stopped_hub_is_wrong_and_names_how_to_start_it(hub: HubProcess, operator: Operator) -> None:
    hub.stop()
    found = looked(operator, hub.url)
    assert wrong(found) == {"hub"}
    assert found["hub"]["fix"] == "kxm hub start --background"


def test_files_that_others_may_read_are_wrong_until_the_fix_is_run(hub: HubProcess, operator: Operator) -> None:
    (operator.state / "hub-env.json").chmod(0o644)
    operator.state.chmod(0o755)
    found = looked(operator, hub.url)
    assert wrong(found) == {"private files", "credentials"}
    assert found["state folder"]["level"] == "warn"
    for check in ("private files", "state folder"):
        command, mode, *paths = found[check]["fix"].split()
        assert command == "chmod"
        for path in paths:
            Path(path).chmod(int(mode, 8))
    after = looked(operator, hub.url)
    assert wrong(after) == set()
    assert after["state folder"]["level"] == "ok"


def test_a_wrong_token_is_wrong_and_a_missing_name_is_only_said(hub: HubProcess, operator: Operator) -> None:
    found = looked(operator, hub.url)
    assert "KXM_AGENT_NAME is not set" in found["identity"]["detail"]
    named = {"KXM_AGENT_NAME": "lead", "KXM_PROJECT": "shop"}
    assert looked(operator, hub.url, **named)["identity"]["detail"] == "you act as lead in project shop"
    found = looked(operator, hub.url, KXM_AUTH_TOKEN="wrong-token-of-a-test", **named)
    assert wrong(found) == {"identity"}
    assert found["identity"]["fix"].startswith("unset KXM_AUTH_TOKEN")


def test_an_address_that_is_none_is_wrong_and_names_the_variable(operator: Operator) -> None:
    found = looked(operator, "ftp://nowhere")
    assert found["hub"]["fix"] == "unset KXM_SERVER_URL"


def test_a_state_folder_that_cannot_be_made_is_wrong(hub: HubProcess, operator: Operator) -> None:
    (operator.home / "file").touch()
    found = looked(operator, hub.url, KXM_STATE_HOME=str(operator.home / "file" / "kxm"))
    assert found["state folder"]["level"] == "fail"
    assert found["state folder"]["fix"] == "export KXM_STATE_HOME=/a/folder/of/yours"


def test_a_store_in_memory_is_doubtful(hub: HubProcess, operator: Operator) -> None:
    hub.stop()
    found = looked(operator, hub.url, KXM_DATA_PATH=":memory:")
    assert found["store"]["level"] == "warn"


def test_saved_credentials_that_cannot_be_read_are_wrong(hub: HubProcess, operator: Operator) -> None:
    (operator.state / "hub-env.json").write_text("{")
    assert wrong(looked(operator, hub.url)) == {"credentials"}


def test_a_damaged_store_is_restored_from_the_newest_good_backup(
    hub: HubProcess, operator: Operator, tmp_path: Path
) -> None:
    project = Project(hub, "shop", hub.admin)
    project.register("reviewer")
    lead = project.register("lead")
    for number in range(40):
        lead.send("reviewer", f"text {number} " + "x" * 500)
    assert operator.kxm("backup").code == 0
    newer = Path(operator.kxm("backup", "--json").json["folder"])
    (newer / "kxm.db").write_bytes(b"a backup that went bad")
    hub.stop()
    damage(Path(hub.storage))
    found = looked(operator, hub.url)
    assert wrong(found) == {"store", "hub"}
    assert found["store"]["fix"] == "kxm hub stop; kxm doctor --repair"
    ran = operator.kxm("doctor", "--repair")
    assert ran.code == 0, ran.stderr
    assert "the damaged store is kept at " in ran.stdout
    assert wrong(looked(operator, hub.url)) == {"hub"}
    assert len(texts(Path(hub.storage))) == 40


def test_a_repair_waits_for_the_hub_to_be_stopped(hub: HubProcess, operator: Operator) -> None:
    assert operator.kxm("backup").code == 0
    hub.stop()
    damage(Path(hub.storage))
    lock = FileLock(Path(hub.storage))  # as a hub holds it that still runs on the damaged file
    try:
        code, error, detail = operator.kxm("doctor", "--repair").refusal
    finally:
        lock.release()
    assert (code, error) == (1, "storage_held")
    assert f"PID {os.getpid()}" in detail


def test_without_a_good_backup_nothing_is_changed(hub: HubProcess, operator: Operator) -> None:
    hub.stop()
    damage(Path(hub.storage))
    before = Path(hub.storage).read_bytes()
    code, error, detail = operator.kxm("doctor", "--repair").refusal
    assert (code, error) == (1, "doctor_no_backup")
    assert "--from DIR" in detail
    assert Path(hub.storage).read_bytes() == before


def test_a_sound_store_is_not_repaired(hub: HubProcess, operator: Operator) -> None:
    ran = operator.kxm("doctor", "--repair")
    assert (ran.code, ran.stdout.startswith("nothing to repair: ")) == (0, True)


def test_a_hub_that_stores_nothing_is_not_ready(operator: Operator, hub: HubProcess) -> None:
    hub.stop()
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
        # It takes connections and never answers: what hangs is told as well as what is not there.
        found = looked(operator, f"http://127.0.0.1:{port}")
    assert wrong(found) == {"hub"}
    assert "no answer of a hub" in found["hub"]["detail"]


def test_an_interrupted_restore_is_wrong(hub: HubProcess, operator: Operator) -> None:
    hub.stop()
    Path(f"{hub.storage}.restoring").touch()
    found = looked(operator, hub.url)
    assert "store" in wrong(found)
    started = operator.hub("start")
    assert (started.code, started.refusal[1]) == (1, "hub_start_failed")
    assert '"code":"restore_unfinished"' in started.stderr
    assert '"nextAction":"kxm restore DIR --force"' in started.stderr


# What cannot be brought about from outside: the parts by themselves.


def contradict(path: Path, statement: str) -> None:
    connection = open_store(path)
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM body WHERE message = 2", "1 messages without their text"),
        ("DELETE FROM message WHERE number = 2", "1 texts without their message"),
        ("UPDATE message SET status = 'replied' WHERE number = 1", "1 replied messages without their reply"),
        ("DELETE FROM agent WHERE id = 'from'", "messages whose sender or recipient is missing"),
        (
            "INSERT INTO sent (sender, message) VALUES ('from', 99)",
            "1 entries in the lists by agent without",
        ),
        ("INSERT INTO event (agent, number, message) VALUES ('from', 1, 99)", "1 entries in the lists by agent"),
        (
            "INSERT OR REPLACE INTO mark (name, value) VALUES ('sent', 2)",
            "2 messages that are missing in their sender's list",
        ),
        ("UPDATE message SET sender_event = 1 WHERE number = 1", "1 outcomes that are missing in an agent's list"),
        ("UPDATE message SET recipient_event = 1 WHERE number = 1", "1 outcomes that are missing in an agent's list"),
        ("DROP TABLE note", "no such table: note"),
    ],
)
def test_tables_that_contradict_each_other_are_damage(tmp_path: Path, statement: str, told: str) -> None:
    path = store_with_texts(tmp_path / "kxm.db")
    assert store.integrity(path).level is Level.OK
    contradict(path, statement)
    finding = store.integrity(path)
    assert store.damaged(finding)
    assert told in finding.detail


def test_looking_changes_nothing(tmp_path: Path) -> None:
    path = store_with_texts(tmp_path / "kxm.db")
    before = path.read_bytes()
    list(store.store(path, tmp_path))
    assert path.read_bytes() == before


def test_a_clock_that_went_back_is_doubtful(tmp_path: Path) -> None:
    path = store_with_texts(tmp_path / "kxm.db")
    assert store.clock(path).level is Level.OK
    contradict(path, "UPDATE message SET sent_at = 4000000000000 WHERE number = 1")
    assert store.clock(path).level is Level.WARN


def test_a_long_log_is_doubtful(tmp_path: Path) -> None:
    path = store_with_texts(tmp_path / "kxm.db")
    with Path(f"{path}-wal").open("wb") as log:
        os.truncate(log.fileno(), store.LOG_LARGE + 1)
    assert store.log(path).level is Level.WARN


MOUNTS = """\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 0:40 / /mnt/share\\040one rw - nfs4 server:/x rw
31 30 0:41 / /mnt/share\\040one/local rw - ext4 /dev/sdb1 rw
32 22 0:28 / /mnt/ssh rw - fuse.sshfs host:/ rw
33 22 0:29 / /run rw - tmpfs tmpfs rw
nonsense
"""


@pytest.mark.parametrize(
    ("folder", "level"),
    [
        ("/mnt/share one/kxm", Level.FAIL),
        ("/mnt/share one/local/kxm", Level.OK),
        ("/mnt/share", Level.OK),
        ("/mnt/ssh/kxm", Level.FAIL),
        ("/run/kxm", Level.WARN),
    ],
)
def test_a_file_system_that_corrupts_is_wrong_and_one_that_forgets_is_doubtful(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, level: Level
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    monkeypatch.setattr(machine, "existing", lambda path: path)
    monkeypatch.setattr(os.path, "realpath", str)
    found = machine.file_system(Path(folder) / "kxm.db", mounts)
    assert (found.level, found.fix is None) == (level, level is Level.OK)


def test_a_system_without_a_mount_table_is_no_fault(tmp_path: Path) -> None:
    assert machine.file_system(tmp_path / "kxm.db", tmp_path / "missing").level is Level.OK


def test_a_full_disk_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=machine.ROOM_NONE - 1))
    assert machine.room(tmp_path / "kxm.db").level is Level.FAIL
