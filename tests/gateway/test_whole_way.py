"""Two users, one bare repository, every program a process: a hub and a gateway on one side, `komnet` on the other."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from peerline.core.fence import INTRODUCTION
from tests.hub_process import KXM, PATIENCE_S, HubProcess, environment
from tests.network.nodes import environment as git_environment

KOMNET = (sys.executable, "-m", "peerline.cli.hot", "komnet")


@dataclass
class User:
    """One person's machine; `env` is all that their programs know."""

    env: dict[str, str]

    def run(self, *words: str, code: int = 0, **variables: str) -> str:
        done = subprocess.run(
            words,
            env=self.env | variables,
            cwd=self.env["HOME"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == code, done.stdout.decode() + done.stderr.decode()
        return done.stdout.decode()

    def komnet(self, *words: str) -> Any:
        return json.loads(self.run(*KOMNET, *words, "--json"))

    def peer(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.run(*KXM, "peer", *words, "--json", code=code))


class Gateway:
    """`komnet gateway run` as a process."""

    def __init__(self, user: User) -> None:
        self.process = subprocess.Popen(
            [*KOMNET, "gateway", "run"], env=user.env, cwd=user.env["HOME"], stdout=subprocess.PIPE, text=True
        )

    def line(self, start: str) -> str:
        """The next line that begins so."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(start):
                return line
        raise AssertionError(f"the gateway ended before it said {start}")

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture
def alice(tmp_path: Path, start_hub: Callable[..., HubProcess]) -> User:
    """In the network, with a hub on her machine that knows her project."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "team.git")], check=True)
    hub = start_hub()
    home = hub.home
    env = environment(home) | git_environment(home, "alice") | {"USER": "alice"}
    env |= {"KXM_SERVER_URL": hub.url, "KXM_SOCKET_PATH": str(next((home / "state").glob("hub-*.sock")))}
    env |= {"KXM_PROJECT": "shop", "KXM_AGENT_NAME": "backend-2e"}
    user = User(env)
    user.komnet("init", "--repo", str(tmp_path / "team.git"), "--agent", "alice")
    user.komnet("room", "create", "build")
    user.peer("list")
    return user


@pytest.fixture
def bob(tmp_path: Path, alice: User) -> User:
    home = tmp_path / "bob"
    user = User(environment(home) | git_environment(home, "bob") | {"USER": "bob"})
    user.komnet("init", "--repo", str(tmp_path / "team.git"), "--agent", "bob")
    user.komnet("room", "join", "build")
    return user


@pytest.fixture
def gateway(alice: User) -> Iterator[list[Gateway]]:
    running = [Gateway(alice)]
    yield running
    for one in running:
        if one.process.poll() is None:
            one.end()


@pytest.mark.requirement("RELAY-TRUST-DATA", "RELAY-REACHES-WORKING-SESSION", "RELAY-CLIENT-KNOWS-NOTHING")
def test_a_question_to_an_agent_in_a_room_is_awaited_like_any_other_and_answered_from_the_other_machine(
    alice: User, bob: User, gateway: list[Gateway]
) -> None:
    assert "hub=yes" in gateway[0].line("relay-armed")
    asked = alice.peer("send", "bob@build", "Does the flaky auth test fail for you too?")["messageId"]
    gateway[0].line("relay-request")
    bob_sees = _arrives(bob)
    bob.komnet("answer", bob_sees["id"], "Yes, since Monday.")
    found = alice.peer("await", asked, "--timeout-ms", "60000")
    reply = found["reply"]["content"].split("\n")
    assert reply[0] == INTRODUCTION
    assert reply[1].startswith("from: bob; room: build; message: ")
    assert "│ Yes, since Monday." in reply
    assert bob_sees["body"].rstrip().endswith("— relayed for local session backend-2e by the komnet gateway")
    assert gateway[0].end() == 0


@pytest.mark.requirement("RELAY-SCANNER-REPORTED")
def test_a_secret_comes_back_as_a_refusal_and_a_killed_gateway_goes_on_where_it_was(
    alice: User, bob: User, gateway: list[Gateway]
) -> None:
    gateway[0].line("relay-armed")
    secret = alice.peer("send", "@build", "is AKIAABCDEFGHIJKLMNOP still in use?")["messageId"]
    refused = alice.peer("await", secret, "--timeout-ms", "60000")["reply"]["content"]
    assert "(SECRET_DETECTED)" in refused
    assert "AKIA" not in refused
    gateway[0].line("relay-request")
    asked = alice.peer("send", "bob@build", "Which branch?")["messageId"]
    gateway[0].line("relay-request")
    gateway[0].end(signal.SIGKILL)
    gateway.append(Gateway(alice))
    assert "hub=yes" in gateway[1].line("relay-armed")
    bob.komnet("answer", _arrives(bob)["id"], "main")
    answer = alice.peer("await", asked, "--timeout-ms", "60000")["reply"]["content"]
    assert "│ main" in answer
    assert len([one for one in bob.komnet("read", "build") if "relay" in one["tags"]]) == 1


@pytest.mark.requirement("RELAY-ROUTE-ROOM", "RELAY-TRUST-ATTRIBUTION")
def test_an_agent_that_serves_a_room_replies_as_on_the_hub_and_the_other_machine_has_its_answer(
    alice: User, bob: User, gateway: list[Gateway]
) -> None:
    gateway[0].line("relay-armed")
    alice.komnet("gateway", "subscribe", "backend-2e", "build", "--default")
    question = bob.komnet("ask", "build", "Which branch?", "--mention", "alice")
    request = _inbox(alice)
    assert request["content"].split("\n")[0] == INTRODUCTION
    alice.peer("reply", request["id"], "main, since Monday")
    gateway[0].line("relay-answer")
    answer = _arrives(bob)
    assert (answer["kind"], answer["thread"]) == ("answer", question.get("thread") or question["message"]["thread"])
    assert answer["body"] == "main, since Monday\n\n— relayed for local session backend-2e by the komnet gateway\n"


@pytest.mark.requirement("RELAY-ASK-HUMAN", "RELAY-ASK-EXPLICIT")
def test_a_person_is_asked_by_the_command_line_and_what_is_sent_again_asks_them_too(
    alice: User, bob: User, gateway: list[Gateway]
) -> None:
    gateway[0].line("relay-armed")
    alice.run(*KXM, "peer", "send", "bob@build", "May we?", "--needs", "Human", code=1)
    asked = alice.peer("send", "bob@build", "May we?", "--needs", "human")["messageId"]
    gateway[0].line("relay-request")
    assert _arrives(bob)["needs"] == "human"
    again = alice.peer("resend", asked)
    assert again["target"] == "bob@build"
    gateway[0].line("relay-request")
    assert alice.peer("get", again["messageId"])["needs"] == "human"
    listed = _listed(alice, "bob@build")
    assert (listed["bob@build"]["remote"], listed["bob@build"]["online"]) == (True, False)
    lone = alice.peer("send", "bob", "And which branch?")
    assert (lone["target"], lone["remote"]["follows"]) == ("bob@build", "yes")


def _listed(user: User, name: str) -> Any:
    """The agents by name; the gateway looks who is in the rooms every few seconds."""

    def look() -> Any:
        found = {one["name"]: one for one in user.peer("list", "--include-remote")["agents"]}
        return found if name in found else None

    return _until(look)


def _inbox(user: User) -> Any:
    """The one request on the hub; the gateway is bringing it."""
    return _until(lambda: next(iter(user.peer("inbox")["messages"]), None))


def _arrives(user: User) -> Any:
    """The one question in the inbox; each look asks the remote anew, and the gateway is on its way."""

    def look() -> Any:
        user.komnet("sync")
        items = user.komnet("inbox")["items"]
        assert len(items) <= 1
        return items[0] if items else None

    return _until(look)


def _until(look: Callable[[], Any]) -> Any:
    """What `look`, a command each time, finds at last."""
    end = time.monotonic() + PATIENCE_S
    while (found := look()) is None:
        assert time.monotonic() < end, "nothing came"
    return found
