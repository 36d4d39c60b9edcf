"""TTL and retention against a hub with short ones (spec/hub.md 4). Waits are the hub's own."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fresh_project
from tests.hub_process import Agent, HubProcess, Project

SHORT_MS = 1_000
ONE_CARRIER = pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)  # each costs a second


@pytest.fixture(scope="module")
def brief_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    home: Path = tmp_path_factory.mktemp("brief")
    hub = HubProcess(home, KXM_MESSAGE_TTL_MS=str(SHORT_MS), KXM_MESSAGE_RETENTION_MS="1000").start()
    yield hub
    hub.stop()


@pytest.fixture
def pair(hub_process: HubProcess) -> tuple[Agent, Agent]:
    project = fresh_project(hub_process)
    return project.register("lead"), project.register("reviewer")


@ONE_CARRIER
@pytest.mark.requirement("MSG-EXPIRED-BOTH", "MSG-MOVE-EXPIRE-QUEUED", "MSG-LIMIT-TTL-FROM-SEND")
def test_both_ends_get_an_expired_event_and_the_record_says_why(pair: tuple[Agent, Agent]) -> None:
    lead, reviewer = pair
    with lead.stream() as sender, reviewer.stream() as recipient:
        message = lead.send("reviewer", ttlMs=SHORT_MS)["id"]
        reviewer.until_expired(message)
        told = sender.next("expired").data
        assert told == recipient.next("expired").data
    assert told["type"] == "expired"
    assert told["message"]["status"] == "expired"
    assert told["message"]["error"] == "message expired before a reply was received"
    assert told["message"] == lead.get(message)
    assert reviewer.inbox() == []


@ONE_CARRIER
@pytest.mark.requirement("MSG-MOVE-EXPIRE-DELIVERED", "MSG-STATE-FINAL-EXPIRED", "MSG-CANCEL-FINAL", "MSG-ERR-STATE")
def test_an_acknowledged_request_expires_too_and_then_refuses_everything(pair: tuple[Agent, Agent]) -> None:
    lead, reviewer = pair
    message = lead.send("reviewer", ttlMs=SHORT_MS)["id"]
    assert reviewer.acknowledge(message).status == 200
    before = lead.until_expired(message)
    state = "invalid_message_state"
    assert reviewer.reply(message).refusal == (409, state, "cannot reply to a expired message")
    assert reviewer.acknowledge(message).refusal == (409, state, "cannot acknowledge a expired message")
    assert lead.cancel(message).refusal == (409, state, "cannot cancel a expired message")
    assert lead.get(message) == before


@ONE_CARRIER
def test_an_expired_request_is_not_pushed_and_both_ends_that_were_away_are_told(pair: tuple[Agent, Agent]) -> None:
    lead, reviewer = pair
    message = lead.send("reviewer", ttlMs=SHORT_MS)["id"]
    other = lead.send("reviewer")["id"]
    third = lead.project.register("third")
    clock = third.send("lead", ttlMs=SHORT_MS)["id"]
    third.until_expired(clock)  # later than `message`, and neither end has read that one
    with reviewer.stream() as stream:
        assert stream.next("expired").message["id"] == message
        assert other in stream.messages_until(other)
        assert message not in [frame.message["id"] for frame in stream.seen if frame.kind == "message"]
    with lead.stream() as stream:
        expired = {stream.next("expired").message["id"], stream.next("expired").message["id"]}
    assert expired == {message, clock}


@ONE_CARRIER
@pytest.mark.requirement("MSG-OFFLINE-STAYS-QUEUED")
def test_a_request_for_an_offline_agent_expires_by_its_ttl(pair: tuple[Agent, Agent]) -> None:
    lead, reviewer = pair
    reviewer.leave()
    message = lead.send("reviewer", ttlMs=SHORT_MS, allowOffline=True)
    assert message["status"] == "queued"
    lead.until_expired(message["id"])
    assert lead.project.register("reviewer").inbox() == []


@ONE_CARRIER
def test_an_expired_request_is_returned_to_its_exact_retry(pair: tuple[Agent, Agent]) -> None:
    lead, _ = pair
    fields: dict[str, Any] = {"ttlMs": SHORT_MS, "idempotencyKey": "key"}
    message = lead.send("reviewer", **fields)["id"]
    lead.until_expired(message)
    answer = lead.try_send("reviewer", **fields)
    assert (answer.status, answer.json["message"]["status"]) == (200, "expired")


@pytest.mark.requirement("MSG-LIMIT-TTL-VARIABLE")
def test_the_hubs_default_ttl_is_configured(brief_hub: HubProcess) -> None:
    project = fresh_project(brief_hub)
    lead, _ = project.register("lead"), project.register("reviewer")
    message = lead.send("reviewer")
    life = datetime.fromisoformat(message["expiresAt"]) - datetime.fromisoformat(message["createdAt"])
    assert life == timedelta(milliseconds=SHORT_MS)


@pytest.mark.requirement("MSG-LIMIT-RETENTION", "MSG-LIMIT-RETENTION-PURGED", "MSG-KEY-RETENTION", "MSG-ERR-NOT-FOUND")
def test_a_final_message_is_purged_after_the_retention_and_its_key_is_free_again(brief_hub: HubProcess) -> None:
    project = fresh_project(brief_hub)
    lead, reviewer = project.register("lead"), project.register("reviewer")
    first = lead.send("reviewer", idempotencyKey="key")["id"]
    assert reviewer.reply(first).status == 200
    kept = lead.send("reviewer", ttlMs=600_000)["id"]

    answer = lead.call("GET", f"/v1/messages/{first}")
    assert answer.status == 200
    for _ in range(120):  # an operator's look purges what is overdue, like the hub's own sweep
        assert lead.wait(kept, 250)["status"] == "queued"
        assert brief_hub.admin_call("GET", f"/v1/ops/snapshot?project={project.name}").status == 200
        answer = lead.call("GET", f"/v1/messages/{first}")
        if answer.status != 200:
            break
    assert answer.refusal == (404, "message_not_found", "message not found")
    again = lead.send("reviewer", idempotencyKey="key")
    assert again["id"] != first
    assert lead.get(kept)["status"] == "queued"


def test_time_is_counted_by_the_hub_alone(hub_process: HubProcess) -> None:
    project: Project = fresh_project(hub_process)
    lead, _ = project.register("lead"), project.register("reviewer")
    fields = {"createdAt": "2001-01-01T00:00:00.000Z", "expiresAt": "2001-01-01T00:00:01.000Z"}
    message = lead.send("reviewer", **fields)
    assert not {message["createdAt"], message["expiresAt"]} & set(fields.values())
    assert lead.get(message["id"])["status"] == "queued"
