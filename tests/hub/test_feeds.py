"""Streams: everything once, in order, across pauses, restarts and resume tokens."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from peerline.hub.feeds import Feed
from tests.hub.parts import Parts, Screen, ids


def shown(screen: Screen, kind: str = "message") -> list[str]:
    return [json.loads(data)["message"]["id"] for data in screen.frames(kind)]


def test_every_queued_request_comes_again_even_one_older_than_an_acknowledged_one(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = [hub.send(lead, "reviewer", str(number)) for number in range(5)]
    hub.messages.acknowledge(sent[3].id, reviewer).result()
    _, screen = hub.watch(reviewer)
    assert shown(screen) == ids([sent[0], sent[1], sent[2], sent[4]])


def test_what_is_committed_while_the_stream_is_open_comes_once(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    first = hub.send(lead, "reviewer")
    _, screen = hub.watch(reviewer)
    second = hub.send(lead, "reviewer")
    hub.messages.acknowledge(first.id, reviewer).result()
    assert shown(screen) == ids([first, second])


def test_two_streams_of_one_agent_both_get_everything(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    _, one = hub.watch(reviewer)
    _, other = hub.watch(reviewer)
    sent = hub.send(lead, "reviewer")
    assert shown(one) == shown(other) == [sent.id]


def test_a_full_transport_gets_the_rest_when_it_can_take_more(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    screen = Screen()
    feed, _ = hub.watch(reviewer, screen=screen)
    screen.pause_after = 3
    sent = [hub.send(lead, "reviewer", str(number)) for number in range(40)]
    assert len(screen.written) == 3
    while screen.paused:
        screen.paused = False
        screen.pause_after = len(screen.written) + 7
        feed.resumed()
    assert shown(screen) == ids(sent)


def test_a_backlog_of_thousands_is_read_in_pages(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = [hub.send(lead, "reviewer", "x") for _ in range(900)]
    _, screen = hub.watch(reviewer)
    assert shown(screen) == ids(sent)
    late = hub.send(lead, "reviewer")
    assert shown(screen)[-1] == late.id


def test_a_reply_that_nobody_was_there_for_waits_for_the_next_stream_and_comes_once(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")
    hub.messages.reply(sent.id, reviewer, "ok").result()
    feed, screen = hub.watch(lead)
    assert shown(screen, "reply") == [sent.id]
    hub.leave(feed)
    hub.facts.flush()
    _, again = hub.watch(lead)
    assert shown(again, "reply") == []


def test_a_reply_that_was_read_by_get_is_not_owed_to_the_stream(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = [hub.send(lead, "reviewer") for _ in range(3)]
    for message in sent:
        hub.messages.reply(message.id, reviewer, "ok").result()
    hub.messages.get(sent[1].id, lead).result()
    hub.facts.flush()
    _, screen = hub.watch(lead)
    assert shown(screen, "reply") == ids([sent[0], sent[2]])


def test_a_resume_token_replays_exactly_what_came_after_it(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = [hub.send(lead, "reviewer") for _ in range(4)]
    feed, screen = hub.watch(lead)
    for message in sent[:2]:
        hub.messages.reply(message.id, reviewer, "ok").result()
    token = screen.tokens()[-1]
    hub.leave(feed)
    for message in sent[2:]:
        hub.messages.reply(message.id, reviewer, "ok").result()
    _, again = hub.watch(lead, resume_after=token)
    assert shown(again, "reply") == ids(sent[2:])


def test_a_token_repeats_on_every_frame_until_the_next_own_event(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    _, screen = hub.watch(reviewer)
    sent = [hub.send(lead, "reviewer") for _ in range(3)]
    hub.messages.cancel(sent[0].id, lead).result()
    hub.send(lead, "reviewer")
    assert screen.tokens() == [0, 0, 0, 0, 1, 1]


def test_a_token_from_another_store_hides_nothing(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    _, screen = hub.watch(lead, resume_after=9_999)
    sent = hub.send(lead, "reviewer")
    hub.messages.reply(sent.id, reviewer, "ok").result()
    assert shown(screen, "reply") == [sent.id]


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_order_of_sends_acks_pauses_and_reconnects_each_open_request_is_seen(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    hub = Parts(None)
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    screen = Screen()
    feed, _ = hub.watch(reviewer, screen=screen)
    sent: list[str] = []
    taken: set[str] = set()
    steps = st.sampled_from(["send", "ack", "pause", "resume", "reconnect"])
    for step in data.draw(st.lists(steps, max_size=40)):
        if step == "send":
            sent.append(hub.send(lead, "reviewer").id)
        elif step == "ack" and sent:
            chosen = data.draw(st.sampled_from(sent))
            hub.messages.acknowledge(chosen, reviewer).result()  # type: ignore[arg-type]
            taken.add(chosen)
        elif step == "pause":
            screen.paused = True
        elif step == "resume":
            screen.paused = False
            feed.resumed()
        elif step == "reconnect":
            hub.leave(feed)
            screen = Screen()
            feed, _ = hub.watch(reviewer, screen=screen)
            assert shown(screen) == [m for m in sent if m not in taken]
    screen.paused = False
    feed.resumed()
    seen = shown(screen)
    assert len(seen) == len(set(seen)), "once a stream"
    assert {m for m in sent if m not in taken} <= set(seen)
    hub.connection.close()


def test_events_of_both_roles_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    hub = Parts(tmp_path)
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    asked = hub.send(lead, "reviewer")
    got = hub.send(reviewer, "lead")
    hub.messages.cancel(got.id, reviewer).result()
    hub.messages.reply(asked.id, reviewer, "ok").result()
    _, screen = hub.watch(lead)
    kinds = [data.split(b"\n")[0].decode() for data in screen.written]
    assert kinds == ["event: ready", "event: cancelled", "event: reply"]


@pytest.mark.parametrize("presence_only", [False, True])
def test_ready_is_the_first_frame_and_who_came_meanwhile_is_told_behind_it(hub: Parts, presence_only: bool) -> None:
    reviewer, screen = hub.agent("reviewer"), Screen()
    feed = Feed(reviewer, hub.store, hub.facts, key=b"k", token_digest=None, presence_only=presence_only)
    hub.wakeups.add(feed)
    hub.agent("lead")  # comes between the listening and the first look
    assert screen.written == []
    feed.open(screen, lambda: b"{}")
    hub.agent("planner")
    kinds = [data.split(b"\n", 1)[0] for data in screen.written if data.startswith(b"event:")]
    assert kinds == [b"event: ready", b"event: presence", b"event: presence"]
    assert [json.loads(data)["agent"]["name"] for data in screen.frames("presence")] == ["lead", "planner"]
