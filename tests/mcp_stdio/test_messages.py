"""The core tools between real sessions on a real hub: the guide's steps, as an agent takes them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from peerline.core.fence import unrender
from tests.hub_process import Agent, HubProcess, Project
from tests.mcp_stdio.conftest import Open
from tests.mcp_stdio.session import AgentSession


@pytest.fixture
def me(open_session: Open) -> AgentSession:
    return open_session("me")


def texts(result: dict[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"]]


@pytest.mark.requirement("MSG-TOOL-LIST", "MSG-FORMS-MCP")
def test_the_list_shows_who_is_online_and_which_one_is_the_reader(me: AgentSession, lead: Agent) -> None:
    lead.leave()
    assert [agent["name"] for agent in me.call("kxm_list")["agents"]] == ["me"]
    everyone = me.call("kxm_list", includeOffline=True)["agents"]
    assert [(agent["name"], agent["presence"], "you" in agent) for agent in everyone] == [
        ("lead", "offline", False),
        ("me", "online", True),
    ]
    assert (everyone[1]["model"], everyone[1]["purpose"]) == ("claude-code", "claude-code session in user")


@pytest.mark.requirement("MSG-TOOL-SEND", "MSG-TOOL-GET", "MSG-TOOL-REPLY", "MSG-FORMS-MCP")
def test_a_request_is_sent_taken_pushed_answered_and_the_reply_wakes_the_asker(
    me: AgentSession, open_session: Open
) -> None:
    other = open_session("other")
    sent = me.call("kxm_send", target="Other", content="look\nhere", delivery="steer", correlationId="c")
    assert sent == {"messageId": sent["messageId"], "status": "queued", "target": "other"}
    pushed = other.push()
    assert pushed["meta"] == {
        "message_id": sent["messageId"],
        "from_agent": "me",
        "delivery": "steer",
        "correlation_id": "c",
    }
    assert "│ look\n│ here\n" in pushed["content"]
    assert me.call("kxm_get", messageId=sent["messageId"])["status"] == "delivered"
    replied = other.call("kxm_reply", messageId=sent["messageId"], content="fine\n")
    assert replied == {"messageId": sent["messageId"], "status": "replied", "recipient": "me"}
    assert me.push()["meta"] == pushed["meta"] | {"from_agent": "other", "kind": "reply"}
    record, fenced = texts(me.result("kxm_get", messageId=sent["messageId"]))
    assert json.loads(record)["status"] == "replied"
    assert unrender(fenced) == "fine\n"


@pytest.mark.requirement("MSG-CLAUDE-PUSHED", "MSG-STATE-DELIVERED-CLAUDE")
def test_a_request_is_acknowledged_on_arrival_and_pushed_once(me: AgentSession, lead: Agent) -> None:
    first = lead.send("me", "one")["id"]
    assert me.push()["meta"]["message_id"] == first
    assert lead.get(first)["status"] == "delivered"
    me.call("kxm_inbox")
    second = lead.send("me", "two")["id"]
    assert me.push()["meta"]["message_id"] == second
    assert me.pushed == []


@pytest.mark.requirement("MSG-TOOL-INBOX", "MSG-CLAUDE-PULL", "MSG-TROUBLE-CLAUDE-SILENT")
def test_without_any_push_the_inbox_lists_what_needs_a_reply(me: AgentSession, lead: Agent) -> None:
    assert me.call("kxm_inbox") == {"messages": [], "unreadReplies": []}
    one, two = lead.send("me", "one")["id"], lead.send("me", "two")["id"]
    me.push()
    me.push()
    record, first, second = texts(me.result("kxm_inbox"))
    assert [message["id"] for message in json.loads(record)["messages"]] == [one, two]
    assert (unrender(first), unrender(second)) == ("one", "two")
    me.call("kxm_reply", messageId=one, content="done")
    assert [message["id"] for message in me.call("kxm_inbox")["messages"]] == [two]


def test_the_trail_tells_that_the_text_was_given_to_the_model(me: AgentSession, lead: Agent) -> None:
    sent = lead.send("me", "?")["id"]
    me.push()

    me.call("kxm_inbox")
    assert me.close() == 0  # what was to be reported has been
    facts = lead.call("GET", f"/v1/messages/{sent}/trail").json["facts"]
    assert [fact["fact"] for fact in facts if "by claude-code" in fact.get("detail", "")] == ["read"]
    assert "mcp:claude-code" in str(facts)  # who took it


def test_the_inbox_names_replies_until_they_are_read(me: AgentSession, lead: Agent) -> None:
    sent = me.call("kxm_send", target="lead", content="?")["messageId"]
    lead.reply(sent, "yes")
    me.push()
    assert me.call("kxm_inbox")["unreadReplies"] == [{"messageId": sent, "from": "lead"}]
    me.call("kxm_get", messageId=sent)
    assert me.call("kxm_inbox")["unreadReplies"] == []


@pytest.mark.requirement("MSG-TOOL-CANCEL", "MSG-CANCEL-CLAUDE")
def test_a_cancelled_request_leaves_the_inbox(me: AgentSession, open_session: Open, lead: Agent) -> None:
    other = open_session("other")
    sent = me.call("kxm_send", target="other", content="stop me")["messageId"]
    other.push()
    assert me.call("kxm_cancel", messageId=sent)["status"] == "cancelled"
    lead.send("other", "barrier")
    other.push()
    assert [message["content"][:3] for message in other.call("kxm_inbox")["messages"]] == ["see"]
    assert other.refused("kxm_reply", messageId=sent, content="late") == "cannot reply to a cancelled message"


@pytest.mark.requirement("MSG-TOOL-AWAIT")
def test_a_wait_ends_with_the_reply_and_is_not_announced_too(me: AgentSession, lead: Agent) -> None:
    sent = me.call("kxm_send", target="lead", content="?")["messageId"]
    waiting = me.begin_call("kxm_await", {"progressToken": "p"}, messageId=sent)
    me.call("kxm_list")  # calls begin in order: by its answer the wait is under way
    with lead.stream() as stream:
        stream.next("message")
        lead.reply(sent, "yes")
    record, fenced = (block["text"] for block in me.answer(waiting)["result"]["content"])
    assert json.loads(record)["status"] == "replied"
    assert unrender(fenced) == "yes"
    lead.send("me", "barrier")
    assert "kind" not in me.push()["meta"]


def test_a_wait_that_ran_out_says_so_and_changes_nothing(me: AgentSession, lead: Agent) -> None:
    sent = me.call("kxm_send", target="lead", content="?")["messageId"]
    assert me.refused("kxm_await", messageId=sent, timeoutMs=100) == f"timed out waiting for {sent}"
    assert me.call("kxm_get", messageId=sent)["status"] == "queued"


def test_a_call_that_the_client_cancels_is_not_answered_and_its_reply_is_announced(
    me: AgentSession, lead: Agent
) -> None:
    sent = me.call("kxm_send", target="lead", content="?")["messageId"]
    waiting = me.begin_call("kxm_await", messageId=sent)
    me.notify("notifications/cancelled", {"requestId": waiting})
    me.ask("ping")
    lead.reply(sent, "yes")
    assert me.push()["meta"]["kind"] == "reply"
    me.ask("ping")
    assert not me.answered(waiting)


@pytest.mark.requirement("MSG-TOOL-FANOUT")
def test_a_fanout_collects_what_came_and_tells_the_rest_apart(me: AgentSession, lead: Agent, reviewer: Agent) -> None:
    with lead.stream() as stream:
        asking = me.begin_call(
            "kxm_fanout",
            targets=["lead", "Reviewer", "nobody"],
            content="?",
            timeoutMs=1500,
            idempotencyKeyPrefix="p",
        )
        lead.reply(stream.next("message").message["id"], "yes")
    record, fenced = (block["text"] for block in me.answer(asking)["result"]["content"])
    answered, pending, failed = json.loads(record)["responses"]
    assert (answered["target"], answered["status"]) == ("lead", "replied")
    assert (pending["status"], pending["messageStatus"], pending["waitStatus"]) == ("pending", "queued", "timed_out")
    assert (failed["status"], failed["error"]) == ("error", "online target not found: nobody")
    assert unrender(fenced) == "yes"
    assert len(reviewer.inbox()) == 1


@pytest.mark.requirement("MSG-HOP-TOOLS", "MSG-HOP-CLAUDE-FURTHEST")
def test_what_is_sent_while_a_request_is_open_is_one_hop_on_and_ends_at_its_limit(
    me: AgentSession, lead: Agent, reviewer: Agent
) -> None:
    lead.send("me", "near", hops=0)
    lead.send("me", "far", hops=3, maxHops=5)
    far = next(push for push in (me.push(), me.push()) if "│ far" in push["content"])["meta"]["message_id"]
    me.call("kxm_send", target="reviewer", content="forwarded")
    me.result("kxm_fanout", targets=["reviewer"], content="?", timeoutMs=100)
    sent = [(message["hops"], message["maxHops"], message["path"]) for message in reviewer.inbox()]
    own = [agent["id"] for agent in me.call("kxm_list")["agents"] if agent.get("you")]
    assert sent == [(4, 5, [lead.id, *own])] * 2
    assert me.refused("kxm_send", target="lead", content="?").startswith("ring detected (lead -> me -> lead)")
    me.call("kxm_reply", messageId=far, content="done")
    lead.send("me", "last", hops=4, maxHops=5)
    me.push()
    assert me.refused("kxm_send", target="reviewer", content="x").startswith("hop limit reached (5/5)")


@pytest.mark.requirement("MSG-FANOUT-REPEAT")
def test_an_exact_retry_is_one_although_a_request_has_come_in_between(
    me: AgentSession, lead: Agent, reviewer: Agent
) -> None:
    def both() -> tuple[str, str]:
        sent = me.call("kxm_send", target="reviewer", content="?", idempotencyKey="k")
        asked = me.call("kxm_fanout", targets=["reviewer"], content="?", idempotencyKeyPrefix="k", timeoutMs=100)
        return sent["messageId"], asked["responses"][0]["messageId"]

    first = both()
    lead.send("me", "meanwhile")
    me.push()
    assert both() == first


def test_refusals_are_the_hubs_texts(me: AgentSession, lead: Agent, project: Project) -> None:
    text = me.refused("kxm_send", target="nobody", content="x")
    assert text.startswith("online target not found: nobody")
    assert project.name in text
    assert me.refused("kxm_send", target="me", content="x") == "cannot send a request to yourself"
    assert me.refused("kxm_get", messageId="msg_none") == "message not found"
    assert me.refused("kxm_get") == "messageId is required"
    assert me.refused("kxm_nothing") == "unknown tool: kxm_nothing"
    assert me.refused("kxm_send", target="lead", content="x" * 32_001).startswith("content exceeds 32000")


def test_a_sends_receipt_is_short(me: AgentSession, lead: Agent) -> None:
    result = me.result("kxm_send", target="lead", content="x" * 30_000)
    assert len(json.dumps(result)) < 300


def test_tools_of_later_parts_say_that_they_are_not_built(open_session: Open) -> None:
    me = open_session("me", KXM_TOOLS="all")
    assert len(me.ask("tools/list")["tools"]) == 21
    assert me.refused("kxm_workflow_list").startswith("not_built_yet: ")
    context = {"runId": "r", "stageId": "s", "requirementKey": "k", "attempt": 1}
    refused = me.refused("kxm_send", target="lead", content="x", workflowContext=context)
    assert refused.startswith("not_built_yet: ")


def test_who_reads_an_open_request_is_told_where_it_is_and_what_to_do(me: AgentSession, reviewer: Agent) -> None:
    sent = me.call("kxm_send", target="reviewer", content="x")["messageId"]
    told = me.call("kxm_get", messageId=sent)
    assert (told["standing"], told["next"]) == (
        "stored; reviewer is online but has no open stream",
        "reviewer sees it when it reads its inbox",
    )
    reviewer.leave()
    assert me.call("kxm_get", messageId=sent)["standing"] == "stored; reviewer is offline"
    request = reviewer.project.register("third").send("me")["id"]
    assert "standing" not in me.call("kxm_get", messageId=request), "where it is, its recipient knows"


def test_a_held_request_is_said_to_be_held_whichever_tool_sent_it(
    start_hub: Callable[..., HubProcess], tmp_path: Path, sessions: list[AgentSession]
) -> None:
    hub = start_hub(KXM_PAIR_LIMIT="1")
    reviewer = Project(hub, "demo", hub.admin).register("reviewer")
    me = AgentSession(tmp_path / "me", hub, "demo", KXM_AGENT_NAME="me")
    sessions.append(me)
    me.open()
    assert "held" not in me.call("kxm_send", target=reviewer.name, content="x")
    sent = me.call("kxm_send", target=reviewer.name, content="x")
    assert sent["held"].endswith("peerline continue me reviewer")
    assert me.call("kxm_get", messageId=sent["messageId"])["next"].endswith("peerline continue me reviewer")
    reviewer.project.register("planner")
    me.call("kxm_send", target="planner", content="x")
    (response,) = me.call("kxm_fanout", targets=["planner"], content="x", timeoutMs=1_000)["responses"]
    assert (response["status"], response["held"]) == ("pending", sent["held"].replace("reviewer", "planner"))
