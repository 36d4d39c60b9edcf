"""A restarted hub has what it acknowledged: identities, messages, keys, streams (spec/hub.md 8, 11)."""

import signal
from collections.abc import Callable

import pytest

from tests.conftest import fresh_project
from tests.hub_process import Agent, HubProcess


def crowd(hub: HubProcess) -> tuple[Agent, Agent]:
    project = fresh_project(hub)
    return project.register("lead"), project.register("reviewer")


@pytest.mark.requirement("MSG-STATE-QUEUED-HUB-RESTART", "MSG-STORE-SQLITE")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_keeps_ids_messages_and_keys(start_hub: Callable[..., HubProcess], how: signal.Signals) -> None:
    hub = start_hub()
    lead, reviewer = crowd(hub)
    queued = lead.send("reviewer", "queued", idempotencyKey="key")
    delivered = lead.send("reviewer", "delivered")["id"]
    done = lead.send("reviewer", "done")["id"]
    gone = lead.send("reviewer", "gone")["id"]
    reviewer.acknowledge(delivered)
    reviewer.reply(done, "the answer")
    lead.cancel(gone)
    before = [lead.get(message) for message in (queued["id"], delivered, done, gone)]

    hub.stop(how)
    hub.start()

    assert [lead.get(message) for message in (queued["id"], delivered, done, gone)] == before
    assert [found["id"] for found in reviewer.inbox()] == [queued["id"], delivered]
    retry = lead.try_send("reviewer", "queued", idempotencyKey="key")
    assert (retry.status, retry.json["message"]["id"]) == (200, queued["id"])
    assert reviewer.reply(done, "again").code == "duplicate_reply"
    assert lead.send("reviewer")["seq"] == 5
    with reviewer.stream() as stream:
        assert stream.next("message").message == queued
    hub.stop()


@pytest.mark.requirement("MSG-STATE-QUEUED-HUB-RESTART")
def test_an_agent_goes_on_with_its_key_and_gets_what_it_missed(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub()
    lead, reviewer = crowd(hub)
    message = lead.send("reviewer")["id"]
    with lead.stream() as stream:
        token = stream.seen[0].id or ""
    hub.stop(signal.SIGKILL)
    hub.start()
    assert reviewer.reply(message, "after the restart").status == 200
    hub.stop()
    hub.start()
    with lead.stream(headers={"last-event-id": token}) as stream:
        assert stream.next("reply").message["reply"]["content"] == "after the restart"


def test_after_a_restart_a_name_whose_lease_runs_is_still_taken(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub()
    lead, reviewer = crowd(hub)
    hub.stop()
    hub.start()
    assert lead.project.try_register("reviewer").code == "duplicate_agent_name"
    assert lead.send("reviewer")["to"] == reviewer.id
    assert reviewer.project.try_register("reviewer", resume=reviewer.key).status == 200


def test_after_a_restart_who_left_is_still_offline(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub()
    lead, reviewer = crowd(hub)
    reviewer.leave()
    hub.stop()
    hub.start()
    assert lead.try_send("reviewer").code == "target_not_found"
    answer = reviewer.project.try_register("reviewer")
    assert (answer.status, answer.json["agent"]["id"]) == (200, reviewer.id)


def test_sigterm_ends_the_process_well_and_a_stream_with_it(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub()
    lead, _ = crowd(hub)
    stream = hub.stream(f"/v1/events?agentId={lead.id}", lead.headers)
    assert stream.frame().kind == "ready"
    hub.process.send_signal(signal.SIGTERM)
    with pytest.raises((EOFError, ConnectionError)):
        stream.next("never")
    assert hub.stop() in (0, 143)  # its own exit, not the signal's
    assert "Traceback" not in hub.errors
