"""Pi under `kxm agent worker`: requests in order, and exactly one reply whatever is killed."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.install import PI
from tests.clients.model.conversation import Answer, Call, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import Holding, texts
from tests.clients.pi import EXTENSION
from tests.clients.worker import Worker, facts, kill, until
from tests.hub_process import PATIENCE_S, Agent, HubProcess, Project, environment

BODY = "Is 7 prime? The body of a request."
MODELS = ("scripted", "spare")


def pi_worker(home: Path, hub: HubProcess, model: Endpoint, *words: str, **variables: str) -> Worker:
    folder = home / "shop"
    folder.mkdir(parents=True, exist_ok=True)
    settings = home / ".pi/agent/models.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    api = {"baseUrl": f"{model.url}/v1", "api": "openai-completions", "apiKey": "dummy"}
    settings.write_text(json.dumps({"providers": {"scripted": {**api, "models": [{"id": one} for one in MODELS]}}}))
    known = environment(
        home,
        PI_OFFLINE="1",
        KXM_STATE_HOME=hub.environment["KXM_STATE_HOME"],
        KXM_SERVER_URL=hub.url,
        KXM_PI_COMMAND=shlex.join(PI.command),
        KXM_WORKER_MODEL="scripted/scripted",
        **variables,
    )
    return Worker(known, folder, ("--name", "builder", "--project", "shop", *words))


@pytest.fixture
def lead(shop: Project) -> Agent:
    return shop.register("lead")


@pytest.fixture
def worker(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Iterator[Worker]:
    with pi_worker(tmp_path / "user", hub, model) as running:
        yield running


def ask(lead: Agent, body: str = BODY, delivery: str = "followUp") -> str:
    """A request to the worker, which may still be starting."""
    answer = lead.try_send("builder", body, delivery=delivery)
    while answer.status != 202:
        assert answer.json["code"] == "target_not_found"
        answer = lead.try_send("builder", body, delivery=delivery)
    return str(answer.json["message"]["id"])


@pytest.mark.requirement("MSG-SETUP-PI-WORKER", "MSG-PI-REPLY")
def test_a_request_becomes_a_turn_and_its_settled_answer_is_the_reply(
    worker: Worker, lead: Agent, model: Endpoint
) -> None:
    model.script = Rules(Rule("Is 7 prime", (call("kxm_list"), say("Yes, it is."))))
    sent = ask(lead)
    record = lead.wait(sent)
    assert (record["status"], record["reply"]["content"]) == ("replied", "Yes, it is.")
    first, second = [one.conversation for one in model.requests]
    assert f"│ {BODY}" in first.asked
    assert '"you": true' in second.result
    assert second.result.count('"name": "builder"') == 1
    assert not {"kxm_inbox", "kxm_reply"} & {name.removeprefix("mcp__kxm__") for name in first.tools}
    until(lambda: {"announced", "in turn"} <= set(facts(lead, sent)), lead, sent)
    assert Path(worker.first.partition("log=")[2].partition(";")[0]).is_file()


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


def test_a_supervisor_that_is_killed_leaves_no_session_and_the_next_one_replies_once(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    with pi_worker(tmp_path / "user", hub, model) as first:
        sent = ask(lead)
        held.begun()
        until(lambda: lead.get(sent)["status"] == "delivered", lead, sent)
        first.kill()
        agent = lead.get(sent)["to"]
    with pi_worker(tmp_path / "user", hub, model) as second:
        held.go()
        record = lead.wait(sent)
        second.until("worker_starting", resumes=True)
    assert (record["status"], record["to"]) == ("replied", agent)
    assert record["reply"]["content"] == f"answer to {BODY}"
    assert facts(lead, sent).count("replied") == 1


def test_an_answer_that_the_hub_was_not_there_to_take_is_sent_by_the_next_supervisor_without_a_turn(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    with pi_worker(tmp_path / "user", hub, model) as first:
        sent = ask(lead)
        held.begun()
        until(lambda: lead.get(sent)["status"] == "delivered", lead, sent)
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


def test_when_the_provider_fails_the_next_model_gets_the_same_request(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = lambda conversation: (
        Answer(refused="insufficient_quota: buy more") if conversation.model == "scripted" else Answer("from the spare")
    )
    with pi_worker(tmp_path / "user", hub, model, "--fallback-models", "scripted/spare") as worker:
        sent = ask(lead)
        record = lead.wait(sent)
        worker.until("worker_provider_failure", failureClass="quota")
        worker.until("worker_starting", model="scripted/spare", resumes=True)
    assert record["reply"]["content"] == "from the spare"
    assert facts(lead, sent).count("replied") == 1
    notes = lead.call("GET", f"/v1/messages/{sent}/notes").json["notes"]
    assert [note["content"] for note in notes] == ["The model failed (quota); the turn is run again."]


def test_a_tool_that_does_not_come_back_ends_the_session_and_the_request_is_done_again(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    hangs = Answer(calls=(Call("bash", {"command": "sleep 600"}),))
    model.script = lambda conversation: Answer("done") if "was begun before" in conversation.asked else hangs
    with pi_worker(tmp_path / "user", hub, model, KXM_WORKER_TOOL_TIMEOUT_MS="1000") as worker:
        sent = ask(lead)
        worker.until("worker_tool_timeout", tool="bash")
        assert lead.wait(sent)["reply"]["content"] == "done"


def test_what_it_sends_for_a_request_carries_its_chain_and_the_reply_is_told_in_a_turn_of_its_own(
    worker: Worker, shop: Project, lead: Agent, model: Endpoint
) -> None:
    helper = shop.register("helper")
    asked = (call("kxm_send", target="helper", content="Which colour?"), say("asked helper"))
    read = (call("kxm_get", messageId=lambda now: now.found[1]), say("read"))
    model.script = Rules(Rule("replied to your request (msg_[0-9a-f]{32})", read), Rule("Is 7 prime", asked))
    sent = ask(lead)
    assert lead.wait(sent)["reply"]["content"] == "asked helper"
    (question,) = helper.inbox()
    about = lead.get(sent)
    assert (question["from"], question["hops"]) == (about["to"], about["hops"] + 1)
    assert question["path"] == [lead.id, about["to"]]
    helper.reply(question["id"], "Blue.")
    seen = model.asked(lambda one: "│ Blue." in one.result)
    assert "Blue." not in seen.conversation.asked, "the announcement has no text"


def test_a_stop_aborts_the_turn_and_the_next_start_takes_the_request_up_again(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    with pi_worker(tmp_path / "user", hub, model) as first:
        sent = ask(lead)
        held.begun()
        until(lambda: lead.get(sent)["status"] == "delivered", lead, sent)
        first.process.terminate()
        first.until("worker_stopped")
        assert first.process.wait(20) == 0
    assert lead.get(sent)["status"] == "delivered"
    held.go()
    with pi_worker(tmp_path / "user", hub, model):
        assert lead.wait(sent)["reply"]["content"] == f"answer to {BODY}"
    assert "worker_killed" not in {event["event"] for event in first.events}


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
