"""An exact retry returns the original, field by field (seed: «Make retries safe»; spec/hub.md 3.8 step 6)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.hub_process import Agent, Project

FULL = {
    "target": "reviewer", "content": "x", "delivery": "steer", "correlationId": "c", "replyTo": "msg_1",
    "hops": 1, "maxHops": 6, "ttlMs": 60_000, "idempotencyKey": "key",
}  # fmt: skip


@pytest.fixture
def original(lead: Agent, reviewer: Agent) -> str:
    answer = lead.call("POST", "/v1/messages", FULL)
    assert answer.status == 202
    return str(answer.json["message"]["id"])


@pytest.mark.requirement("MSG-KEY-RETRY", "MSG-FIELD-IDEMPOTENCY-KEY")
def test_an_exact_retry_is_200_with_the_original(lead: Agent, reviewer: Agent, original: str) -> None:
    answer = lead.call("POST", "/v1/messages", FULL)
    assert (answer.status, answer.json["idempotent"]) == (200, True)
    assert answer.json["message"] == lead.get(original)
    assert [found["id"] for found in reviewer.inbox()] == [original]


@pytest.mark.requirement(
    "MSG-KEY-CONFLICT-TARGET", "MSG-KEY-CONFLICT-CONTENT", "MSG-KEY-CONFLICT-DELIVERY", "MSG-KEY-CONFLICT-CORRELATION",
    "MSG-KEY-CONFLICT-TTL", "MSG-ERR-IDEMPOTENCY-CONFLICT",
)  # fmt: skip
@pytest.mark.parametrize(
    "changed",
    [
        {"target": "other"},
        {"target": "nobody"},
        {"target": "lead"},
        {"content": "y"},
        {"content": "X"},
        {"delivery": "followUp"},
        {"correlationId": "d"},
        {"correlationId": None},
        {"replyTo": "msg_2"},
        {"replyTo": None},
        {"hops": 2},
        {"maxHops": 7},
        {"ttlMs": 60_001},
    ],
)
def test_the_key_with_any_other_field_conflicts(
    project: Project, lead: Agent, reviewer: Agent, original: str, changed: dict[str, object]
) -> None:
    other = project.register("other")
    answer = lead.call("POST", "/v1/messages", {**FULL, **changed})
    text = "idempotency key was already used for another request"
    assert answer.refusal == (409, "idempotency_conflict", text)
    assert [found["id"] for found in reviewer.inbox()] == [original]
    assert other.inbox() == []


@pytest.mark.requirement("MSG-KEY-CONFLICT-TTL")
def test_a_ttl_left_out_is_the_hubs_default_and_not_the_originals(lead: Agent, reviewer: Agent, original: str) -> None:
    fields = {name: value for name, value in FULL.items() if name != "ttlMs"}
    assert lead.call("POST", "/v1/messages", fields).code == "idempotency_conflict"
    assert lead.call("POST", "/v1/messages", {**fields, "idempotencyKey": "2"}).status == 202
    explicit = {**fields, "idempotencyKey": "2", "ttlMs": 86_400_000}
    assert lead.call("POST", "/v1/messages", explicit).json["idempotent"] is True


def test_the_target_may_be_its_name_in_any_case_or_its_id(lead: Agent, reviewer: Agent, original: str) -> None:
    for target in ("REVIEWER", reviewer.id):
        assert lead.call("POST", "/v1/messages", {**FULL, "target": target}).json["message"]["id"] == original


def test_allow_offline_is_not_compared_and_the_target_may_have_left(
    lead: Agent, reviewer: Agent, original: str
) -> None:
    reviewer.leave()
    for allowed in (False, True):
        answer = lead.call("POST", "/v1/messages", {**FULL, "allowOffline": allowed})
        assert (answer.status, answer.json["message"]["id"]) == (200, original)


def test_a_retry_returns_the_original_whatever_has_become_of_it(lead: Agent, reviewer: Agent, original: str) -> None:
    reviewer.acknowledge(original)
    assert lead.call("POST", "/v1/messages", FULL).json["message"]["status"] == "delivered"
    reviewer.reply(original, "done")
    answer = lead.call("POST", "/v1/messages", FULL)
    assert (answer.status, answer.json["message"]["status"]) == (200, "replied")
    assert answer.json["message"]["reply"]["content"] == "done"


@pytest.mark.requirement("MSG-KEY-SENDER")
def test_two_senders_may_use_the_same_key(project: Project, lead: Agent, reviewer: Agent, original: str) -> None:
    answer = project.register("second").call("POST", "/v1/messages", FULL)
    assert (answer.status, answer.json["idempotent"]) == (202, False)
    assert answer.json["message"]["id"] != original


def test_a_key_is_trimmed_and_an_empty_one_is_none(lead: Agent, reviewer: Agent, original: str) -> None:
    assert lead.call("POST", "/v1/messages", {**FULL, "idempotencyKey": " key "}).json["message"]["id"] == original
    for _ in range(2):
        assert lead.call("POST", "/v1/messages", {**FULL, "idempotencyKey": " "}).status == 202


def test_a_key_outlives_its_agents_absence(project: Project, lead: Agent, reviewer: Agent, original: str) -> None:
    lead.leave()
    assert project.register("lead").call("POST", "/v1/messages", FULL).json["message"]["id"] == original


@pytest.mark.requirement("MSG-SEND-AT-ONCE")
def test_of_eight_equal_sends_at_once_one_is_new(lead: Agent, reviewer: Agent) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: lead.call("POST", "/v1/messages", FULL), range(8)))
    assert sorted(answer.status for answer in answers) == [200] * 7 + [202]
    assert len({answer.json["message"]["id"] for answer in answers}) == 1
    assert len(reviewer.inbox()) == 1
