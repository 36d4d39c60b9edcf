"""`kxm hub start`: what it refuses, what it leaves, and how it runs in the background."""

import json
import os
import resource
import select
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from peerline.cli.hot_output import Failure
from peerline.cli.hub.start import check_place, raise_file_limit
from tests.cli.hub.shell import Operator
from tests.hub_process import KXM, PATIENCE_S, HubProcess, environment

StartHub = Callable[..., HubProcess]


@pytest.mark.requirement("MSG-SETUP-HUB-START")
def test_the_first_line_says_where_on_what_and_who_may_call(start_hub: StartHub) -> None:
    hub = start_hub()
    assert hub.lines[0] == f"kxm hub listening at {hub.url}; storage={hub.home}/state/kxm.db; auth=token"


def test_a_start_in_the_background_prints_url_and_process_and_stop_ends_it(operator: Operator) -> None:
    started = operator.hub("start", "--background", "--json")
    assert started.code == 0, started.stderr
    assert operator.hub("view", KXM_SERVER_URL=started.json["url"]).stdout == (
        "hub health=true ready=true · loopback hub\n"
    )
    pid = started.json["pid"]
    assert json.loads((operator.state / "hub.pid").read_text())["pid"] == pid
    assert os.getsid(pid) == pid  # the terminal's end is not its end
    stopped = operator.hub("stop")
    assert (stopped.code, stopped.stdout) == (0, f"kxm hub stopped (PID {pid})\n")
    assert not any((operator.state / name).exists() for name in ("hub.pid", "hub.stop"))
    assert list(operator.state.glob("*.sock")) == []


def test_a_second_start_names_the_process_that_runs(operator: Operator) -> None:
    pid = operator.hub("start", "--background", "--json").json["pid"]
    expected = (1, "hub_already_running", f"KXM hub is already managed by PID {pid}")
    assert operator.hub("start").refusal == expected
    assert operator.hub("start", "--background").refusal == expected


def test_a_state_folder_that_cannot_be_made_is_told_in_one_line(operator: Operator) -> None:
    operator.home.mkdir()
    (operator.home / "file").touch()
    state = str(operator.home / "file" / "kxm")
    expected = (1, "hub_start_failed", f"the state folder cannot be used: Not a directory: {state}")
    for words in (("start",), ("start", "--background")):
        assert operator.kxm("hub", *words, KXM_STATE_HOME=state).refusal == expected


def test_in_the_background_too_a_refused_start_names_the_next_step(operator: Operator) -> None:
    operator.state.mkdir(mode=0o700, parents=True)
    (operator.state / "kxm.db").write_bytes(b"no database " * 1000)
    ran = operator.hub("start", "--background")
    told = json.loads(ran.stderr)
    assert (ran.code, told["code"], told["nextAction"]) == (1, "database_corrupted", "kxm doctor --repair")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pidfd")
def test_a_killed_hub_leaves_nothing_that_hinders_the_next(operator: Operator) -> None:
    first = operator.hub("start", "--background", "--json").json["pid"]
    end = os.pidfd_open(first)  # it is no child of ours
    os.kill(first, signal.SIGKILL)
    select.select([end], [], [], PATIENCE_S)
    os.close(end)
    assert operator.hub("stop").refusal[:2] == (1, "no_pid_files")
    assert operator.hub("start", "--background").code == 0


def test_credentials_are_made_once_and_used_again(operator: Operator) -> None:
    operator.hub("start", "--background")
    said = (operator.state / "hub.out").read_text()
    path = operator.state / "hub-env.json"
    assert f"kxm hub: using newly generated KXM_AUTH_TOKEN from {path}\n" in said
    saved = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600
    assert saved["authToken"].startswith("kxm_admin_")
    assert saved["authToken"] not in said
    operator.hub("stop")
    operator.hub("start", "--background")
    assert f"kxm hub: using persisted KXM_AUTH_TOKEN from {path}\n" in (operator.state / "hub.out").read_text()
    assert json.loads(path.read_text()) == saved


def test_given_credentials_are_saved_and_replace_the_map_of_projects(operator: Operator) -> None:
    operator.hub("start", "--background", KXM_AUTH_TOKEN="given", KXM_PROJECT_TOKENS='{"a":"ta","b":"tb"}')
    operator.hub("stop")
    operator.hub("start", "--background", KXM_PROJECT_TOKENS='{"b":"tc"}')
    saved = json.loads((operator.state / "hub-env.json").read_text())
    assert (saved["authToken"], saved["projectTokens"]) == ("given", {"b": "tc"})


@pytest.mark.parametrize(
    ("variables", "error"),
    [
        ({"KXM_HOST": "0.0.0.0"}, "hub_start_refused"),
        ({"KXM_PORT": "http"}, "usage_error"),
        ({"KXM_MESSAGE_TTL_MS": "10"}, "usage_error"),
        ({"KXM_DATA_PATH": "/proc/none/kxm.db"}, "hub_start_failed"),
        ({"KXM_HOST": "192.0.2.1", "KXM_AUTH_TOKEN": "given"}, "hub_start_failed"),
    ],
)
@pytest.mark.parametrize("how", [(), ("--background",)])
def test_a_refused_start_leaves_no_credentials(
    how: tuple[str, ...], variables: dict[str, str], error: str, operator: Operator
) -> None:
    operator.home.mkdir()
    refused = operator.hub("start", *how, **variables)
    if not how:
        assert refused.refusal[1] == error
    assert refused.code == (1 if error == "hub_start_failed" else 2)
    assert not (operator.state / "hub-env.json").exists()
    assert not (operator.state / "hub.pid").exists()


def test_saved_credentials_that_others_can_read_are_refused(operator: Operator) -> None:
    operator.state.mkdir(parents=True)
    path = operator.state / "hub-env.json"
    path.write_text('{"schema":"kxm.hub-env.v1","authToken":"t"}')
    path.chmod(0o644)
    code, error, detail = operator.hub("start").refusal
    assert (code, error) == (1, "hub_env_unsafe")
    assert "chmod 600" in detail


@pytest.mark.parametrize("text", ["{", "[]", '{"schema":"other"}', '{"schema":"kxm.hub-env.v1","authToken":1}'])
def test_malformed_credentials_are_refused_and_left_alone(text: str, operator: Operator) -> None:
    operator.state.mkdir(parents=True)
    path = operator.state / "hub-env.json"
    path.write_text(text)
    path.chmod(0o600)
    assert operator.hub("start").refusal[:2] == (2, "hub_env_unreadable")
    assert path.read_text() == text


def test_a_file_that_is_no_hubs_is_refused_and_left_alone(operator: Operator) -> None:
    operator.home.mkdir()
    path = operator.home / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    assert operator.hub("start", KXM_DATA_PATH=str(path)).refusal[:2] == (1, "hub_start_failed")


def test_a_workspace_holds_the_data_only_if_it_exists(operator: Operator) -> None:
    (operator.home / ".kxm").mkdir(parents=True)
    plan = operator.hub("start", "--dry-run").json["args"]
    assert plan["storage"] == f"{operator.home}/.kxm/state/kxm.db"
    assert plan["log"] == f"{operator.home}/.kxm/logs/kxm-hub.jsonl"
    assert [kept.name for kept in operator.home.iterdir()] == [".kxm"]


def test_the_log_is_json_lines_in_a_file_of_its_own(operator: Operator) -> None:
    operator.hub("start", "--background")
    operator.hub("stop")
    lines = (operator.state / "logs" / "kxm-hub.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines][:1] == ["hub_started"]
    assert "hub_started" not in (operator.state / "hub.out").read_text()


def test_a_foreground_hub_repeats_its_log_on_stdout_unless_it_is_a_daemon(start_hub: StartHub) -> None:
    loud, quiet = start_hub(), start_hub(KXM_DAEMON="1")
    assert (loud.stop(), quiet.stop()) == (0, 0)
    assert [json.loads(line)["event"] for line in loud.lines[1:]][-1] == "hub_stopping"
    assert len(quiet.lines) == 1


@pytest.mark.parametrize("how", ["exec 1>&- 2>&-", "exec 1>/dev/full 2>&1", "exec 1> >(:)"])
def test_a_hub_that_nobody_listens_to_runs_all_the_same(how: str, operator: Operator) -> None:
    operator.home.mkdir()
    log = operator.home / "log"
    os.mkfifo(log)
    env = environment(operator.home, KXM_PORT="0", KXM_LOG_PATH=str(log))
    command = f"{how}; exec {shlex.join(KXM)} hub start"
    with subprocess.Popen(["bash", "-c", command], env=env, cwd=operator.home) as hub, log.open() as lines:
        assert "hub_started" in lines.readline()
        stopped = operator.hub("stop", "--wait-ms", "30000")
        assert (stopped.code, hub.wait(PATIENCE_S)) == (0, 0), stopped.stderr


def test_a_short_supply_of_open_files_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    pid = os.fork()
    if pid == 0:  # a limit that was lowered cannot be raised again: in a process of its own
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
            raise_file_limit()
            said = capsys.readouterr().err
            os._exit(0 if "only 256 files may be open" in said and "ulimit -n" in said else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


@pytest.mark.parametrize("depth", [10, 120])
def test_a_socket_is_reached_however_deep_the_state_folder_lies(depth: int, tmp_path: Path) -> None:
    operator = Operator(tmp_path / ("d" * depth))
    operator.home.mkdir()
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    started = operator.hub("start", "--background", "--json", XDG_RUNTIME_DIR=str(runtime))
    assert started.code == 0, started.stderr
    listed = operator.kxm("peer", "list", KXM_SERVER_URL=started.json["url"], XDG_RUNTIME_DIR=str(runtime))
    operator.hub("stop", "--wait-ms", "30000")
    assert listed.code == 0, listed.stderr


@pytest.mark.parametrize("kind", ["nfs4", "virtiofs", "9p", "fuse.sshfs"])
def test_a_store_where_sqlite_is_not_safe_is_refused_with_the_way_out(tmp_path: Path, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"36 25 0:32 / {tmp_path} rw,relatime shared:1 - {kind} host:/x rw\n")
    with pytest.raises(Failure, match=kind) as refused:
        check_place(tmp_path / "kxm.db", mounts)
    assert refused.value.exit_code == 2
    mounts.write_text(mounts.read_text().replace(f"- {kind} ", "- ext4 "))
    check_place(tmp_path / "kxm.db", mounts)
