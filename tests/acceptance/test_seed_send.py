"""«Discover peers», «Send a request», «Check and wait for the reply», «Cancel a request» of the seed, as printed."""

import json
import re
from datetime import datetime, timedelta

import pytest

from tests.acceptance.shell import Shell
from tests.hub_process import Agent, Project

REVIEW = "Review docs/plan.md for correctness and security risks. List blocking issues first."
pytestmark = pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)  # one carrier of HTTP is enough


@pytest.fixture
def reviewer(project: Project) -> Agent:
    """A peer that stays online, on another machine than the shell."""
    return project.register("reviewer", purpose="reads diffs", model="opus", host="box1")


@pytest.mark.requirement("MSG-CMD-LIST", "MSG-LIST-FIELDS", "MSG-LIST-INCLUDE-OFFLINE", "MSG-LIST-ONLINE")
def test_list_shows_the_peers_and_the_offline_ones_when_asked(lead: Shell, project: Project, reviewer: Agent) -> None:
    project.register("planner").leave()
    everyone = lead.peer("list", "--include-offline").json["agents"]
    assert {agent["name"]: agent["presence"] for agent in everyone} == {
        "lead": "online",
        "reviewer": "online",
        "planner": "offline",
    }
    (shown,) = (agent for agent in everyone if agent["name"] == "reviewer")
    assert (shown["purpose"], shown["model"], shown["host"]) == ("reads diffs", "opus", "box1")
    assert {agent["name"] for agent in lead.peer("list").json["agents"]} == {"lead", "reviewer"}


@pytest.mark.requirement("MSG-CMD-SEND", "MSG-OUT-SEND", "MSG-SEND-AT-ONCE")
def test_send_prints_what_the_guide_prints_and_a_retry_prints_it_again(lead: Shell, reviewer: Agent) -> None:
    words = ("send", "reviewer", REVIEW, "--idempotency-key", "plan-review-1")
    first = lead.peer(*words)
    assert first.code == 0
    assert re.fullmatch(
        r'\{\n  "messageId": "msg_[0-9a-f]{32}",\n  "status": "queued",\n  "target": "reviewer"\n\}\n', first.stdout
    )
    assert lead.peer(*words).stdout == first.stdout
    assert [(found["id"], found["content"]) for found in reviewer.inbox()] == [(first.json["messageId"], REVIEW)]


@pytest.mark.requirement(
    "MSG-FIELD-DELIVERY", "MSG-FIELD-CORRELATION-ID", "MSG-FIELD-IDEMPOTENCY-KEY", "MSG-FIELD-TTL-MS", "MSG-HOP-CLI",
)  # fmt: skip
def test_send_hands_every_flag_of_the_table_on(lead: Shell, reviewer: Agent) -> None:
    sent = lead.peer(
        "send", "reviewer", "x", "--delivery", "steer", "--idempotency-key", "k", "--correlation-id", "c",
        "--ttl-ms", "60000",
    ).json  # fmt: skip
    (message,) = reviewer.inbox()
    assert message["id"] == sent["messageId"]
    assert (message["delivery"], message["idempotencyKey"], message["correlationId"]) == ("steer", "k", "c")
    assert (message["hops"], message["maxHops"]) == (0, 5)
    life = datetime.fromisoformat(message["expiresAt"]) - datetime.fromisoformat(message["createdAt"])
    assert life == timedelta(minutes=1)


@pytest.mark.requirement("MSG-FIELD-DELIVERY", "MSG-FIELD-TTL-MS", "MSG-LIMIT-TTL-DEFAULT")
def test_send_without_flags_takes_the_tables_defaults(lead: Shell, reviewer: Agent) -> None:
    lead.peer("send", "reviewer", "x")
    (message,) = reviewer.inbox()
    assert message["delivery"] == "followUp"
    assert not {"idempotencyKey", "correlationId", "workflowContext"} & set(message)
    life = datetime.fromisoformat(message["expiresAt"]) - datetime.fromisoformat(message["createdAt"])
    assert life == timedelta(hours=24)


@pytest.mark.requirement("MSG-FIELD-ALLOW-OFFLINE", "MSG-OFFLINE-REFUSED", "MSG-OFFLINE-QUEUED", "MSG-OFFLINE-UNKNOWN")
def test_an_offline_peer_needs_the_flag_and_an_unknown_one_is_refused_with_it(lead: Shell, reviewer: Agent) -> None:
    reviewer.leave()
    assert lead.peer("send", "reviewer", "x").detail == "online target not found: reviewer"
    assert lead.peer("send", "Nobody", "x", "--allow-offline").detail == "online target not found: Nobody"
    assert lead.peer("send", "reviewer", "x", "--allow-offline").json["status"] == "queued"


@pytest.mark.requirement("MSG-CMD-GET", "MSG-GET-NO-WAIT")
def test_get_reads_the_state_and_later_the_reply(lead: Shell, reviewer: Agent) -> None:
    message = lead.peer("send", "reviewer", REVIEW).json["messageId"]
    before = lead.peer("get", message).json
    assert (before["id"], before["status"], before["content"]) == (message, "queued", REVIEW)
    reviewer.acknowledge(message)
    reviewer.reply(message, "The plan is sound.")
    after = lead.peer("get", message).json
    assert after == reviewer.get(message)
    assert (after["status"], after["reply"]["content"]) == ("replied", "The plan is sound.")


@pytest.mark.requirement("MSG-CMD-AWAIT")
def test_await_returns_when_the_reply_is_there(lead: Shell, reviewer: Agent) -> None:
    with reviewer.stream() as stream:
        message = lead.peer("send", "reviewer", REVIEW).json["messageId"]
        waiting = lead.start("await", message, "--timeout-ms", "30000")
        while stream.next("presence").data["agent"]["presence"] != "offline":
            pass  # the send has left
        assert stream.next("presence").data["agent"]["presence"] == "online"  # the wait has registered
        reviewer.reply(message, "The plan is sound.")
        stdout, stderr = waiting.communicate(timeout=40)
    assert waiting.returncode == 0, stderr
    assert json.loads(stdout)["reply"]["content"] == "The plan is sound."


@pytest.mark.requirement("MSG-AWAIT-TIMED-OUT", "MSG-AWAIT-LEAVES-REQUEST")
def test_an_await_that_ran_out_says_so_and_leaves_the_request_as_it_is(lead: Shell, reviewer: Agent) -> None:
    message = lead.peer("send", "reviewer", REVIEW).json["messageId"]
    before = reviewer.get(message)
    assert lead.peer("await", message, "--timeout-ms", "100").detail == f"timed out waiting for {message}"
    assert lead.peer("get", message).json == before


@pytest.mark.requirement("MSG-CMD-CANCEL", "MSG-CANCEL-AGAIN", "MSG-CANCEL-EVENT")
def test_cancel_withdraws_a_request_and_the_recipient_is_told(lead: Shell, reviewer: Agent) -> None:
    with reviewer.stream() as stream:
        message = lead.peer("send", "reviewer", REVIEW).json["messageId"]
        cancelled = lead.peer("cancel", message).json
        assert (cancelled["id"], cancelled["status"]) == (message, "cancelled")
        assert stream.next("cancelled").message == cancelled
    assert lead.peer("cancel", message).json == cancelled


@pytest.mark.requirement("MSG-CANCEL-FINAL", "MSG-ERR-STATE")
def test_a_replied_request_cannot_be_cancelled(lead: Shell, reviewer: Agent) -> None:
    message = lead.peer("send", "reviewer", REVIEW).json["messageId"]
    reviewer.reply(message)
    assert lead.peer("cancel", message).detail == "cannot cancel a replied message"
