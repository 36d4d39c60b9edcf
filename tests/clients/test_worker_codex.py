"""Codex under `kxm agent worker`: a steer goes into the running turn, and each request has exactly one reply."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.model.conversation import Answer, Call
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import Holding, texts
from tests.clients.worker import Worker, ask, begun, facts, kill, until
from tests.clients.worker_harness import codex_worker
from tests.hub_process import Agent, HubProcess, Project


@pytest.fixture
def worker(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Iterator[Worker]:
    with codex_worker(tmp_path / "user", hub, model) as running:
        yield running


def test_a_steer_goes_into_the_running_turn_and_the_others_wait_for_its_end(
    worker: Worker, shop: Project, lead: Agent, model: Endpoint
) -> None:
    boss = shop.register("boss")
    model.script = busy = Holding("first of all")
    sent = [ask(lead, "first of all")]
    busy.begun()
    sent.append(ask(lead, "later", "nextTurn"))
    sent.append(ask(lead, "then", "followUp"))
    until(lambda: lead.get(sent[0])["status"] == "delivered", lead, sent[0])
    now = ask(boss, "stop and do this", "steer")
    until(lambda: boss.get(now)["status"] == "delivered", boss, now)
    assert {lead.get(one)["status"] for one in sent[1:]} == {"queued"}
    busy.go()
    assert boss.wait(now)["reply"]["content"] == "answer to stop and do this"
    assert lead.wait(sent[0])["reply"]["content"] == "answer to stop and do this", "one turn has one answer"
    assert [lead.wait(one)["reply"]["content"] for one in sent[1:]] == ["answer to later", "answer to then"]
    turns = [texts(one.conversation) for one in model.requests]
    assert turns[:2] == [["first of all"], ["first of all", "stop and do this"]]
    assert [turn[-1] for turn in turns[2:]] == ["then", "later"]
    assert "goes to boss and to lead by itself" in model.requests[1].conversation.asked


def test_after_kill_9_in_a_steered_turn_each_request_has_exactly_one_reply(
    worker: Worker, lead: Agent, model: Endpoint
) -> None:
    model.script = busy = Holding("first of all")
    sent = [begun(lead, busy, "first of all")]
    sent.append(ask(lead, "now", "steer"))
    until(lambda: lead.get(sent[1])["status"] == "delivered", lead, sent[1])
    kill(worker.until("worker_starting")["childPid"])
    worker.until("worker_exited", end="exited")
    worker.until("worker_starting", resumes=True)
    busy.go()
    assert {lead.wait(one)["status"] for one in sent} == {"replied"}
    assert [facts(lead, one).count("replied") for one in sent] == [1, 1]
    assert "was begun before" in model.requests[-1].conversation.asked


def test_a_tool_that_does_not_come_back_ends_the_session_and_the_request_is_done_again(
    tmp_path: Path, hub: HubProcess, shop: Project, lead: Agent, model: Endpoint
) -> None:
    shop.register("helper")
    hangs = Answer(calls=(Call("kxm_fanout", {"targets": ["helper"], "content": "Which?"}),))
    model.script = lambda conversation: Answer("done") if "was begun before" in conversation.asked else hangs
    with codex_worker(tmp_path / "user", hub, model, KXM_WORKER_TOOL_TIMEOUT_MS="1000") as worker:
        sent = ask(lead)
        worker.until("worker_tool_timeout", tool="kxm_fanout")
        assert lead.wait(sent)["reply"]["content"] == "done"
