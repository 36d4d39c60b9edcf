"""Whatever client runs under `kxm agent worker`: a request is a turn, its settled answer the one reply."""

import shutil
from pathlib import Path

import pytest

from tests.clients.model.conversation import Answer, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import Holding
from tests.clients.worker import BODY, ask, begun, facts, until
from tests.clients.worker_harness import HARNESSES, Harness
from tests.hub_process import Agent, HubProcess, Project


@pytest.fixture(params=HARNESSES, ids=str)
def harness(request: pytest.FixtureRequest) -> Harness:
    found: Harness = request.param
    return found


@pytest.mark.requirement("MSG-SETUP-PI-WORKER", "MSG-PI-REPLY")
def test_a_request_becomes_a_turn_and_its_settled_answer_is_the_reply(
    harness: Harness, tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = Rules(Rule("Is 7 prime", (call("kxm_list"), say("Yes, it is."))))
    with harness.start(tmp_path / "user", hub, model) as worker:
        sent = ask(lead)
        record = lead.wait(sent)
        assert (record["status"], record["reply"]["content"]) == ("replied", "Yes, it is.")
        first, second = [one.conversation for one in model.requests]
        assert f"│ {BODY}" in first.asked
        assert '"you": true' in second.result
        assert second.result.count('"name": "builder"') == 1
        assert len([name for name in first.tools if name.endswith("kxm_list")]) == 1, "and no plugin's"
        assert not [name for name in first.tools if name.endswith(("kxm_inbox", "kxm_reply"))]
        until(lambda: {"announced", "in turn"} <= set(facts(lead, sent)), lead, sent)
        assert worker.log.is_file()


def test_a_supervisor_that_is_killed_leaves_no_session_and_the_next_one_replies_once(
    harness: Harness, tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    with harness.start(tmp_path / "user", hub, model) as first:
        sent = begun(lead, held)
        first.kill()
        agent = lead.get(sent)["to"]
    with harness.start(tmp_path / "user", hub, model) as second:
        second.until("worker_starting", resumes=True)
        held.go()
        record = lead.wait(sent)
    assert (record["status"], record["to"]) == ("replied", agent)
    assert record["reply"]["content"] == f"answer to {BODY}"
    assert facts(lead, sent).count("replied") == 1
    assert "was begun before" in model.requests[-1].conversation.asked


def test_when_the_provider_fails_the_next_model_gets_the_same_request(
    harness: Harness, tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = lambda conversation: (
        Answer("from the spare")
        if conversation.model == harness.asks_as
        else Answer(refused="insufficient_quota: buy more")
    )
    with harness.start(tmp_path / "user", hub, model, *harness.models) as worker:
        sent = ask(lead)
        assert lead.wait(sent)["reply"]["content"] == "from the spare"
        worker.until("worker_provider_failure", failureClass="quota")
        worker.until("worker_starting", model=harness.spare, resumes=True)
    assert facts(lead, sent).count("replied") == 1
    notes = lead.call("GET", f"/v1/messages/{sent}/notes").json["notes"]
    assert [note["content"] for note in notes] == ["The model failed (quota); the turn is run again."]


def test_what_it_sends_carries_its_chain_and_the_reply_is_told_in_a_turn_of_its_own(
    harness: Harness, tmp_path: Path, hub: HubProcess, shop: Project, lead: Agent, model: Endpoint
) -> None:
    helper = shop.register("helper")
    asked = (call("kxm_send", target="helper", content="Which colour?"), say("asked helper"))
    read = (call("kxm_get", messageId=lambda now: now.found[1]), say("read"))
    model.script = Rules(Rule("replied to your request (msg_[0-9a-f]{32})", read), Rule("Is 7 prime", asked))
    with harness.start(tmp_path / "user", hub, model):
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
    harness: Harness, tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    with harness.start(tmp_path / "user", hub, model) as first:
        sent = begun(lead, held)
        first.process.terminate()
        first.until("worker_drain_confirmed")
        first.until("worker_stopped")
        assert first.process.wait(20) == 0
    assert lead.get(sent)["status"] == "delivered"
    held.go()
    with harness.start(tmp_path / "user", hub, model):
        assert lead.wait(sent)["reply"]["content"] == f"answer to {BODY}"
    assert "worker_killed" not in {event["event"] for event in first.events}


@pytest.mark.parametrize("harness", [one for one in HARNESSES if one.history], ids=str)
def test_a_session_whose_history_is_gone_is_begun_anew_once(
    harness: Harness, tmp_path: Path, hub: HubProcess, lead: Agent, model: Endpoint
) -> None:
    for number in (1, 2):
        with harness.start(tmp_path / "user", hub, model) as worker:
            sent = ask(lead, f"number {number}")
            assert lead.wait(sent)["status"] == "replied"
        shutil.rmtree(tmp_path / "user" / harness.history)
    worker.until("worker_starting", resumes=True)
    worker.until("worker_continue_fallback", scope="default")
    worker.until("worker_starting", resumes=False)
