"""`Prefer: return=minimal`: what the caller has sent or got is not sent back (decision 37)."""

import pytest

from tests.hub_process import Agent

MINIMAL = {"prefer": "return=minimal"}
APPLIED = "return=minimal"
TEXTS = ("content", "reply")


def without_texts(message: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in message.items() if name not in TEXTS}


def test_the_answers_to_send_acknowledge_and_reply_leave_out_the_texts(lead: Agent, reviewer: Agent) -> None:
    sent = lead.call("POST", "/v1/messages", {"target": "reviewer", "content": "look"}, MINIMAL)
    message = sent.json["message"]
    assert (sent.status, sent.header("preference-applied")) == (202, APPLIED)
    assert sent.json == {"message": without_texts(lead.get(message["id"])), "idempotent": False}
    path = f"/v1/messages/{message['id']}"

    taken = reviewer.call("POST", f"{path}/ack", {}, MINIMAL)
    assert (taken.status, taken.header("preference-applied")) == (200, APPLIED)
    assert taken.json == {"message": without_texts(lead.get(message["id"])), "first": True}
    assert reviewer.call("POST", f"{path}/ack", {}, MINIMAL).json["first"] is False

    replied = reviewer.call("POST", f"{path}/reply", {"content": "fine"}, MINIMAL)
    assert (replied.status, replied.header("preference-applied")) == (200, APPLIED)
    assert replied.json == {"message": without_texts(lead.get(message["id"]))}
    assert lead.get(message["id"])["reply"]["content"] == "fine"


def test_a_repeated_send_is_told_whole(lead: Agent, reviewer: Agent) -> None:
    body = {"target": "reviewer", "content": "look", "idempotencyKey": "once"}
    first = lead.call("POST", "/v1/messages", body, MINIMAL).json["message"]
    reviewer.reply(first["id"], "fine")
    again = lead.call("POST", "/v1/messages", body, MINIMAL)
    assert (again.status, again.header("preference-applied")) == (200, None)
    assert again.json == {"message": lead.get(first["id"]), "idempotent": True}
    assert again.json["message"]["reply"]["content"] == "fine"


def test_readings_and_cancel_are_whole(lead: Agent, reviewer: Agent) -> None:
    sent = lead.send("reviewer", "look")
    path = f"/v1/messages/{sent['id']}"
    assert lead.call("GET", path, headers=MINIMAL).json["message"] == sent
    assert reviewer.call("GET", f"/v1/agents/{reviewer.id}/inbox", headers=MINIMAL).json["messages"] == [sent]
    assert lead.call("DELETE", path, headers=MINIMAL).json["message"]["content"] == "look"


def test_a_stream_tells_the_ends_without_the_requests_text_and_requests_whole(lead: Agent, reviewer: Agent) -> None:
    with lead.stream(headers=MINIMAL) as mine, reviewer.stream(headers=MINIMAL) as theirs:
        assert mine.header("preference-applied") == APPLIED
        sent = lead.send("reviewer", "look")
        assert theirs.next("message").message == sent
        reviewer.reply(sent["id"], "fine")
        ended = mine.next("reply").message
        assert ended["reply"]["content"] == "fine"
        assert ended == {k: v for k, v in lead.get(sent["id"]).items() if k != "content"}
        withdrawn = lead.send("reviewer", "never mind")["id"]
        lead.cancel(withdrawn)
        assert "content" not in theirs.next("cancelled").message


def test_what_was_missed_comes_as_short_as_what_is_seen_live(lead: Agent, reviewer: Agent) -> None:
    sent = lead.send("reviewer", "look")["id"]
    reviewer.reply(sent, "fine")
    with lead.stream(headers=MINIMAL) as mine:
        ended = mine.next("reply").message
    assert (ended["id"], ended["reply"]["content"]) == (sent, "fine")
    assert "content" not in ended


@pytest.mark.parametrize(
    ("prefer", "applied"),
    [
        ("return=minimal", True),
        ('Return="minimal"', True),
        ("respond-async, return=minimal; x=1", True),
        ("wait=10,return = minimal", True),
        ("return=representation", False),
        ("return=representation, return=minimal", False),
        ("minimal", False),
        ("", False),
        (",;=,", False),
    ],
)
def test_what_is_preferred_is_read_as_the_standard_says(
    lead: Agent, reviewer: Agent, prefer: str, applied: bool
) -> None:
    answer = lead.call("POST", "/v1/messages", {"target": "reviewer", "content": "look"}, {"prefer": prefer})
    assert answer.status == 202
    assert ("content" not in answer.json["message"]) is applied
    assert (answer.header("preference-applied") == APPLIED) is applied


def test_a_refusal_is_whole(lead: Agent) -> None:
    answer = lead.call("POST", "/v1/messages", {"target": "nobody", "content": "look"}, MINIMAL)
    assert (answer.status, answer.header("preference-applied")) == (404, None)
    assert answer.json["code"]
