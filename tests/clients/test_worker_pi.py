"""Pi under `kxm agent worker`: requests in order, and exactly one reply whatever is killed."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.install import PI
from tests.clients.model.conversation import Answer, Call, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import Holding, texts
from tests.clients.pi import EXTENSION
from tests.clients.worker import BODY, Worker, ask, begun, facts, kill, until
from tests.clients.worker_harness import pi_worker
from tests.hub_process import PATIENCE_S, Agent, HubProcess, Project


@pytest.fixture
def worker(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Iterator[Worker]:
    with pi_worker(tmp_path / "user", hub, model) as running:
        yield running


@pytest.mark.requirement("MSG-PI-ORDER", "MSG-PI-ONE-AT-A-TIME", "MSG-PI-ACK", "MSG-PI-MODE-NEXTTURN")
def test_the_three_delivery_modes_come_in_order_and_after_kill_9_each_has_exactly_one_reply(
    worker: Worker, lead: Agent, model: Endpoint
) -> None:
    model.script = busy = Holding("first of all")
    sent = [ask(lead, "first of all")]
    busy.begun()
    for delivery in ("nextTurn", "followUp", "steer"):
        for number in ("one", "two"):
            sent.append(ask(lead, f"{delivery} {number}", delivery))
    until(lambda: lead.get(sent[0])["status"] == "delivered", lead, sent[0])
    assert {lead.get(one)["status"] for one in sent[1:]} == {"queued"}, "nothing is taken before its turn"
    assert all("read" not in facts(lead, one) for one in sent[1:])
    kill(worker.until("worker_starting")["childPid"])
    worker.until("worker_exited", end="exited")
    busy.go()
    replies = [lead.wait(one)["reply"]["content"] for one in sent]
    bodies = ["nextTurn one", "nextTurn two", "followUp one", "followUp two", "steer one", "steer two"]
    assert replies == [f"answer to {body}" for body in ["first of all", *bodies]]
    order = [texts(one.conversation)[-1] for one in model.requests]
    # What the killed one was at is a followUp like others, and older than they are.
    assert order == ["first of all", *bodies[4:], "first of all", *bodies[2:4], *bodies[:2]]
    again = next(one for one in model.requests[1:] if texts(one.conversation)[-1] == "first of all")
    assert "was begun before" in again.conversation.asked
    assert all(facts(lead, one).count("replied") == 1 for one in sent)


def test_an_answer_that_the_hub_was_not_there_to_take_is_sent_by_the_next_supervisor_without_a_turn(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    with pi_worker(tmp_path / "user", hub, model) as first:
        sent = begun(lead, held)
        hub.environment["KXM_PORT"] = str(hub.address[1])
        hub.stop()
        held.go()
        binding = next(Path(hub.environment["KXM_STATE_HOME"]).glob("worker-session-binding-*.json"))
        while sent not in json.loads(binding.read_bytes())["answers"]:
            pass
        first.kill()
    asked = len(model.requests)
    hub.start()
    again = lead.project.register("lead", resume=lead.key)
    with pi_worker(tmp_path / "user", hub, model):
        record = again.wait(sent)
    assert (record["status"], record["reply"]["content"]) == ("replied", f"answer to {BODY}")
    assert len(model.requests) == asked, "the turn was not run again"


def test_a_tool_that_does_not_come_back_ends_the_session_and_the_request_is_done_again(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    hangs = Answer(calls=(Call("bash", {"command": "sleep 600"}),))
    model.script = lambda conversation: Answer("done") if "was begun before" in conversation.asked else hangs
    with pi_worker(tmp_path / "user", hub, model, KXM_WORKER_TOOL_TIMEOUT_MS="1000") as worker:
        sent = ask(lead)
        worker.until("worker_tool_timeout", tool="bash")
        assert lead.wait(sent)["reply"]["content"] == "done"


def test_a_worker_of_the_same_name_is_refused_while_one_runs(
    worker: Worker, tmp_path: Path, hub: HubProcess, model: Endpoint
) -> None:
    second = pi_worker(tmp_path / "user", hub, model)
    with pytest.raises(AssertionError, match="already managed by PID"):
        second.__enter__()
    second._end()


def test_a_worker_that_is_there_before_its_hub_waits_for_it_as_one_agent(
    tmp_path: Path, hub: HubProcess, model: Endpoint
) -> None:
    model.script = Rules(Rule("Is 7 prime", (call("kxm_list"), say("Yes, it is."))))
    hub.environment["KXM_PORT"] = str(hub.address[1])
    hub.stop()
    with pi_worker(tmp_path / "user", hub, model) as worker:
        assert worker.until("worker_hub_trouble")["code"] == "hub_unreachable"
        worker.until("worker_starting")
        hub.start()
        lead = Project(hub, "shop", hub.admin).register("lead")
        sent = ask(lead)
        assert lead.wait(sent)["reply"]["content"] == "Yes, it is."
        agents = lead.call("GET", "/v1/agents?includeOffline=true").json["agents"]
    assert sorted(agent["name"] for agent in agents) == ["builder", "lead"]


def test_the_package_that_its_user_has_installed_stands_aside(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = Rules(Rule("Is 7 prime", (call("kxm_list"), say("Yes, it is."))))
    worker = pi_worker(tmp_path / "user", hub, model)
    words = [*PI.command, "install", str(EXTENSION)]
    subprocess.run(words, cwd=worker.folder, env=dict(worker.environment), check=True, timeout=PATIENCE_S)
    with worker:
        sent = ask(lead)
        assert lead.wait(sent)["reply"]["content"] == "Yes, it is."
    tools = [name for name in model.requests[0].conversation.tools if name.endswith("kxm_list")]
    assert tools == ["mcp__kxm__kxm_list"]
    agents = lead.call("GET", "/v1/agents?includeOffline=true").json["agents"]
    assert sorted(agent["name"] for agent in agents) == ["builder", "lead"]
