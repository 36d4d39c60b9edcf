"""Claude Code under `kxm agent worker`: requests in order, and exactly one reply whatever is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.model.conversation import Answer, Call
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import Holding, texts
from tests.clients.worker import Worker, ask, facts, kill, until
from tests.clients.worker_harness import claude_worker
from tests.hub_process import Agent, HubProcess


@pytest.fixture
def worker(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Iterator[Worker]:
    with claude_worker(tmp_path / "user", hub, model) as running:
        yield running


def test_the_three_delivery_modes_come_in_order_and_after_kill_9_each_has_exactly_one_reply(
    worker: Worker, lead: Agent, model: Endpoint
) -> None:
    model.script = busy = Holding("first of all")
    sent = [ask(lead, "first of all")]
    busy.begun()
    bodies = ["nextTurn one", "followUp one", "steer one", "steer two"]
    for body in bodies:
        sent.append(ask(lead, body, body.partition(" ")[0]))
    until(lambda: lead.get(sent[0])["status"] == "delivered", lead, sent[0])
    assert {lead.get(one)["status"] for one in sent[1:]} == {"queued"}, "nothing is taken before its turn"
    kill(worker.until("worker_starting")["childPid"])
    worker.until("worker_exited", end="exited")
    busy.go()
    replies = [lead.wait(one)["reply"]["content"] for one in sent]
    assert replies == [f"answer to {body}" for body in ["first of all", *bodies]]
    order = [texts(one.conversation)[-1] for one in model.requests]
    assert order == ["first of all", *bodies[2:], "first of all", bodies[1], bodies[0]]
    assert all(facts(lead, one).count("replied") == 1 for one in sent)
    worker.until("worker_starting", resumes=True)


def test_a_tool_that_does_not_come_back_ends_the_session_and_the_request_is_done_again(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    hangs = Answer(calls=(Call("Bash", {"command": "tail -f /dev/null", "description": "waits"}),))
    model.script = lambda conversation: Answer("done") if "was begun before" in conversation.asked else hangs
    words = ("--tools", "Bash,Read")
    with claude_worker(tmp_path / "user", hub, model, *words, KXM_WORKER_TOOL_TIMEOUT_MS="1000") as worker:
        sent = ask(lead)
        worker.until("worker_leftovers_ended")  # its shell has a group of its own
        worker.until("worker_tool_timeout", tool="Bash")
        assert lead.wait(sent)["reply"]["content"] == "done"
