"""The files that the processes of one agent session share."""

import json
import os
from pathlib import Path

import pytest

from peerline.cli.hot_record import ANNOUNCED, OLD_S, REMINDED, SCHEMA, Sessions, plain


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions({"KXM_STATE_HOME": str(tmp_path)})


def write(sessions: Sessions, session_id: str, pid: int = 1, name: str = "builder", mode: int = 0o600) -> None:
    folder = Path(sessions.folder)
    folder.mkdir(exist_ok=True)
    record = {"schema": SCHEMA, "pid": pid, "project": "p", "name": name, "url": "u", "agentId": "a", "agentKey": "k"}
    path = folder / f"{session_id}.json"
    path.write_text(json.dumps(record))
    path.chmod(mode)


def test_a_session_is_found_by_its_id(sessions: Sessions) -> None:
    write(sessions, "one", name="first")
    write(sessions, "two", name="second")
    found = sessions.record("two")
    assert found is not None
    assert found["name"] == "second"
    assert sessions.record("three") is None


def test_a_session_under_a_new_id_is_found_by_its_clients_process(sessions: Sessions) -> None:
    write(sessions, "elsewhere", pid=1, name="another")
    write(sessions, "before", pid=os.getppid(), name="ours")
    found = sessions.record("after")
    assert found is not None
    assert found["name"] == "ours"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "kxm.session-record.v2"}', "\udcff"])
def test_what_is_no_record_is_nobody(sessions: Sessions, text: str) -> None:
    Path(sessions.folder).mkdir()
    (Path(sessions.folder) / "one.json").write_text(text, errors="surrogateescape")
    assert sessions.record("one") is None


@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_a_record_that_others_could_have_written_is_not_believed(sessions: Sessions, mode: int) -> None:
    write(sessions, "one", mode=mode)
    assert sessions.record("one") is None


@pytest.mark.parametrize("name", ["", ".", "..", ".x", "a/b", "../a", "a\0", "ä", "x" * 129])
def test_a_name_that_leads_elsewhere_is_no_session(sessions: Sessions, name: str) -> None:
    assert not plain(name)
    sessions.tell(name, ["msg_1"])
    assert sessions.told(name) == {}
    assert not Path(sessions.folder).exists()


def test_what_a_session_was_told_is_what_came_last(sessions: Sessions) -> None:
    sessions.tell("one", ["msg_1", "msg_2"])
    sessions.tell("one", ["msg_1"], REMINDED)
    sessions.tell("one", [])
    assert sessions.told("one") == {"msg_1": REMINDED, "msg_2": ANNOUNCED}
    assert sessions.told("two") == {}
    (path,) = Path(sessions.folder).iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_written_costs_a_repetition_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    sessions = Sessions({"KXM_STATE_HOME": str(tmp_path / "file")})
    sessions.tell("one", ["msg_1"])
    assert sessions.told("one") == {}


def test_only_what_is_old_is_swept(sessions: Sessions) -> None:
    sessions.tell("old", ["msg_1"])
    sessions.tell("new", ["msg_1"])
    told_at = (Path(sessions.folder) / "old.told").stat().st_mtime
    os.utime(Path(sessions.folder) / "new.told", (told_at + OLD_S, told_at + OLD_S))
    sessions.sweep(told_at + OLD_S + 1)
    assert (sessions.told("old"), sessions.told("new")) == ({}, {"msg_1": ANNOUNCED})


def test_the_others_are_living_sessions_only(sessions: Sessions) -> None:
    write(sessions, "own", pid=os.getppid(), name="own")
    write(sessions, "alive", pid=1, name="alive")
    write(sessions, "dead", pid=2**22 - 3, name="dead")
    assert [one["name"] for one in sessions.others("own")] == ["alive"]
