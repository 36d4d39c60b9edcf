"""A command's session on a real hub: names shared by calls, signals, restarts, and tokens that nobody typed."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import key_path
from peerline.cli.hot_session import Session
from tests.acceptance.shell import Printed, Shell
from tests.cli.conftest import ShellMaker
from tests.cli.servers import saying, serving
from tests.hub_process import KXM, PATIENCE_S, Agent, HubProcess, Project, Stream, environment

StartHub = Callable[..., HubProcess]


def comes_online(stream: Stream, name: str) -> None:
    while (found := stream.next("presence").data["agent"])["name"] != name or not found["online"]:
        pass


def goes_offline(stream: Stream, name: str) -> None:
    while (found := stream.next("presence").data["agent"])["name"] != name or found["online"]:
        pass


def key_file(shell: Shell) -> Path:
    return Path(key_path(shell.variables(), shell.project.hub.url, shell.project.name, shell.name))


@pytest.mark.requirement("MSG-CLI-REGISTERS")
def test_calls_side_by_side_share_one_name(shell: ShellMaker) -> None:
    lead = shell("lead")
    lead.home.mkdir()
    with ThreadPoolExecutor(6) as pool:
        printed = list(pool.map(lambda _: lead.peer("list"), range(6)))
    assert [(each.code, each.stderr) for each in printed] == [(0, "")] * 6
    assert len({agent["id"] for each in printed for agent in each.json["agents"]}) == 1


def test_a_call_beside_a_waiting_one_acts_as_the_same_agent(shell: ShellMaker, reviewer: Agent) -> None:
    lead = shell("lead")
    sent = lead.peer("send", "reviewer", "look").json["messageId"]
    with reviewer.stream() as stream:
        waiting = lead.start("await", sent)
        comes_online(stream, "lead")
        assert lead.peer("get", sent).json["status"] == "queued"
        reviewer.reply(sent, "sound")
        out, err = waiting.communicate(timeout=PATIENCE_S)
    assert (waiting.returncode, err) == (0, "")
    assert json.loads(out)["reply"]["content"] == "sound"


def test_a_key_that_the_hub_does_not_know_any_more_is_replaced(shell: ShellMaker) -> None:
    lead = shell("lead")
    assert lead.peer("inbox").code == 0
    path = key_file(lead)
    saved = json.loads(path.read_text())
    broken: object
    for broken in ({**saved, "agentKey": "key_" + "0" * 32, "earlierKey": None}, {"agentKey": 1}, []):
        path.write_text(json.dumps(broken))
        assert lead.peer("inbox").code == 0
        assert json.loads(path.read_text())["agentId"] == saved["agentId"]


def test_the_key_that_opened_the_door_is_kept_beside_the_new_one(shell: ShellMaker) -> None:
    lead = shell("lead")
    lead.peer("inbox")
    first = json.loads(key_file(lead).read_text())["agentKey"]
    lead.peer("inbox")
    second = json.loads(key_file(lead).read_text())
    assert second["earlierKey"] == first != second["agentKey"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_wait_unregisters_and_leaves_the_request_as_it_is(
    number: signal.Signals, shell: ShellMaker, reviewer: Agent
) -> None:
    lead = shell("lead")
    sent = lead.peer("send", "reviewer", "look").json["messageId"]
    with reviewer.stream() as stream:
        waiting = lead.start("await", sent)
        comes_online(stream, "lead")
        waiting.send_signal(number)
        out, err = waiting.communicate(timeout=PATIENCE_S)
        goes_offline(stream, "lead")
    assert (waiting.returncode, out, err) == (128 + number, "", "")
    assert reviewer.get(sent)["status"] == "queued"


def test_after_a_session_signals_are_handled_as_before_it(shell: ShellMaker) -> None:
    lead = shell("lead")
    caller = Caller(lead.variables(), {})
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with Session(caller):
        assert all(signal.getsignal(number) != before[number] for number in before)
    assert {number: signal.getsignal(number) for number in before} == before
    refused = Caller({**lead.variables(), "KXM_AUTH_TOKEN": "wrong-token-of-a-test"}, {})
    with pytest.raises(Failure), Session(refused):
        pass
    assert {number: signal.getsignal(number) for number in before} == before


def test_an_interrupted_fan_out_prints_the_ids_that_are_worth_keeping(shell: ShellMaker, reviewer: Agent) -> None:
    lead = shell("lead")
    lead.home.mkdir()
    with reviewer.stream() as stream:
        asking = lead.start("fanout", "--targets", "reviewer", "--content", "look")
        message = stream.next("message").message
        asking.send_signal(signal.SIGINT)
        out, err = asking.communicate(timeout=PATIENCE_S)
    # The signal may come before the answer to the send did: then there is no id to tell.
    assert (asking.returncode, err) == (130, "")
    assert [entry["messageId"] for entry in json.loads(out)["responses"]] in ([message["id"]], [])


def test_a_wait_outlives_a_restart_of_the_hub(start_hub: StartHub, tmp_path: Path) -> None:
    hub = start_hub()
    project = Project(hub, "p", hub.admin)
    reviewer, lead = project.register("reviewer"), Shell(tmp_path / "lead", project, "lead")
    sent = lead.peer("send", "reviewer", "look").json["messageId"]
    with reviewer.stream() as stream:
        waiting = lead.start("await", sent)
        comes_online(stream, "lead")
    assert lead.peer("get", sent).code == 0  # the hub has answered the waiting one's registration before this one's
    hub.stop(signal.SIGKILL)
    hub.environment["KXM_PORT"] = str(hub.address[1])
    hub.start()
    assert reviewer.reply(sent, "sound").status == 200
    out, err = waiting.communicate(timeout=PATIENCE_S)
    assert (waiting.returncode, err) == (0, "")
    assert json.loads(out)["reply"]["content"] == "sound"


@pytest.mark.requirement("MSG-LIMIT-AWAIT")
def test_a_wait_on_a_hub_that_is_gone_ends_with_what_is_the_matter(start_hub: StartHub, tmp_path: Path) -> None:
    hub = start_hub()
    project = Project(hub, "p", hub.admin)
    reviewer, lead = project.register("reviewer"), Shell(tmp_path / "lead", project, "lead")
    sent = lead.peer("send", "reviewer", "look").json["messageId"]
    with reviewer.stream() as stream:
        waiting = lead.start("await", sent, "--timeout-ms", "2000")
        comes_online(stream, "lead")
    assert lead.peer("get", sent).code == 0  # the hub has answered the waiting one's registration before this one's
    hub.stop(signal.SIGKILL)
    _, err = waiting.communicate(timeout=PATIENCE_S)
    assert waiting.returncode == 1
    assert f"hub not reachable at {hub.url} (ECONNREFUSED); start it with: kxm hub start" in err


def local(hub: HubProcess, *words: str, **variables: str) -> Printed:
    """A command of the hub's own user, who has typed no token."""
    env = {
        **environment(hub.home),
        "KXM_SERVER_URL": hub.url,
        "KXM_PROJECT": "p",
        "KXM_AGENT_NAME": "lead",
        **variables,
    }
    ran = subprocess.run([*KXM, "peer", *words], env=env, cwd=hub.home, capture_output=True, text=True, check=False)
    assert "Traceback" not in ran.stderr, ran.stderr
    return Printed(ran.returncode, ran.stdout, ran.stderr)


def test_on_one_machine_nobody_types_a_token(start_hub: StartHub) -> None:
    hub = start_hub()
    assert local(hub, "list").code == 0
    saved = hub.home / "state" / "local-tokens.json"
    assert saved.stat().st_mode & 0o777 == 0o600
    token = json.loads(saved.read_text())["hubs"][hub.url]["p"]
    assert token != hub.admin
    assert local(hub, "list", KXM_PROJECT="q").code == 0
    assert set(json.loads(saved.read_text())["hubs"][hub.url]) == {"p", "q"}
    assert json.loads(saved.read_text())["hubs"][hub.url]["p"] == token


def test_a_project_that_cannot_be_is_refused_as_that_and_not_as_a_missing_token(start_hub: StartHub) -> None:
    assert local(start_hub(), "list", KXM_PROJECT="p" * 129).detail == "project exceeds 128 characters"


def test_a_hub_with_a_new_database_mints_anew(start_hub: StartHub) -> None:
    hub = start_hub(KXM_DATA_PATH=":memory:")
    assert local(hub, "list").code == 0
    hub.stop()
    hub.environment["KXM_PORT"] = str(hub.address[1])
    hub.start()
    assert local(hub, "list").code == 0


def test_a_given_token_that_the_hub_refuses_is_not_replaced_by_a_minted_one(start_hub: StartHub) -> None:
    hub = start_hub()
    printed = local(hub, "list", KXM_AUTH_TOKEN="not-the-projects-token")
    assert printed.detail == "invalid project authentication token"
    assert "not-the-projects-token" not in printed.stderr
    assert not (hub.home / "state" / "local-tokens.json").exists()


def test_without_a_hub_the_command_says_how_to_start_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    for own in ({}, {"KXM_AUTH_TOKEN": "token-of-p"}):
        env = {**environment(tmp_path), "KXM_SERVER_URL": url, **own}
        ran = subprocess.run([*KXM, "peer", "list"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (1, "")
        assert json.loads(ran.stderr) == {
            "ok": False,
            "error": "command_failed",
            "detail": f"hub not reachable at {url} (ECONNREFUSED); start it with: kxm hub start",
        }
    assert [kept.name for kept in tmp_path.iterdir()] == []


def test_a_send_whose_answer_was_lost_says_that_it_may_have_been_stored(tmp_path: Path) -> None:
    registered = b'{"agent":{"id":"agt_1"},"agentKey":"key_1"}'
    ok = b"HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(registered), registered)
    with serving(saying(ok), saying(), saying(b"HTTP/1.1 204 No Content\r\n\r\n")) as url:
        env = {**environment(tmp_path), "KXM_SERVER_URL": url, "KXM_AUTH_TOKEN": "token-of-p"}
        words = [*KXM, "peer", "send", "reviewer", "look"]
        ran = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert json.loads(ran.stderr)["detail"] == (
        "the hub closed the connection before it answered; whether it was done is not known"
    )


def test_the_environments_secrets_are_never_printed(shell: ShellMaker, reviewer: Agent) -> None:
    lead = shell("lead")
    lead.home.mkdir()
    secret = "a-secret-of-this-shell"
    printed = lead.peer("send", "reviewer", f"it is {secret}", "--dry-run", SOME_API_KEY=secret)
    assert printed.json["args"]["content"] == "it is [redacted]"
    assert secret not in printed.stdout


@pytest.mark.parametrize("verb", ["list", "inbox"])
def test_a_reader_that_is_gone_gets_no_traceback(verb: str, shell: ShellMaker) -> None:
    lead = shell("lead")
    lead.home.mkdir()
    readable, writable = os.pipe()
    os.close(readable)
    ran = subprocess.run(
        lead.command(verb), env=lead.variables(), cwd=lead.home, stdout=writable, stderr=subprocess.PIPE, check=False
    )
    os.close(writable)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_an_inbox_that_could_not_be_printed_has_acknowledged_nothing(shell: ShellMaker, reviewer: Agent) -> None:
    lead = shell("lead")
    assert lead.peer("inbox").code == 0
    sent = reviewer.send("lead", allowOffline=True)["id"]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            lead.command("inbox"), env=lead.variables(), cwd=lead.home, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ran.returncode == 1
    assert b"the result could not be printed: No space left on device" in ran.stderr
    assert reviewer.get(sent)["status"] == "queued"
