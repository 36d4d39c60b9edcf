"""What ours adds to the contract: notes, the trail, lists of one's own messages, the limit of a queue."""

from collections.abc import Callable

import pytest

from tests.hub_process import Agent, Connection, HubProcess, Project


@pytest.fixture
def sent(lead: Agent, reviewer: Agent) -> str:
    return str(lead.send("reviewer", "a body that the trail leaves out")["id"])


def test_a_note_is_told_to_the_sender_and_leaves_the_one_reply(lead: Agent, reviewer: Agent, sent: str) -> None:
    with lead.stream("&notes=1") as noted, lead.stream() as plain:
        answer = reviewer.call("POST", f"/v1/messages/{sent}/notes", {"content": "half way"})
        assert answer.status == 201
        assert answer.json["note"]["content"] == "half way"
        frame = noted.next("note")
        assert (frame.data["type"], frame.data["note"]["content"]) == ("note", "half way")
        assert lead.get(sent)["status"] == "queued"
        assert reviewer.reply(sent, "done").status == 200
        assert plain.next("reply", "note").kind == "reply"


def test_only_the_recipient_of_an_open_message_notes(project: Project, lead: Agent, reviewer: Agent, sent: str) -> None:
    path, body = f"/v1/messages/{sent}/notes", {"content": "x"}
    for agent in (lead, project.register("third")):
        assert agent.call("POST", path, body).code == "message_forbidden"
    reviewer.reply(sent)
    assert reviewer.call("POST", path, body).code == "invalid_message_state"


def test_a_message_takes_twenty_notes_of_two_thousand_units(lead: Agent, reviewer: Agent, sent: str) -> None:
    path = f"/v1/messages/{sent}/notes"
    too_long = reviewer.call("POST", path, {"content": "\U0001f600" * 1_000 + "x"})
    assert too_long.refusal == (400, "protocol_error", "content exceeds 2000 characters")
    for _ in range(20):
        assert reviewer.call("POST", path, {"content": "\U0001f600" * 1_000}).status == 201
    answer = reviewer.call("POST", path, {"content": "one more"})
    assert (answer.status, answer.code) == (409, "note_limit_reached")


def test_our_own_routes_refuse_unknown_fields(reviewer: Agent, sent: str) -> None:
    answer = reviewer.call("POST", f"/v1/messages/{sent}/notes", {"content": "x", "colour": "red"})
    assert (answer.status, answer.code) == (400, "protocol_error")


@pytest.mark.requirement("MSG-TROUBLE-QUEUED")
def test_the_trail_says_what_was_seen_and_why_it_is_not_further(lead: Agent, reviewer: Agent, sent: str) -> None:
    answer = lead.call("GET", f"/v1/messages/{sent}/trail")
    assert answer.status == 200
    assert set(answer.json) == {"message", "facts", "standing", "next", "stuck"}
    assert "a body" not in answer.body.decode()
    assert [fact["fact"] for fact in answer.json["facts"]] == ["stored"]
    assert "reviewer" in answer.json["standing"]

    with reviewer.stream() as stream:
        stream.next("message")
        reviewer.acknowledge(sent)
    reviewer.reply(sent)
    facts = lead.call("GET", f"/v1/messages/{sent}/trail").json["facts"]
    assert {"stored", "pushed", "acknowledged", "replied"} <= {fact["fact"] for fact in facts}
    assert [fact["at"] for fact in facts] == sorted(fact["at"] for fact in facts)
    assert all(fact["observer"] for fact in facts)


def test_a_trail_is_for_the_two_ends(project: Project, sent: str) -> None:
    assert project.register("third").call("GET", f"/v1/messages/{sent}/trail").code == "message_forbidden"


def listed(agent: Agent, query: str) -> list[str]:
    answer = agent.call("GET", f"/v1/messages?{query}")
    assert answer.status == 200, answer.body
    return [message["id"] for message in answer.json["messages"]]


def test_an_agent_lists_what_it_sent_newest_first(lead: Agent, reviewer: Agent) -> None:
    queued, delivered, final = (lead.send("reviewer")["id"] for _ in range(3))
    reviewer.acknowledge(delivered)
    reviewer.reply(final)
    reviewer.send("lead")
    assert listed(lead, "state=open") == [delivered, queued]
    assert listed(lead, "state=undelivered&limit=1") == [queued]
    assert listed(lead, "state=final") == [final]
    assert listed(lead, "state=all") == listed(lead, "limit=1000") == [final, delivered, queued]
    assert listed(lead, "state=open&limit=1") == [delivered]


def test_a_reply_is_unread_until_its_asker_has_fetched_it_though_a_stream_had_it(lead: Agent, reviewer: Agent) -> None:
    fetched, pushed, waiting = (lead.send("reviewer")["id"] for _ in range(3))
    with lead.stream() as stream:
        for sent in (fetched, pushed):
            reviewer.reply(sent)
            stream.next("reply")
    lead.wait(fetched)
    reviewer.get(pushed)
    assert listed(lead, "state=unread") == [pushed]
    lead.get(pushed)
    assert listed(lead, "state=unread") == []
    assert listed(lead, "state=open") == [waiting]


@pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)
def test_what_expired_before_anybody_took_it_is_undelivered_too(lead: Agent, reviewer: Agent) -> None:
    untaken, taken = (lead.send("reviewer", ttlMs=1_000)["id"] for _ in range(2))
    reviewer.acknowledge(taken)
    lead.until_expired(taken)
    lead.until_expired(untaken)
    assert listed(lead, "state=undelivered") == [untaken]
    assert listed(lead, "state=final") == [taken, untaken]


@pytest.mark.parametrize("query", ["state=strange", "limit=0", "limit=1001", "limit=x"])
def test_a_list_refuses_what_it_does_not_know(lead: Agent, query: str) -> None:
    answer = lead.call("GET", f"/v1/messages?{query}")
    assert (answer.status, answer.code) == (400, "protocol_error")


def test_a_recipients_queue_has_a_limit_and_a_reply_makes_room(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub(KXM_QUEUE_LIMIT="3")
    project = Project(hub, "demo", hub.admin)
    lead, reviewer = project.register("lead"), project.register("reviewer")
    ids = [lead.send("reviewer")["id"] for _ in range(3)]
    answer = lead.try_send("reviewer", idempotencyKey="key")
    assert (answer.status, answer.code) == (429, "recipient_queue_full")
    assert [found["id"] for found in reviewer.inbox()] == ids
    assert reviewer.send("lead")["status"] == "queued"
    reviewer.acknowledge(ids[0])
    assert lead.try_send("reviewer").code == "recipient_queue_full"
    reviewer.reply(ids[0])
    assert lead.send("reviewer", idempotencyKey="key")["seq"] == 4


def test_a_caller_that_hangs_up_in_a_long_poll_disturbs_nobody(lead: Agent, reviewer: Agent, sent: str) -> None:
    hub = lead.project.hub
    for _ in range(5):
        connection = Connection(hub.address)
        connection.write(hub.raw("GET", f"/v1/messages/{sent}?waitMs=60000", headers=lead.headers))
        connection.close()
    assert reviewer.reply(sent).status == 200
    assert lead.wait(sent)["status"] == "replied"
    assert "Traceback" not in hub.errors
