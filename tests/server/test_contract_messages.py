"""Reading, acknowledging, replying, cancelling (spec/hub.md 3.8, 4): who may, from which state, in which words."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.hub_process import Agent, Answer, Connection, Project

UNKNOWN = "msg_" + "0" * 32
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

Act = Callable[[Agent, str], Answer]
ACTS: dict[str, Act] = {
    "get": lambda agent, message: agent.call("GET", f"/v1/messages/{message}"),
    "acknowledge": lambda agent, message: agent.acknowledge(message),
    "reply": lambda agent, message: agent.reply(message),
    "cancel": lambda agent, message: agent.cancel(message),
}


@pytest.fixture
def sent(lead: Agent, reviewer: Agent) -> str:
    return str(lead.send("reviewer")["id"])


@pytest.mark.requirement("MSG-MOVE-ACK", "MSG-STATE-DELIVERED")
def test_an_acknowledgement_makes_it_delivered(lead: Agent, reviewer: Agent, sent: str) -> None:
    answer = reviewer.acknowledge(sent)
    message = answer.json["message"]
    assert (answer.status, message["status"]) == (200, "delivered")
    assert TIME.fullmatch(message["deliveredAt"])
    assert lead.get(sent) == message


@pytest.mark.requirement("MSG-AT-LEAST-ONCE")
def test_a_second_acknowledgement_changes_nothing(reviewer: Agent, sent: str) -> None:
    first = reviewer.acknowledge(sent)
    again = reviewer.acknowledge(sent)
    assert again.status == 200
    assert again.json["message"] == first.json["message"]
    assert (first.json["first"], again.json["first"]) == (True, False)


@pytest.mark.requirement("MSG-MOVE-REPLY-DELIVERED", "MSG-STATE-ONE-FINAL")
def test_a_reply_to_a_delivered_request_is_its_final_state(lead: Agent, reviewer: Agent, sent: str) -> None:
    reviewer.acknowledge(sent)
    answer = reviewer.reply(sent, "  the plan is sound\n")
    message = answer.json["message"]
    assert (answer.status, message["status"]) == (200, "replied")
    assert message["reply"] == {"content": "  the plan is sound\n", "createdAt": message["repliedAt"]}
    assert TIME.fullmatch(message["repliedAt"])
    assert message["deliveredAt"] <= message["repliedAt"]
    assert lead.get(sent) == message


@pytest.mark.requirement("MSG-MOVE-REPLY-QUEUED", "MSG-REPLY-WHILE-QUEUED")
def test_a_reply_needs_no_acknowledgement(lead: Agent, reviewer: Agent, sent: str) -> None:
    message = reviewer.reply(sent, "ok").json["message"]
    assert message["status"] == "replied"
    assert "deliveredAt" not in message


@pytest.mark.requirement("MSG-CMD-CANCEL", "MSG-MOVE-CANCEL-QUEUED", "MSG-MOVE-CANCEL-DELIVERED")
@pytest.mark.parametrize("acknowledged", [False, True])
def test_a_sender_cancels_an_open_request(lead: Agent, reviewer: Agent, sent: str, acknowledged: bool) -> None:
    if acknowledged:
        reviewer.acknowledge(sent)
    answer = lead.cancel(sent)
    message = answer.json["message"]
    assert (answer.status, message["status"]) == (200, "cancelled")
    assert message["error"] == "message cancelled by sender"
    assert TIME.fullmatch(message["cancelledAt"])
    assert "reply" not in message
    assert reviewer.inbox() == []


@pytest.mark.requirement("MSG-CANCEL-AGAIN")
def test_a_second_cancel_returns_it_unchanged(lead: Agent, sent: str) -> None:
    first, again = lead.cancel(sent), lead.cancel(sent)
    assert (again.status, again.json["message"]) == (200, first.json["message"])


@pytest.mark.requirement(
    "MSG-ERR-DUPLICATE-REPLY", "MSG-REPLY-ONCE", "MSG-STATE-FINAL-REPLIED", "MSG-ERR-STATE", "MSG-CANCEL-FINAL"
)
def test_a_replied_request_refuses_everything_else(lead: Agent, reviewer: Agent, sent: str) -> None:
    before = reviewer.reply(sent, "first").json["message"]
    assert reviewer.reply(sent, "second").refusal == (409, "duplicate_reply", "message already has a reply")
    state = "invalid_message_state"
    assert reviewer.acknowledge(sent).refusal == (409, state, "cannot acknowledge a replied message")
    assert lead.cancel(sent).refusal == (409, state, "cannot cancel a replied message")
    assert lead.get(sent) == before


@pytest.mark.requirement("MSG-STATE-FINAL-CANCELLED", "MSG-ERR-STATE")
def test_a_cancelled_request_refuses_reply_and_acknowledgement(lead: Agent, reviewer: Agent, sent: str) -> None:
    before = lead.cancel(sent).json["message"]
    state = "invalid_message_state"
    assert reviewer.reply(sent).refusal == (409, state, "cannot reply to a cancelled message")
    assert reviewer.acknowledge(sent).refusal == (409, state, "cannot acknowledge a cancelled message")
    assert lead.get(sent) == before


@pytest.mark.requirement("MSG-REPLY-RECIPIENT-ONLY")
def test_each_act_belongs_to_one_end(lead: Agent, reviewer: Agent, sent: str) -> None:
    code = "message_forbidden"
    assert lead.acknowledge(sent).refusal == (403, code, "only the recipient can acknowledge this message")
    assert lead.reply(sent).refusal == (403, code, "only the recipient can reply to this message")
    assert reviewer.cancel(sent).refusal == (403, code, "only the sender can cancel this message")
    assert lead.get(sent)["status"] == "queued"


def test_an_end_is_judged_before_the_state(lead: Agent, reviewer: Agent, sent: str) -> None:
    reviewer.reply(sent)
    assert lead.reply(sent).code == "message_forbidden"
    assert reviewer.cancel(sent).code == "message_forbidden"


@pytest.mark.requirement("MSG-VISIBILITY", "MSG-ERR-FORBIDDEN")
def test_a_third_agent_sees_and_moves_nothing(project: Project, lead: Agent, sent: str) -> None:
    third = project.register("third")
    refusal = third.call("GET", f"/v1/messages/{sent}").refusal
    assert refusal == (403, "message_forbidden", "message is not visible to this agent")
    assert {ACTS[act](third, sent).code for act in ACTS} == {"message_forbidden"}
    assert lead.get(sent)["status"] == "queued"


@pytest.mark.requirement("MSG-ERR-NOT-FOUND")
@pytest.mark.parametrize("act", list(ACTS))
@pytest.mark.parametrize("message", [UNKNOWN, "msg_1", "nonsense", "..%2f..", "m" * 300])
def test_an_unknown_message_is_not_found(lead: Agent, act: str, message: str) -> None:
    assert ACTS[act](lead, message).refusal == (404, "message_not_found", "message not found")


@pytest.mark.requirement("MSG-VISIBILITY")
def test_a_message_of_another_project_stays_hidden(project: Project, sent: str) -> None:
    stranger = Project(project.hub, f"{project.name}-too", project.token).register("lead")
    for act in ACTS.values():
        answer = act(stranger, sent)
        assert answer.status in (403, 404)
        assert b"look at this" not in answer.body


@pytest.mark.requirement("MSG-LIMIT-REPLY")
def test_a_reply_has_the_contents_rules(lead: Agent, reviewer: Agent, sent: str) -> None:
    for content, text in (
        ("x" * 32_001, "content exceeds 32000 characters"),
        ("\U0001f600" * 16_000 + "x", "content exceeds 32000 characters"),
        (" \n", "content cannot be empty"),
        (None, "content must be a string"),
    ):
        assert reviewer.reply(sent, content).refusal == (400, "protocol_error", text)
    assert lead.get(sent)["status"] == "queued"
    assert reviewer.reply(sent, "\U0001f600" * 16_000).status == 200


@pytest.mark.requirement("MSG-GET-NO-WAIT")
def test_a_get_answers_at_once_with_the_state_as_it_is(lead: Agent, reviewer: Agent, sent: str) -> None:
    assert lead.get(sent)["status"] == "queued"
    assert reviewer.get(sent) == lead.get(sent)


@pytest.mark.requirement("MSG-INBOX-NO-ACK", "MSG-STATE-DELIVERED-READ-BACK")
def test_the_inbox_holds_the_open_requests_in_their_order_and_acknowledges_nothing(
    project: Project, lead: Agent, reviewer: Agent
) -> None:
    ids = [
        str(lead.send("reviewer", f"{number}", delivery="steer" if number == 3 else "followUp")["id"])
        for number in range(5)
    ]
    reviewer.acknowledge(ids[1])
    reviewer.reply(ids[0])
    lead.cancel(ids[4])
    for agent in (reviewer, reviewer):
        assert [(found["id"], found["status"]) for found in agent.inbox()] == [
            (ids[1], "delivered"), (ids[2], "queued"), (ids[3], "queued"),
        ]  # fmt: skip
    assert lead.inbox() == []
    reviewer.leave()
    assert [found["id"] for found in project.register("reviewer").inbox()] == ids[1:4]


def test_a_wait_ends_when_the_message_is_final(lead: Agent, reviewer: Agent, sent: str) -> None:
    connection = Connection(lead.project.hub.address)
    connection.write(lead.project.hub.raw("GET", f"/v1/messages/{sent}?waitMs=60000", headers=lead.headers))
    reviewer.acknowledge(sent)
    reviewer.reply(sent, "ok")
    answer = connection.answer()
    connection.close()
    assert (answer.status, answer.json["message"]["status"]) == (200, "replied")


@pytest.mark.parametrize("final", ["reply", "cancel"])
def test_a_wait_for_a_final_message_answers_at_once(lead: Agent, reviewer: Agent, sent: str, final: str) -> None:
    ACTS[final](reviewer if final == "reply" else lead, sent)
    assert lead.wait(sent, 60_000)["status"] in ("replied", "cancelled")


@pytest.mark.requirement("MSG-AWAIT-LEAVES-REQUEST")
@pytest.mark.parametrize("wait", [0, 50])
def test_a_wait_that_ran_out_answers_with_the_state_and_changes_nothing(lead: Agent, sent: str, wait: int) -> None:
    before = lead.get(sent)
    assert lead.wait(sent, wait) == before
    assert lead.get(sent) == before


@pytest.mark.requirement("MSG-LIMIT-AWAIT")
@pytest.mark.parametrize("wait", ["60001", "-1", "1.5", "abc", "true"])
def test_a_wait_is_bounded_by_sixty_seconds(lead: Agent, sent: str, wait: str) -> None:
    answer = lead.call("GET", f"/v1/messages/{sent}?waitMs={wait}")
    assert answer.refusal == (400, "protocol_error", "waitMs must be an integer between 0 and 60000")


def test_a_third_agent_cannot_wait_for_a_message(project: Project, sent: str) -> None:
    assert project.register("third").call("GET", f"/v1/messages/{sent}?waitMs=60000").code == "message_forbidden"


@pytest.mark.requirement("MSG-STATE-ONE-FINAL", "MSG-REPLY-ONCE")
def test_of_replies_and_a_cancel_at_once_one_wins(lead: Agent, reviewer: Agent, sent: str) -> None:
    acts: list[tuple[Act, Agent]] = [(ACTS["reply"], reviewer)] * 6 + [(ACTS["cancel"], lead)]
    with ThreadPoolExecutor(7) as pool:
        answers: list[Answer] = list(pool.map(lambda act: act[0](act[1], sent), acts))
    won = [answer for answer in answers if answer.status == 200]
    assert len(won) == 1
    codes = {answer.code for answer in answers if answer.status != 200}
    assert codes <= {"duplicate_reply", "invalid_message_state"}
    assert lead.get(sent) == won[0].json["message"]


@pytest.mark.requirement("MSG-STATE-ERROR-RESERVED")
def test_no_act_ever_leaves_the_reserved_status(lead: Agent, reviewer: Agent) -> None:
    statuses: set[Any] = set()
    for acts in (("reply",), ("acknowledge", "reply"), ("cancel",), ("acknowledge", "cancel"), ("acknowledge",), ()):
        message = lead.send("reviewer")["id"]
        for act in acts:
            ACTS[act](lead if act == "cancel" else reviewer, message)
        statuses.add(lead.get(message)["status"])
    assert statuses == {"queued", "delivered", "replied", "cancelled"}


@pytest.mark.requirement("MSG-TROUBLE-DELIVERED")
def test_what_stays_delivered_is_cancelled_and_sent_again_under_a_new_key(lead: Agent, reviewer: Agent) -> None:
    stuck = lead.send("reviewer", idempotencyKey="one")
    reviewer.acknowledge(stuck["id"])
    assert lead.try_send("reviewer", idempotencyKey="one").json["message"]["status"] == "delivered"
    assert lead.cancel(stuck["id"]).status == 200
    again = lead.send("reviewer", idempotencyKey="two")
    assert [found["id"] for found in reviewer.inbox()] == [again["id"]]
