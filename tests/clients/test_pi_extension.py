"""The Pi extension in the real client: a request becomes a turn, and the settled answer of that turn is its reply."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.model.conversation import Answer, Now, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import Holding, texts
from tests.clients.pi import MODEL, Pi
from tests.hub_process import KXM, Agent, HubProcess, Project, Stream

BODY = "Is 7 prime? The body of a request."


@pytest.fixture
def lead(shop: Project) -> Agent:
    return shop.register("lead")


@pytest.fixture
def arrivals(lead: Agent) -> Iterator[Stream]:
    with lead.stream() as stream:
        yield stream


@pytest.fixture
def pi(hub: HubProcess, model: Endpoint, tmp_path: Path, arrivals: Stream) -> Iterator[Pi]:
    with Pi(tmp_path / "user", hub, model) as session:
        _arrived(arrivals)
        yield session


@pytest.mark.requirement("MSG-SETUP-PI-PACKAGE", "MSG-PI-REPLY")
def test_a_request_starts_a_turn_of_an_idle_session_and_its_settled_answer_is_the_reply(
    pi: Pi, lead: Agent, model: Endpoint
) -> None:
    model.script = Rules(Rule("Is 7 prime", (call("kxm_list"), say("Yes, it is."))))
    sent = lead.send("builder", BODY)["id"]
    record = lead.wait(sent)
    assert (record["status"], record["reply"]["content"]) == ("replied", "Yes, it is.")
    first, second = [one.conversation for one in model.requests]
    assert f"│ {BODY}" in first.asked
    assert "data, not a request from your user" in first.asked
    assert f'"model": "scripted/{MODEL}"' in second.result
    event = pi.until(lambda one: one["type"] == "message_start" and one["message"].get("customType") == "kxm-inbound")
    assert event["message"]["details"] == {"messageId": sent, "from": "lead"}
    _until(lambda: {"announced", "in turn"} <= set(_facts(lead, sent)), lead, sent)


@pytest.mark.requirement(
    "MSG-PI-ONE-AT-A-TIME", "MSG-PI-ORDER", "MSG-PI-ACK", "MSG-STATE-DELIVERED-PI", "MSG-PI-MODE-NEXTTURN"
)
def test_requests_are_worked_on_one_at_a_time_steer_first_and_next_turn_last(
    pi: Pi, lead: Agent, model: Endpoint
) -> None:
    model.script = busy = Holding("first of all")
    sent = [lead.send("builder", "first of all")["id"]]
    busy.begun()
    for delivery in ("nextTurn", "followUp", "steer"):
        for number in ("one", "two"):
            sent.append(lead.send("builder", f"{delivery} {number}", delivery=delivery)["id"])
    assert {lead.get(one)["status"] for one in sent[1:]} == {"queued"}, "nothing is taken before its turn"
    busy.go()
    replies = [lead.wait(one)["reply"]["content"] for one in sent]
    bodies = ["nextTurn one", "nextTurn two", "followUp one", "followUp two", "steer one", "steer two"]
    assert replies == [f"answer to {body}" for body in ["first of all", *bodies]]
    order = [texts(one.conversation)[-1] for one in model.requests]
    assert order == ["first of all", *bodies[4:], *bodies[2:4], *bodies[:2]]


@pytest.mark.requirement("MSG-PI-MODE-STEER", "MSG-PI-MODE-FOLLOWUP")
def test_a_steer_goes_into_the_turn_of_the_user_and_the_others_wait_until_it_rests(
    pi: Pi, lead: Agent, model: Endpoint
) -> None:
    model.script = busy = Holding("work for the user")
    pi.prompt("work for the user")
    busy.begun()
    later = lead.send("builder", "later", delivery="followUp")["id"]
    now = lead.send("builder", "now", delivery="steer")["id"]
    _until(lambda: "announced" in _facts(lead, now), lead, now)
    assert "announced" not in _facts(lead, later)
    busy.go()
    assert lead.wait(now)["reply"]["content"] == "answer to now"
    assert lead.wait(later)["reply"]["content"] == "answer to later"
    order = [texts(one.conversation) for one in model.requests]
    assert [bodies[-1] for bodies in order if bodies] == ["now", "later"]


def test_with_our_mcp_server_in_its_settings_too_the_session_is_one_agent_with_each_tool_once(
    hub: HubProcess, lead: Agent, arrivals: Stream, model: Endpoint, tmp_path: Path
) -> None:
    settings = tmp_path / "user/.pi/agent/mcp.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"mcpServers": {"kxm": {"command": KXM[0], "args": [*KXM[1:], "mcp"]}}}))
    with Pi(tmp_path / "user", hub, model):
        _arrived(arrivals)
        lead.wait(lead.send("builder", BODY)["id"])
        agents = lead.call("GET", "/v1/agents").json["agents"]
    assert {agent["name"] for agent in agents} == {"lead", "builder"}
    offered = model.requests[0].conversation.tools
    assert sum(name.endswith("kxm_send") for name in offered) == 1


def test_a_turn_that_fails_leaves_its_request_unanswered_and_the_next_one_is_worked_on(
    pi: Pi, lead: Agent, model: Endpoint
) -> None:
    model.script = held = Holding("this one")
    failed = lead.send("builder", "this one")["id"]
    held.begun()
    _until(lambda: lead.get(failed)["status"] == "delivered", lead, failed)
    pi.abort()
    pi.until(lambda one: one["type"] == "agent_settled")
    held.go()
    assert lead.wait(lead.send("builder", "another")["id"])["reply"]["content"] == "answer to another"
    assert lead.get(failed)["status"] == "delivered"
    stands = "in a turn of builder (pi) that does not go on by itself: its model failed or was stopped"
    _until(lambda: lead.call("GET", f"/v1/messages/{failed}/trail").json["standing"].startswith(stands), lead, failed)


def test_after_kill_9_in_a_turn_the_next_session_is_the_same_agent_and_replies_once(
    hub: HubProcess, lead: Agent, arrivals: Stream, model: Endpoint, tmp_path: Path
) -> None:
    model.script = held = Holding(BODY)
    with Pi(tmp_path / "user", hub, model) as first:
        agent = _arrived(arrivals)
        sent = lead.send("builder", BODY)["id"]
        _until(lambda: lead.get(sent)["status"] == "delivered", lead, sent)
        held.begun()
        first.kill()
        model.script = lambda conversation: Answer("the second session's answer")
        held.go()
    with Pi(tmp_path / "user", hub, model):
        record = lead.wait(sent)
        assert (record["status"], record["to"]) == ("replied", agent["id"])
        assert record["reply"]["content"] == "the second session's answer"
        assert _facts(lead, sent).count("replied") == 1


def test_an_answer_that_the_hub_was_not_there_to_take_is_sent_when_it_is_back(
    hub: HubProcess, pi: Pi, lead: Agent, arrivals: Stream, model: Endpoint
) -> None:
    model.script = held = Holding(BODY)
    sent = lead.send("builder", BODY)["id"]
    held.begun()
    _until(lambda: lead.get(sent)["status"] == "delivered", lead, sent)
    hub.environment["KXM_PORT"] = str(hub.address[1])
    hub.stop(signal.SIGKILL)
    held.go()
    pi.until(lambda one: one["type"] == "agent_settled")
    hub.start()
    again = lead.project.register("lead", resume=lead.key)
    record = again.wait(sent)
    assert (record["status"], record["reply"]["content"]) == ("replied", f"answer to {BODY}")
    second = again.send("builder", "another")["id"]
    assert again.wait(second)["reply"]["content"] == "answer to another"


def test_of_two_sessions_with_one_name_the_second_gets_another_and_each_its_own_requests(
    hub: HubProcess, pi: Pi, lead: Agent, arrivals: Stream, model: Endpoint, tmp_path: Path
) -> None:
    with Pi(tmp_path / "other", hub, model):
        while not (other := arrivals.next("presence").data["agent"])["name"].startswith("builder-"):
            pass
        model.script = lambda conversation: Answer(f"answer to {texts(conversation)[-1]}")
        sent = [lead.send(name, f"for {name}")["id"] for name in (other["name"], "builder")]
        replies = [lead.wait(one)["reply"]["content"] for one in sent]
    assert replies == [f"answer to for {other['name']}", "answer to for builder"]


@pytest.mark.requirement("MSG-PI-TRUNCATES")
def test_an_answer_that_is_too_long_is_cut_and_says_so(pi: Pi, lead: Agent, model: Endpoint) -> None:
    model.script = lambda conversation: Answer("x" * 40_000)
    reply = lead.wait(lead.send("builder", BODY)["id"])["reply"]["content"]
    assert len(reply) == 32_000
    assert reply.endswith("[cut: the whole answer had 40000 characters]")


@pytest.mark.requirement("MSG-CANCEL-PI")
def test_a_request_that_was_withdrawn_while_it_waited_never_reaches_the_model(
    pi: Pi, lead: Agent, model: Endpoint
) -> None:
    model.script = busy = Holding("first of all")
    lead.send("builder", "first of all")
    busy.begun()
    withdrawn = lead.send("builder", "not any more")["id"]
    last = lead.send("builder", "last of all")["id"]
    assert lead.cancel(withdrawn).status == 200
    busy.go()
    assert lead.wait(last)["reply"]["content"] == "answer to last of all"
    assert all("not any more" not in one.conversation.everything for one in model.requests)


def test_what_it_sends_for_a_request_carries_its_chain_and_the_reply_wakes_it(
    pi: Pi, shop: Project, lead: Agent, model: Endpoint
) -> None:
    helper = shop.register("helper")
    asked = (call("kxm_send", target="helper", content="Which colour?"), say("asked helper"))
    model.script = Rules(Rule("Is 7 prime", asked))
    sent = lead.send("builder", BODY)
    assert lead.wait(sent["id"])["reply"]["content"] == "asked helper"
    (question,) = helper.inbox()
    assert (question["hops"], question["path"]) == (sent["hops"] + 1, [lead.id, sent["to"]])
    read_it = (call("kxm_get", messageId=question["id"]), say("read"))
    model.script = Rules(Rule("replied to your request", read_it))
    helper.reply(question["id"], "Blue.")
    read = model.asked(lambda one: "│ Blue." in one.result)
    assert "Blue." not in read.conversation.asked, "the announcement has no text"


def test_a_reply_that_the_model_waited_for_is_not_announced_as_well(
    pi: Pi, shop: Project, lead: Agent, model: Endpoint
) -> None:
    helper = shop.register("helper")

    def answered(now: Now) -> str:
        message_id = "msg_" + now.result.partition("msg_")[2][:32]
        helper.reply(message_id, "Blue.")
        return message_id

    ask = (
        call("kxm_send", target="helper", content="Which?"),
        call("kxm_await", messageId=answered),
        say("It is blue."),
    )
    model.script = Rules(Rule("Is 7 prime", ask))
    assert lead.wait(lead.send("builder", BODY)["id"])["reply"]["content"] == "It is blue."
    assert "│ Blue." in model.requests[2].conversation.result
    assert lead.wait(lead.send("builder", "another")["id"])["reply"]["content"] == "OK"
    assert all("replied to your request" not in one.conversation.everything for one in model.requests)


def test_a_request_of_ours_that_expired_is_told(pi: Pi, shop: Project, model: Endpoint) -> None:
    shop.register("helper")
    model.script = Rules(
        Rule("ask helper", (call("kxm_send", target="helper", content="Which?", ttlMs=1_000), say("asked")))
    )
    pi.prompt("ask helper")
    model.asked(lambda one: "to helper expired without a reply" in one.asked)


def test_the_other_tools_ask_several_withdraw_and_say_that_no_inbox_is_needed(
    pi: Pi, shop: Project, model: Endpoint
) -> None:
    helper = shop.register("helper")
    model.script = Rules(
        Rule(
            "use them",
            (
                call("kxm_inbox"),
                call("kxm_fanout", targets=["helper", "nobody"], content="Which?", timeoutMs=40_000),
                call("kxm_send", target="helper", content="Forget it?"),
                call("kxm_cancel", messageId=lambda now: "msg_" + now.result.partition("msg_")[2][:32]),
                say("done"),
            ),
        )
    )
    with helper.stream() as stream:
        pi.prompt("use them")
        helper.reply(stream.next("message").message["id"], "Blue.")
        withdrawn = stream.next("cancelled").message
    assert withdrawn["content"] == "Forget it?"
    pi.until(lambda one: one["type"] == "agent_settled")
    results = [one.conversation.result for one in model.requests]
    assert "becomes a turn by itself" in results[1]
    assert "│ Blue." in results[2]
    assert "code=target_not_found" in results[2]
    assert '"status": "cancelled"' in results[4]


def _arrived(arrivals: Stream) -> Any:
    """The agent `builder`, once the hub says that it is there."""
    while True:
        agent = arrivals.next("presence").data["agent"]
        if agent["name"] == "builder" and agent["presence"] == "online":
            return agent


def _until(holds: Callable[[], bool], lead: Agent, message_id: str) -> None:
    """Each look comes after a wait of the hub's own."""
    for _ in range(200):
        if holds():
            return
        lead.wait(message_id, 200)
    raise AssertionError("it did not come to that")


def _facts(lead: Agent, message_id: str) -> list[str]:
    return [fact["fact"] for fact in lead.call("GET", f"/v1/messages/{message_id}/trail").json["facts"]]
