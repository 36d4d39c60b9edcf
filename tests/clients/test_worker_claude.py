"""Claude Code under `kxm agent worker`: requests in order, and exactly one reply whatever is killed."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.install import CLAUDE
from tests.clients.model.conversation import Answer, Call, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import Holding, texts
from tests.clients.test_worker_pi import BODY, ask
from tests.clients.worker import Worker, facts, kill, until
from tests.hub_process import Agent, HubProcess, Project


def claude_worker(home: Path, hub: HubProcess, model: Endpoint, *words: str, **variables: str) -> Worker:
    """In a home where the plugin is installed too, as its user's other sessions have it."""
    client = Claude(home, hub, model, options={"agent_name": "builder", "project": "shop"})
    if not client.config.exists():
        client.set_up()
    known = {**client.environment(), "KXM_CLAUDE_COMMAND": shlex.join(CLAUDE.command), **variables}
    named = ("--name", "builder", "--project", "shop", "--harness", "claude")
    return Worker(known, client.folder, (*named, *words))


@pytest.fixture
def lead(shop: Project) -> Agent:
    return shop.register("lead")


@pytest.fixture
def worker(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Iterator[Worker]:
    with claude_worker(tmp_path / "user", hub, model) as running:
        yield running


def test_a_request_becomes_a_turn_and_its_settled_answer_is_the_reply(
    worker: Worker, lead: Agent, model: Endpoint
) -> None:
    model.script = Rules(Rule("Is 7 prime", (call("kxm_list"), say("Yes, it is."))))
    sent = ask(lead)
    record = lead.wait(sent)
    assert (record["status"], record["reply"]["content"]) == ("replied", "Yes, it is.")
    first, second = [one.conversation for one in model.requests]
    assert f"│ {BODY}" in first.asked
    assert second.result.count('"name": "builder"') == 1
    assert [name for name in first.tools if name.endswith("kxm_list")] == ["mcp__kxm__kxm_list"], "and no plugin's"
    assert not [name for name in first.tools if name.endswith(("kxm_inbox", "kxm_reply"))]
    until(lambda: {"announced", "in turn"} <= set(facts(lead, sent)), lead, sent)


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


def test_a_supervisor_that_is_killed_leaves_no_session_and_the_next_one_replies_once(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    with claude_worker(tmp_path / "user", hub, model) as first:
        sent = ask(lead)
        held.begun()
        until(lambda: lead.get(sent)["status"] == "delivered", lead, sent)
        first.kill()
    with claude_worker(tmp_path / "user", hub, model) as second:
        second.until("worker_starting", resumes=True)
        held.go()
        record = lead.wait(sent)
    assert "was begun before" in model.requests[-1].conversation.asked
    assert (record["status"], record["reply"]["content"]) == ("replied", f"answer to {BODY}")
    assert facts(lead, sent).count("replied") == 1


def test_when_the_provider_fails_the_next_model_gets_the_same_request(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = lambda conversation: (
        Answer(refused="insufficient_quota: buy more") if "opus" in conversation.model else Answer("from the spare")
    )
    words = ("--model", "claude-opus-4-5", "--fallback-models", "claude-sonnet-4-5")
    with claude_worker(tmp_path / "user", hub, model, *words) as worker:
        sent = ask(lead)
        assert lead.wait(sent)["reply"]["content"] == "from the spare"
        worker.until("worker_provider_failure", failureClass="quota")
        worker.until("worker_starting", model="claude-sonnet-4-5", resumes=True)


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


def test_what_it_sends_carries_its_chain_and_the_reply_is_told_in_a_turn_of_its_own(
    worker: Worker, shop: Project, lead: Agent, model: Endpoint
) -> None:
    helper = shop.register("helper")
    asked = (call("kxm_send", target="helper", content="Which colour?"), say("asked helper"))
    read = (call("kxm_get", messageId=lambda now: now.found[1]), say("read"))
    model.script = Rules(Rule("replied to your request (msg_[0-9a-f]{32})", read), Rule("Is 7 prime", asked))
    sent = ask(lead)
    assert lead.wait(sent)["reply"]["content"] == "asked helper"
    (question,) = helper.inbox()
    assert (question["from"], question["hops"]) == (lead.get(sent)["to"], 1)
    helper.reply(question["id"], "Blue.")
    model.asked(lambda one: "│ Blue." in one.result)


def test_a_stop_aborts_the_turn_and_the_next_start_takes_the_request_up_again(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    with claude_worker(tmp_path / "user", hub, model) as first:
        sent = ask(lead)
        held.begun()
        until(lambda: lead.get(sent)["status"] == "delivered", lead, sent)
        first.process.terminate()
        first.until("worker_drain_confirmed")
        first.until("worker_stopped")
    assert lead.get(sent)["status"] == "delivered"
    held.go()
    with claude_worker(tmp_path / "user", hub, model):
        assert lead.wait(sent)["reply"]["content"] == f"answer to {BODY}"


def test_a_session_whose_history_is_gone_is_begun_anew_once(
    tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    client = Claude(tmp_path / "user", hub, model, options={"agent_name": "builder", "project": "shop"})
    for number in (1, 2):
        with claude_worker(tmp_path / "user", hub, model) as worker:
            sent = ask(lead, f"number {number}")
            assert lead.wait(sent)["status"] == "replied"
        shutil.rmtree(client.config / "projects")
    worker.until("worker_starting", resumes=True)
    worker.until("worker_continue_fallback", scope="default")
    worker.until("worker_starting", resumes=False)
