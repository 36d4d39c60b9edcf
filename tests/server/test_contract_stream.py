"""The push stream (spec/hub.md 3.9; replay and resume tokens: decision 3). Barriers instead of waits for silence."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import fresh_project
from tests.hub_process import Agent, Frame, HubProcess, Project, Stream


def own_events_until(stream: Stream, message_id: str) -> list[str]:
    """The ids of the own events up to and with this one."""
    ids: list[str] = []
    while message_id not in ids:
        ids.append(stream.next("reply", "cancelled", "expired").message["id"])
    return ids


def replied(sender: Agent, recipient: Agent) -> str:
    message = sender.send(recipient.name)["id"]
    assert recipient.reply(message).status == 200
    return str(message)


def test_a_stream_opens_with_its_headers_and_the_ready_frame(lead: Agent) -> None:
    with lead.project.hub.stream(f"/v1/events?agentId={lead.id}", lead.headers) as stream:
        assert stream.status == 200
        assert (stream.header("content-type") or "").startswith("text/event-stream")
        assert stream.header("cache-control") == "no-cache, no-transform"
        assert stream.header("x-accel-buffering") == "no"
        assert stream.header("referrer-policy") == "no-referrer"
        assert re.fullmatch(r"req_[0-9a-f]{32}", stream.header("x-request-id") or "")
        ready = stream.frame()
        assert (ready.kind, ready.data["agent"]["id"]) == ("ready", lead.id)
        assert "type" not in ready.data
        assert "agentKey" not in ready.data["agent"]


def test_each_frame_is_an_event_line_one_data_line_and_an_id_line(lead: Agent, reviewer: Agent) -> None:
    with reviewer.stream() as stream:
        sent = lead.send("reviewer", "two\nlines\r\nand \u2028 separators")
        frame = stream.next("message")
        assert sorted(line.split(":")[0] for line in frame.lines) == ["data", "event", "id"]
        assert frame.data == {"type": "message", "message": sent}
        assert frame.id is not None
        assert frame.id.isdigit()


@pytest.mark.requirement("MSG-ERR-FORBIDDEN")
@pytest.mark.parametrize(
    ("query", "headers", "status", "code"),
    [
        ("", {}, 400, "protocol_error"),
        ("?agentId=", {}, 400, "protocol_error"),
        ("?agentId=" + "a" * 81, {}, 400, "protocol_error"),
        ("?agentId=agt_" + "0" * 32, {}, 401, "invalid_agent_identity"),
        ("?agentId=ID", {"x-kxm-agent-key": "wrong"}, 401, "invalid_agent_identity"),
        ("?agentId=ID", {"x-kxm-agent-key": ""}, 401, "invalid_agent_identity"),
        ("?agentId=ID", {"authorization": "Bearer wrong"}, 401, "invalid_auth"),
        ("?agentId=ID&presenceOnly=true", {}, 403, "presence_stream_forbidden"),
    ],
)
def test_a_stream_is_refused_like_any_call(
    lead: Agent, query: str, headers: dict[str, str], status: int, code: str
) -> None:
    path = f"/v1/events{query.replace('ID', lead.id)}"
    with lead.project.hub.stream(path, {**lead.headers, **headers}) as stream:
        assert (stream.status, stream.refused()["code"]) == (status, code)


@pytest.mark.requirement("MSG-REPLAY-UNTIL-ACK", "MSG-STATE-DELIVERED-NOT-PUSHED")
def test_of_five_messages_of_which_two_are_acknowledged_a_reconnect_brings_exactly_three(
    lead: Agent, reviewer: Agent
) -> None:
    ids = [str(lead.send("reviewer", f"{number}")["id"]) for number in range(5)]
    with reviewer.stream() as stream:
        assert stream.messages_until(ids[4]) == ids
        reviewer.acknowledge(ids[1])
        reviewer.acknowledge(ids[4])  # newer than three that are not: they must come back all the same
    for _ in range(2):
        with reviewer.stream() as stream:
            barrier = lead.send("reviewer", "barrier")["id"]
            assert stream.messages_until(barrier) == [ids[0], ids[2], ids[3], barrier]
            assert reviewer.acknowledge(barrier).status == 200


def test_a_replayed_request_is_the_same_record(lead: Agent, reviewer: Agent) -> None:
    sent = lead.send("reviewer", "  exactly\n", correlationId="c", delivery="steer")
    for _ in range(2):
        with reviewer.stream() as stream:
            assert stream.next("message").message == sent


def test_a_stream_offers_a_request_once(lead: Agent, reviewer: Agent) -> None:
    first = lead.send("reviewer")["id"]
    with reviewer.stream() as stream:
        second = lead.send("reviewer")["id"]
        third = lead.send("reviewer")["id"]
        assert stream.messages_until(third) == [first, second, third]


@pytest.mark.requirement("MSG-TROUBLE-QUEUED")
def test_every_stream_of_an_agent_gets_every_message(lead: Agent, reviewer: Agent) -> None:
    with reviewer.stream() as one, reviewer.stream() as two:
        sent = lead.send("reviewer")["id"]
        assert one.next("message").message["id"] == two.next("message").message["id"] == sent


@pytest.mark.requirement("MSG-CANCEL-EVENT")
def test_a_reply_is_pushed_to_the_sender_and_a_cancellation_to_the_recipient(lead: Agent, reviewer: Agent) -> None:
    with lead.stream() as sender, reviewer.stream() as recipient:
        message = lead.send("reviewer")["id"]
        done = reviewer.reply(message, "ok").json["message"]
        assert sender.next("reply").data == {"type": "reply", "message": done}
        other = lead.send("reviewer")["id"]
        gone = lead.cancel(other).json["message"]
        assert recipient.next("cancelled").data == {"type": "cancelled", "message": gone}
        assert [frame.kind for frame in recipient.seen if frame.kind != "presence"] == [
            "ready", "message", "message", "cancelled",
        ]  # fmt: skip


def test_an_acknowledgement_and_a_second_cancel_push_nothing(lead: Agent, reviewer: Agent) -> None:
    with lead.stream() as sender, reviewer.stream() as recipient:
        first = lead.send("reviewer")["id"]
        reviewer.acknowledge(first)
        lead.cancel(first)
        lead.cancel(first)
        barrier = replied(lead, reviewer)
        assert own_events_until(sender, barrier) == [barrier]
        assert recipient.next("cancelled").message["id"] == first
        last = lead.send("reviewer")["id"]
        lead.cancel(last)
        assert recipient.next("cancelled").message["id"] == last


def test_a_sender_that_was_away_gets_the_reply_it_missed_once(lead: Agent, reviewer: Agent) -> None:
    message = replied(lead, reviewer)
    with lead.stream() as stream:
        frame = stream.next("reply")
        assert frame.message["id"] == message
        assert frame.message["reply"]["content"] == "done"
    with lead.stream() as stream:
        barrier = replied(lead, reviewer)
        assert own_events_until(stream, barrier) == [barrier]


def test_an_outcome_that_was_read_is_not_replayed(lead: Agent, reviewer: Agent) -> None:
    read, waited, missed = (replied(lead, reviewer) for _ in range(3))
    lead.get(read)
    lead.wait(waited, 1_000)
    with lead.stream() as stream:
        assert own_events_until(stream, missed) == [missed]


@pytest.mark.parametrize("seen", [0, 1, 2, 3])
def test_last_event_id_replays_the_own_events_above_it_even_those_that_were_seen(
    lead: Agent, reviewer: Agent, seen: int
) -> None:
    with lead.stream() as stream:
        ids = [replied(lead, reviewer) for _ in range(3)]
        assert own_events_until(stream, ids[2]) == ids
        tokens = [frame.id or "" for frame in stream.seen if frame.kind in ("ready", "reply")]
    assert [int(token) for token in tokens] == sorted({int(token) for token in tokens})
    with lead.stream(headers={"last-event-id": tokens[seen]}) as stream:
        assert stream.seen[0].id == tokens[seen]
        barrier = replied(lead, reviewer)
        assert own_events_until(stream, barrier) == [*ids[seen:], barrier]


def test_frames_that_are_no_own_events_repeat_the_token(project: Project, lead: Agent, reviewer: Agent) -> None:
    def tokens(frames: list[Frame]) -> set[str | None]:
        return {frame.id for frame in frames}

    with lead.stream() as stream:
        reviewer.send("lead")
        stream.next("message")
        project.register("third")
        stream.next("presence")
        assert len(tokens(stream.seen)) == 1
        replied(lead, reviewer)
        token = stream.next("reply").id
        reviewer.send("lead")
        assert stream.next("message").id == token


def test_message_frames_ignore_last_event_id(lead: Agent, reviewer: Agent) -> None:
    first = lead.send("reviewer")["id"]
    with reviewer.stream(headers={"last-event-id": "999999"}) as stream:
        assert stream.next("message").message["id"] == first


@pytest.mark.parametrize("token", ["nonsense", "-1", "1.5", "9" * 40])
def test_a_token_that_is_none_of_ours_breaks_no_stream(lead: Agent, reviewer: Agent, token: str) -> None:
    with lead.stream(headers={"last-event-id": token}) as stream:
        sent = reviewer.send("lead")["id"]
        assert stream.next("message").message["id"] == sent


def test_a_cancelled_request_is_not_pushed_any_more(lead: Agent, reviewer: Agent) -> None:
    lead.cancel(lead.send("reviewer")["id"])
    with reviewer.stream() as stream:
        barrier = lead.send("reviewer")["id"]
        assert stream.messages_until(barrier) == [barrier]


def test_a_recipient_that_was_away_learns_of_a_cancellation(lead: Agent, reviewer: Agent) -> None:
    message = lead.send("reviewer")["id"]
    reviewer.acknowledge(message)
    lead.cancel(message)
    with reviewer.stream() as stream:
        assert stream.next("cancelled").message["id"] == message


def test_an_agent_that_left_keeps_its_stream_and_gets_what_is_queued_when_it_is_back(
    lead: Agent, reviewer: Agent
) -> None:
    with reviewer.stream() as stream:
        reviewer.leave()
        message = lead.send("reviewer", allowOffline=True)["id"]
        assert reviewer.call("POST", f"/v1/agents/{reviewer.id}/heartbeat", {}).status == 200
        assert stream.next("message").message["id"] == message


def test_closing_a_stream_does_not_change_presence(lead: Agent, reviewer: Agent) -> None:
    reviewer.stream().close()
    agents = lead.call("GET", "/v1/agents").json["agents"]
    assert {agent["name"]: agent["presence"] for agent in agents}["reviewer"] == "online"


def test_a_presence_stream_is_for_the_model_tui_and_brings_presence_only(project: Project, reviewer: Agent) -> None:
    watcher = project.register("watcher", model="tui")
    before = reviewer.send("watcher")["id"]
    with watcher.stream("&presenceOnly=true") as stream:
        assert stream.header("x-kxm-events-mode") == "presence"
        reviewer.send("watcher")
        other = project.register("other")
        assert stream.frame().data["agent"]["id"] == other.id
        other.leave()
        assert stream.frame().data["agent"]["presence"] == "offline"
    assert watcher.get(before)["status"] == "queued"


def test_presence_stays_in_its_project(hub_process: HubProcess, lead: Agent, reviewer: Agent) -> None:
    with lead.stream() as stream:
        fresh_project(hub_process).register("stranger")
        barrier = reviewer.send("lead")["id"]
        assert stream.messages_until(barrier) == [barrier]
        assert [frame for frame in stream.seen if frame.kind == "presence"] == []


def test_messages_sent_by_many_at_once_arrive_once_each_in_the_order_of_their_sequence(
    project: Project, reviewer: Agent
) -> None:
    senders = [project.register(f"sender-{number}") for number in range(6)]
    with reviewer.stream() as stream:
        with ThreadPoolExecutor(6) as pool:
            sent = [m for found in pool.map(lambda s: [s.send("reviewer") for _ in range(5)], senders) for m in found]
        arrived = [stream.next("message").message for _ in sent]
    assert sorted(json.dumps(m, sort_keys=True) for m in arrived) == sorted(json.dumps(m, sort_keys=True) for m in sent)
    assert [m["seq"] for m in arrived] == list(range(1, 31))


def test_a_long_queue_and_many_missed_outcomes_come_once_each_in_order(lead: Agent, reviewer: Agent) -> None:
    outcomes = [replied(lead, reviewer) for _ in range(40)]
    queued = [str(reviewer.send("lead", f"{number}")["id"]) for number in range(40)]
    for headers in ({}, {"last-event-id": "0"}):
        with lead.stream(headers=headers) as stream:
            barrier = str(reviewer.send("lead", "barrier")["id"])
            assert stream.messages_until(barrier) == [*queued, barrier]
            told = [frame.message["id"] for frame in stream.seen if frame.kind == "reply"]
            told += own_events_until(stream, outcomes[-1]) if outcomes[-1] not in told else []
            assert told == outcomes
        assert lead.cancel(barrier).code == "message_forbidden"
        assert lead.acknowledge(barrier).status == 200
