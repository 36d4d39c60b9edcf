"""Sending (spec/hub.md 3.8): the record, the targets, the limits, and which of two faults is reported."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.conftest import fresh_project
from tests.hub_process import Agent, HubProcess, Project

EMOJI = "\U0001f600"
ALWAYS = {
    "id", "project", "from", "fromName", "to", "toName", "content", "delivery", "hops", "maxHops", "seq", "createdAt",
    "expiresAt", "status",
}  # fmt: skip
CONTEXT = {"runId": "run_" + "0" * 32, "stageId": "build", "requirementKey": "peer-review", "attempt": 1}
GOOD = {"target": "reviewer", "content": "x"}


def lifetime(message: dict[str, str]) -> timedelta:
    return datetime.fromisoformat(message["expiresAt"]) - datetime.fromisoformat(message["createdAt"])


@pytest.mark.requirement(
    "MSG-MOVE-SEND", "MSG-STATE-QUEUED", "MSG-SEND-AT-ONCE", "MSG-LIMIT-TTL-DEFAULT", "MSG-LIMIT-HOPS-DEFAULT",
    "MSG-FIELD-DELIVERY", "MSG-FIELD-TTL-MS",
)  # fmt: skip
def test_a_plain_send_is_202_with_every_default_in_its_record(lead: Agent, reviewer: Agent) -> None:
    answer = lead.try_send("reviewer", "check branch x")
    message = answer.json["message"]
    assert answer.status == 202
    assert answer.json["idempotent"] is False
    assert set(message) == ALWAYS
    assert re.fullmatch(r"msg_[0-9a-f]{32}", message["id"])
    assert (message["from"], message["fromName"]) == (lead.id, "lead")
    assert (message["to"], message["toName"]) == (reviewer.id, "reviewer")
    assert message["project"] == lead.project.name
    assert (message["content"], message["delivery"], message["status"]) == ("check branch x", "followUp", "queued")
    assert (message["hops"], message["maxHops"], message["seq"]) == (0, 5, 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", message["createdAt"])
    assert lifetime(message) == timedelta(hours=24)


@pytest.mark.requirement("MSG-FIELD-CORRELATION-ID", "MSG-FIELD-IDEMPOTENCY-KEY")
def test_every_optional_field_comes_back_in_the_record(lead: Agent, reviewer: Agent) -> None:
    fields: dict[str, Any] = {
        "delivery": "steer", "correlationId": "corr", "replyTo": "msg_elsewhere", "idempotencyKey": "key",
        "hops": 3, "maxHops": 4, "ttlMs": 60_000, "allowOffline": True,
    }  # fmt: skip
    message = lead.send("reviewer", **fields)
    assert set(message) == ALWAYS | {"correlationId", "replyTo", "idempotencyKey"}
    assert {name: message[name] for name in fields if name in message} == {
        name: value for name, value in fields.items() if name not in ("ttlMs", "allowOffline")
    }
    assert lifetime(message) == timedelta(minutes=1)


def test_the_sequence_counts_for_each_recipient_from_one(lead: Agent, reviewer: Agent, project: Project) -> None:
    other = project.register("other")
    assert [lead.send("reviewer")["seq"], lead.send("reviewer")["seq"], lead.send("other")["seq"]] == [1, 2, 1]
    assert other.send("reviewer")["seq"] == 3


@pytest.mark.requirement("MSG-TARGET-NAME")
@pytest.mark.parametrize("target", ["reviewer", "REVIEWER", "Reviewer", "  reviewer \n"])
def test_a_target_is_a_name_in_any_case(lead: Agent, reviewer: Agent, target: str) -> None:
    assert lead.send(target)["to"] == reviewer.id


@pytest.mark.requirement("MSG-TARGET-ID")
def test_a_target_is_an_agent_id(lead: Agent, reviewer: Agent) -> None:
    message = lead.send(reviewer.id)
    assert (message["to"], message["toName"]) == (reviewer.id, "reviewer")


def test_an_id_is_looked_up_before_a_name(project: Project, lead: Agent, reviewer: Agent) -> None:
    project.register(reviewer.id)
    assert lead.send(reviewer.id)["to"] == reviewer.id


@pytest.mark.requirement("MSG-ERR-TARGET-NOT-FOUND", "MSG-OFFLINE-REFUSED", "MSG-OFFLINE-UNKNOWN")
def test_an_unknown_and_an_offline_target_are_refused_in_the_same_words(lead: Agent, reviewer: Agent) -> None:
    reviewer.leave()
    for target, fields in (("reviewer", {}), ("Nobody", {}), ("Nobody", {"allowOffline": True})):
        answer = lead.try_send(target, **fields)
        assert answer.refusal == (404, "target_not_found", f"online target not found: {target}")
    assert reviewer.inbox() == []


@pytest.mark.requirement(
    "MSG-OFFLINE-QUEUED", "MSG-FIELD-ALLOW-OFFLINE", "MSG-INBOX-OFFLINE", "MSG-OFFLINE-STAYS-QUEUED"
)
def test_allow_offline_queues_for_an_agent_that_was_here(project: Project, lead: Agent, reviewer: Agent) -> None:
    reviewer.leave()
    message = lead.send("reviewer", allowOffline=True)
    assert lead.get(message["id"])["status"] == "queued"
    back = project.register("reviewer")
    assert [found["id"] for found in back.inbox()] == [message["id"]]
    with back.stream() as stream:
        assert stream.next("message").message["id"] == message["id"]


@pytest.mark.parametrize("target", ["reviewer@elsewhere", "r" * 70 + "@" + "h" * 97])
def test_a_remote_target_without_a_gateway_is_not_found(lead: Agent, target: str) -> None:
    answer = lead.try_send(target, allowOffline=True)
    assert answer.refusal == (404, "target_not_found", f"online target not found: {target}")


@pytest.mark.requirement("MSG-ERR-SELF-TARGET")
def test_a_request_to_oneself_is_refused_by_name_and_by_id(lead: Agent) -> None:
    for target in ("lead", "LEAD", lead.id):
        assert lead.try_send(target).refusal == (400, "self_target", "cannot send a request to yourself")
    assert lead.inbox() == []


@pytest.mark.requirement("MSG-LIMIT-CONTENT")
@pytest.mark.parametrize("content", ["x" * 32_000, EMOJI * 16_000, "  " + "x" * 32_000 + "\n", "ä" * 32_000])
def test_content_of_32000_units_is_taken(lead: Agent, reviewer: Agent, content: str) -> None:
    message = lead.send("reviewer", content)
    assert lead.get(message["id"])["content"] == content


@pytest.mark.requirement("MSG-LIMIT-CONTENT")
@pytest.mark.parametrize("content", ["x" * 32_001, EMOJI * 16_000 + "x"])
def test_content_of_one_unit_more_is_refused(lead: Agent, reviewer: Agent, content: str) -> None:
    assert lead.try_send("reviewer", content).refusal == (400, "protocol_error", "content exceeds 32000 characters")
    assert reviewer.inbox() == []


@pytest.mark.requirement("MSG-BODY-AS-SENT")
@pytest.mark.parametrize(
    "content", ["    indented code\n", "\ttab\r\nCRLF \u2028 NEL\u0085", "<b>&amp;</b>\x1b[31m\x07", EMOJI + "e\u0301é"]
)
def test_content_is_stored_and_handed_out_as_it_was_sent(lead: Agent, reviewer: Agent, content: str) -> None:
    message = lead.send("reviewer", content)
    assert message["content"] == content
    assert [found["content"] for found in reviewer.inbox()] == [content]
    with reviewer.stream() as stream:
        assert stream.next("message").message["content"] == content


@pytest.mark.requirement("MSG-MODE-FOLLOWUP", "MSG-MODE-STEER", "MSG-MODE-NEXTTURN")
@pytest.mark.parametrize("delivery", ["followUp", "steer", "nextTurn"])
def test_the_delivery_mode_reaches_the_recipient(lead: Agent, reviewer: Agent, delivery: str) -> None:
    lead.send("reviewer", delivery=delivery)
    assert [found["delivery"] for found in reviewer.inbox()] == [delivery]


@pytest.mark.requirement("MSG-LIMIT-TTL-RANGE")
@pytest.mark.parametrize("ttl", [1_000, 604_800_000])
def test_the_ends_of_the_ttls_range_are_taken(lead: Agent, reviewer: Agent, ttl: int) -> None:
    assert lifetime(lead.send("reviewer", ttlMs=ttl)) == timedelta(milliseconds=ttl)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"target": None}, "target must be a string"),
        ({"target": " "}, "target cannot be empty"),
        ({"target": "t" * 81}, "target exceeds 80 characters"),
        ({"target": "t" * 80 + "@" + "h" * 88}, "target exceeds 168 characters"),
        ({"content": None}, "content must be a string"),
        ({"content": 1}, "content must be a string"),
        ({"content": " \n\u00a0"}, "content cannot be empty"),
        ({"correlationId": 1}, "correlationId must be a string"),
        ({"correlationId": "c" * 129}, "correlationId exceeds 128 characters"),
        ({"replyTo": "r" * 81}, "replyTo exceeds 80 characters"),
        ({"replyTo": False}, "replyTo must be a string"),
        ({"hops": -1}, "hops must be an integer between 0 and 100"),
        ({"hops": 101, "maxHops": 1}, "hops must be an integer between 0 and 100"),
        ({"hops": None}, "hops must be an integer between 0 and 100"),
        ({"maxHops": 0}, "maxHops must be an integer between 1 and 20"),
        ({"maxHops": 21}, "maxHops must be an integer between 1 and 20"),
        ({"maxHops": "5"}, "maxHops must be an integer between 1 and 20"),
        ({"maxHops": None}, "maxHops must be an integer between 1 and 20"),
        ({"idempotencyKey": "k" * 129}, "idempotencyKey exceeds 128 characters"),
        ({"idempotencyKey": 7}, "idempotencyKey must be a string"),
        # of two faults the one that is checked first is reported
        ({"target": "", "content": ""}, "target cannot be empty"),
        ({"target": "t" * 81, "content": ""}, "target exceeds 80 characters"),
        ({"content": "", "delivery": "later"}, "content cannot be empty"),
        ({"delivery": "later", "correlationId": 1}, "delivery must be steer, followUp, or nextTurn"),
        ({"correlationId": 1, "replyTo": 1}, "correlationId must be a string"),
        ({"replyTo": 1, "hops": -1}, "replyTo must be a string"),
        ({"hops": -1, "maxHops": 0}, "hops must be an integer between 0 and 100"),
        ({"maxHops": 0, "ttlMs": 1}, "maxHops must be an integer between 1 and 20"),
        ({"ttlMs": 1, "allowOffline": 1}, "ttlMs must be an integer between 1000 and 604800000"),
        ({"allowOffline": 1, "idempotencyKey": 1}, "allowOffline must be a boolean"),
        ({"idempotencyKey": 1, "target": "nobody"}, "idempotencyKey must be a string"),
    ],
)  # fmt: skip
@pytest.mark.requirement("MSG-KEY-LENGTH", "MSG-CORRELATION-LENGTH", "MSG-LIMIT-HOPS-RANGE")
def test_a_field_that_does_not_fit_is_refused_and_leaves_nothing(
    lead: Agent, reviewer: Agent, fields: dict[str, object], text: str
) -> None:
    answer = lead.call("POST", "/v1/messages", {**GOOD, **fields})
    assert answer.refusal == (400, "protocol_error", text)
    assert reviewer.inbox() == []


@pytest.mark.requirement("MSG-KEY-LENGTH", "MSG-CORRELATION-LENGTH", "MSG-LIMIT-HOPS-RANGE")
def test_the_longest_key_and_correlation_id_and_the_furthest_hop_are_taken(lead: Agent, reviewer: Agent) -> None:
    message = lead.send("reviewer", idempotencyKey="k" * 128, correlationId="c" * 128, hops=19, maxHops=20)
    assert (len(message["idempotencyKey"]), len(message["correlationId"]), message["hops"]) == (128, 128, 19)


@pytest.mark.requirement("MSG-HOP-REFUSED", "MSG-ERR-HOP-LIMIT")
@pytest.mark.parametrize(("hops", "most"), [(5, None), (5, 5), (1, 1), (100, 20)])
def test_hops_that_have_reached_their_limit_are_refused(
    lead: Agent, reviewer: Agent, hops: int, most: int | None
) -> None:
    answer = lead.try_send("reviewer", hops=hops, ttlMs=1, **({} if most is None else {"maxHops": most}))
    status, code, text = answer.refusal
    assert (status, code) == (400, "hop_limit_reached")
    assert text.startswith(f"hop limit reached ({hops}/{most or 5}): ")
    assert "answer the inbound request directly" in text.lower()
    assert reviewer.inbox() == []


@pytest.mark.parametrize(
    "context",
    [
        "text",
        [],
        {},
        {**CONTEXT, "attempt": 0},
        {**CONTEXT, "attempt": 21},
        {**CONTEXT, "attempt": True},
        {**CONTEXT, "stageId": "s" * 65},
        {**CONTEXT, "requirementKey": " "},
        {**CONTEXT, "runId": "r" * 81},
        {**CONTEXT, "extra": 1},
        {name: value for name, value in CONTEXT.items() if name != "stageId"},
    ],
)
def test_a_workflow_context_that_is_malformed_is_refused_before_the_later_fields(
    lead: Agent, reviewer: Agent, context: object
) -> None:
    answer = lead.try_send("reviewer", workflowContext=context, correlationId=1)
    assert (answer.status, answer.code) == (400, "invalid_workflow_context")


def test_a_workflow_context_without_a_run_is_forbidden_until_workflows_exist(lead: Agent, reviewer: Agent) -> None:
    answer = lead.try_send("reviewer", workflowContext=CONTEXT, ttlMs=1)
    assert (answer.status, answer.code) == (403, "workflow_context_forbidden")
    assert reviewer.inbox() == []


def test_a_callers_workflow_run_id_is_ignored(lead: Agent, reviewer: Agent) -> None:
    message = lead.send("reviewer", workflowRunId="run_" + "0" * 32, seq=99, status="replied", fromName="boss")
    assert set(message) == ALWAYS
    assert (message["seq"], message["status"], message["fromName"]) == (1, "queued", "lead")


@pytest.mark.requirement("MSG-CORRELATION-GROUPS")
def test_a_correlation_id_deduplicates_nothing(lead: Agent, reviewer: Agent) -> None:
    first, second = (lead.send("reviewer", correlationId="group")["id"] for _ in range(2))
    assert first != second
    assert len(reviewer.inbox()) == 2


def test_an_agent_of_another_project_is_no_target_by_its_id(hub_process: HubProcess, lead: Agent) -> None:
    stranger = fresh_project(hub_process).register("stranger")
    assert lead.try_send(stranger.id).code == "target_not_found"
