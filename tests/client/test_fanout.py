import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.client.fanout import answered, failed, key, pending, targets
from peerline.client.refusals import TimedOut
from peerline.core.errors import Invalid
from tests.client.records import a_message

# SHA-256 of the compact JSON, taken once from another implementation (`sha256sum` over the text itself).
KNOWN = {
    '{"prefix":"prod-123-plan","correlationId":null,"target":"reviewer"}': ("prod-123-plan", "Reviewer", None),
    '{"prefix":"p","correlationId":"c-1","target":"größe"}': ("p", "GRÖSSE".replace("SS", "ß"), "c-1"),
    '{"prefix":"a\\"b\\\\","correlationId":null,"target":"x\\n"}': ('a"b\\', "X\n", None),
}


@pytest.mark.parametrize("text", KNOWN)
def test_the_key_is_the_hash_of_this_very_text(text: str) -> None:
    assert key(*KNOWN[text]) == "fanout:" + sha256(text.encode()).hexdigest()


def test_a_key_is_pinned() -> None:
    assert key("prod-123-plan", "reviewer") == "fanout:bfe438a085a6cbeb156d7d11fa46e4d62c39fad460d0e7353289991cc47196b6"


def test_the_workflow_context_is_part_of_the_key_in_its_fixed_order() -> None:
    context = {"attempt": 1, "stageId": "s", "requirementKey": "k", "runId": "run_1", "schema": "x"}
    text = (
        '{"prefix":"p","correlationId":"run_1","target":"a",'
        '"workflowContext":{"runId":"run_1","stageId":"s","requirementKey":"k","attempt":1}}'
    )
    assert key("p", "a", "run_1", context) == "fanout:" + sha256(text.encode()).hexdigest()


def test_a_lone_surrogate_is_hashed_as_its_escape() -> None:
    text = '{"prefix":"\\ud800","correlationId":null,"target":"a"}'
    assert key("\ud800", "a") == "fanout:" + sha256(text.encode()).hexdigest()


@given(st.text(), st.text(), st.none() | st.text())
def test_every_key_has_71_characters_and_fits_the_hub(prefix: str, target: str, correlation_id: str | None) -> None:
    assert len(key(prefix, target, correlation_id)) == 71


def test_targets_are_trimmed_lowered_and_each_once_in_order() -> None:
    assert targets([" Planner ", "reviewer", "PLANNER", "\ufeffReviewer"]) == ("planner", "reviewer")


@pytest.mark.parametrize("names", [[], ["", " "], ["a", "b", "c", "d"]])
def test_none_or_more_than_three_targets_are_refused(names: list[str]) -> None:
    with pytest.raises(Invalid, match="fanout requires between one and three unique targets"):
        targets(names)


def test_each_kind_of_part_has_its_own_members() -> None:
    assert answered("a", a_message("replied")).as_json() == {
        "target": "a",
        "messageId": "msg_1",
        "status": "replied",
        "reply": {"content": "yes", "createdAt": "2026-01-01T10:00:00.000Z"},
    }
    assert pending("a", a_message("queued"), "timed_out").as_json()["messageStatus"] == "queued"
    assert failed("a", TimedOut("no")).as_json() == {"target": "a", "status": "error", "error": "no"}
    assert json.dumps(answered("a", a_message("expired")).as_json())


def test_an_open_message_is_never_told_as_an_answer() -> None:
    with pytest.raises(AssertionError):
        answered("a", a_message("delivered"))
