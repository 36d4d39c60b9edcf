"""The pure parts of `kxm peer fanout`; what it does with a hub stands in tests/acceptance."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.cli.hot_address import Address
from peerline.cli.hot_fanout import Leg, key, targets
from peerline.cli.hot_http import Connection
from peerline.cli.hot_output import Failure
from peerline.client import fanout as library
from peerline.core.text import trim

CONTEXT = {"attempt": 2, "requirementKey": "peers", "stageId": "plan", "runId": "run_1"}


def leg(**message: object) -> Leg:
    found = Leg("reviewer", Connection(Address("http://127.0.0.1:1"), {}))
    found.message = {"id": "msg_1", "expiresAt": "2026-09-24T18:30:24.688Z", **message}
    return found


@pytest.mark.requirement("MSG-FANOUT-REPEAT")
@given(st.text(), st.text(min_size=1), st.none() | st.text(min_size=1), st.booleans())
def test_the_key_is_the_one_that_every_other_client_computes(
    prefix: str, target: str, correlation_id: str | None, bound: bool
) -> None:
    context = CONTEXT if bound else None
    ours = key(prefix, target.lower(), correlation_id, context)
    assert ours == library.key(prefix, target.lower(), correlation_id, context)
    assert len(ours) == 71


def test_the_key_is_the_hash_of_the_contracts_compact_json() -> None:
    compact = b'{"prefix":"prod-123-plan","correlationId":null,"target":"reviewer"}'
    assert key("prod-123-plan", "reviewer", None, None) == "fanout:" + sha256(compact).hexdigest()


def test_names_are_trimmed_lower_cased_and_merged_in_order() -> None:
    assert targets([" Planner ", "reviewer", "PLANNER", "\ufeff"]) == ["planner", "reviewer"]


@pytest.mark.parametrize("names", [[], [" "], ["a", "b", "c", "d"]])
def test_one_to_three_are_asked(names: list[str]) -> None:
    with pytest.raises(Failure, match=r"^fanout requires between one and three unique targets$"):
        targets(names)


@given(st.text(st.characters(categories=("Zs", "Cc", "Zl", "Zp", "Ll", "Cf"))))
def test_a_name_is_trimmed_as_the_hub_trims(name: str) -> None:
    if trim(name):
        assert targets([name]) == [trim(name).lower()]


@pytest.mark.requirement("MSG-OUT-FANOUT", "MSG-FANOUT-ENTRY")
def test_a_pending_entry_is_what_the_guide_prints() -> None:
    assert leg(status="queued").entry("timed_out") == {
        "target": "reviewer",
        "messageId": "msg_1",
        "status": "pending",
        "messageStatus": "queued",
        "expiresAt": "2026-09-24T18:30:24.688Z",
        "waitStatus": "timed_out",
    }


def test_a_final_entry_holds_the_reply_or_the_reason() -> None:
    reply = {"content": "yes", "createdAt": "2026-09-24T18:30:24.688Z"}
    known = {"target": "reviewer", "messageId": "msg_1"}
    assert leg(status="replied", reply=reply).entry("timed_out") == {**known, "status": "replied", "reply": reply}
    assert leg(status="expired", error="late").entry("timed_out") == {**known, "status": "expired", "error": "late"}
