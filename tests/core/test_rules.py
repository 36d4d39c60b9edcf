"""The small rules: text, rate, access, leases, trail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.core.access import Access, ProjectToken, digest
from peerline.core.agent import Presence, check_name
from peerline.core.draft import check_hops
from peerline.core.errors import (
    HopLimitReached,
    IdempotencyConflict,
    Invalid,
    LeaseExpired,
    LeaseHeld,
    LeaseNotFound,
    LeaseSuperseded,
    NameReserved,
)
from peerline.core.ids import AgentId
from peerline.core.lease import acquired, held, renewed
from peerline.core.message import Message
from peerline.core.rate import RateWindow
from peerline.core.standing import Recipient, standing
from peerline.core.text import skeleton, trim, utf16_length
from peerline.core.trail import Fact, Observed
from tests.core.test_message import LEAD, REVIEWER, a_message
from tests.hub.parts import draft

# --- text


@given(st.text(st.characters(codec="utf-8")))
def test_length_counts_utf16_code_units(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("kept", ["\u0085", "\x1c", "\x1f", "\u200b", "\u180e"])
def test_trim_keeps_what_ecmascript_does_not_call_space(kept: str) -> None:
    assert trim(f" {kept}a{kept}\ufeff\u3000") == f"{kept}a{kept}"


@pytest.mark.parametrize("name", ["a@b", "a/b", "a\nb", "a\u202eb", "a\u200bb", "\ud800", "a\x7f", "a\u2028"])
def test_a_name_that_could_fake_a_line_or_an_address_is_refused(name: str) -> None:
    with pytest.raises(Invalid):
        check_name(name)


@pytest.mark.parametrize("name", ["komnet-gateway", "Human", "SYSTEM", "admin"])
def test_a_name_that_would_speak_for_others_is_refused(name: str) -> None:
    with pytest.raises(NameReserved):
        check_name(name)


@pytest.mark.parametrize(("one", "other"), [("rnodel", "model"), ("l0gin", "1ogin"), ("a_b", "a-b"), ("BOB", "bob")])
def test_lookalikes_share_a_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


def test_a_chain_stops_at_its_limit_and_says_so() -> None:
    check_hops(4, 5)
    with pytest.raises(HopLimitReached, match=r"^hop limit reached \(5/5\): "):
        check_hops(5, 5)


# --- idempotency


@pytest.mark.parametrize(
    "change",
    [
        {"target": "other"},
        {"body": "something else"},
        {"delivery": "steer"},
        {"correlation_id": "c"},
        {"reply_to": "r"},
        {"hops": 1},
        {"max_hops": 6},
        {"ttl_ms": 1_001},
    ],
)
def test_a_key_with_any_different_field_is_a_conflict(change: dict[str, object]) -> None:
    original = a_message(expires_at=1_000)
    draft("REVIEWER", ttl_ms=1_000).repeated(original)
    draft(REVIEWER, ttl_ms=1_000, allow_offline=True).repeated(original)
    with pytest.raises(IdempotencyConflict):
        draft(**({"target": "reviewer", "ttl_ms": 1_000} | change)).repeated(original)  # type: ignore[arg-type]


# --- rate


def test_the_request_after_the_last_allowed_one_waits_for_the_window() -> None:
    rates = RateWindow(3, 60_000)
    assert [rates.count("a", 10_000) for _ in range(4)] == [2, 1, 0, -1]
    assert (rates.count("a", 30_500), rates.retry_after_s("a", 30_500)) == (-2, 40)
    assert rates.count("b", 30_500) == 2
    assert rates.count("a", 70_000) == 2


@given(st.lists(st.integers(0, 10_000), max_size=300))
def test_however_many_callers_come_memory_stays_bounded(callers: list[int]) -> None:
    rates = RateWindow(1, 1_000, most_keys=20)
    for now, caller in enumerate(callers):
        rates.count(str(caller), now)
        assert len(rates) <= 20


# --- access


def a_token(
    secret: str, *, listed: bool = True, expires_at: int | None = None, revoked_at: int | None = None
) -> ProjectToken:
    return ProjectToken(f"tok_{secret}", "p", digest(secret), "", listed, 0, expires_at, revoked_at)


def test_a_listed_project_refuses_the_admin_token_and_a_minted_one_does_not_list_it() -> None:
    access = Access("admin", {"fixed": "f"}, loopback=True)
    assert not access.project("fixed", digest("admin"), 0)
    assert access.project("fixed", digest("f"), 0)
    assert access.project("p", digest("admin"), 0)
    access.put([a_token("minted", listed=False)])
    assert access.project("p", digest("admin"), 0)
    assert access.project("p", digest("minted"), 0)
    access.put([a_token("created")])
    assert not access.project("p", digest("admin"), 0)
    assert access.project("p", digest("created"), 0)
    assert not access.project("q", digest("created"), 0)


def test_an_ended_token_opens_nothing() -> None:
    access = Access("admin", {}, loopback=True)
    access.put([a_token("short", expires_at=10), a_token("gone", revoked_at=5), a_token("good")])
    assert access.project("p", digest("short"), 9)
    assert not access.project("p", digest("short"), 10)
    assert not access.project("p", digest("gone"), 9)
    assert not access.project("p", None, 9)


def test_without_any_token_whoever_is_on_this_machine_is_let_in() -> None:
    assert Access(None, {}, loopback=True).project("p", None, 0)
    assert Access(None, {}, loopback=True).admin(None)
    assert not Access(None, {}, loopback=False).admin(None)


# --- leases


def test_a_lease_has_one_holder_and_its_token_only_grows() -> None:
    bob, eve = AgentId("bob"), AgentId("eve")
    first, again = acquired(None, project="p", name="n", by=bob, by_name="bob", ttl_ms=100, now=0)
    assert (first.fencing_token, again) == (1, False)
    with pytest.raises(LeaseHeld):
        acquired(first, project="p", name="n", by=eve, by_name="eve", ttl_ms=100, now=99)
    second, again = acquired(first, project="p", name="n", by=eve, by_name="eve", ttl_ms=100, now=100)
    assert (second.fencing_token, second.holder, again) == (2, eve, False)
    with pytest.raises(LeaseSuperseded):
        renewed(second, by=bob, token=1, ttl_ms=100, now=101)
    assert renewed(second, by=eve, token=2, ttl_ms=100, now=150).expires_at == 250
    with pytest.raises(LeaseExpired):
        renewed(second, by=eve, token=2, ttl_ms=100, now=200)
    assert held(second, by=eve, token=2) == second
    with pytest.raises(LeaseNotFound):
        held(None, by=eve, token=2)


# --- the truth in one line


@pytest.mark.parametrize(
    ("presence", "streams", "pushed", "why"),
    [
        (Presence.OFFLINE, 0, False, "stored; reviewer is offline"),
        (Presence.ONLINE, 0, False, "stored; reviewer is online but has no open stream"),
        (Presence.ONLINE, 1, False, "stored; being pushed to reviewer"),
        (Presence.ONLINE, 1, True, "pushed to reviewer, which has not taken it yet"),
    ],
)
def test_a_queued_message_says_why_it_is_not_further(presence: Presence, streams: int, pushed: bool, why: str) -> None:
    recorded = [Fact(1, Observed.PUSHED, REVIEWER)] if pushed else []
    assert standing(a_message(), Recipient(presence, streams), recorded).why == why


def test_a_reply_that_only_its_author_read_again_is_not_called_fetched() -> None:
    replied = a_message().replied(REVIEWER, "ok", 5)
    read_by_recipient = [Fact(6, Observed.FINAL_READ, REVIEWER)]
    assert "has not fetched" in standing(replied, Recipient(Presence.ONLINE, 1), read_by_recipient).why
    read_by_sender = [Fact(6, Observed.FINAL_READ, LEAD)]
    assert standing(replied, Recipient(Presence.ONLINE, 1), read_by_sender).next == "nothing to do"


def test_a_request_that_was_read_is_not_called_unseen() -> None:
    read = [Fact(2, Observed.READ, REVIEWER)]
    assert standing(a_message(), Recipient(Presence.OFFLINE), read).why == (
        "read by reviewer, which has not replied yet, and is offline now"
    )


def test_each_end_of_a_message_is_told_its_own_next_step() -> None:
    message = a_message()
    replied, cancelled = message.replied(REVIEWER, "ok", 5), message.cancelled(LEAD, 5)

    def step(of: Message, reader: AgentId) -> str:
        return standing(of, Recipient(Presence.ONLINE, 1), [], reader).next

    assert step(message, REVIEWER) == f'kxm peer reply {message.id} "TEXT"'
    assert step(message, LEAD) == "wait a moment"
    assert (step(replied, REVIEWER), step(replied, LEAD)) == ("nothing to do", f"kxm peer get {message.id}")
    assert step(cancelled, REVIEWER) == "stop work on it; what was already done is not undone"
    expired = message.expired(message.expires_at)
    assert (step(expired, REVIEWER), step(expired, LEAD)) == (
        "nothing to do",
        f"if it still matters: kxm peer resend {message.id}",
    )
