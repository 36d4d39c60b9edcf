"""The history checker is tested by defects: each seeded one must be caught, a clean history must pass."""

from dataclasses import replace

import pytest

from .history import Act, Found, History, Operation, Record, violations

HOUR_MS = 3_600_000


def a_row(number: int, **changes: object) -> Record:
    row = Record(
        id=f"msg_{number}",
        sender="agt_a",
        recipient="agt_b",
        content=f"task {number}",
        key=f"key {number}",
        status="queued",
        reply=None,
        expires_ms=HOUR_MS,
    )
    return replace(row, **changes)  # type: ignore[arg-type]


def a_life(history: History, number: int, *, answered: str | None) -> Record:
    """One message sent, acknowledged and, with `answered`, replied to; every step answered by the hub."""
    row = a_row(number)
    sent = history.begin(row.sender, Act.SEND, text=row.content, key=row.key)
    history.end(sent, 202, "", row)
    row = replace(row, status="delivered")
    history.end(history.begin(row.recipient, Act.ACKNOWLEDGE, message=row.id), 200, "", row)
    if answered is not None:
        row = replace(row, status="replied", reply=answered)
        replied = history.begin(row.recipient, Act.REPLY, message=row.id, text=answered)
        history.end(replied, 200, "", row)
    return row


def names(operations: list[Operation], found: Found) -> set[str]:
    return {line.split(":")[0] for line in violations(operations, found)}


@pytest.fixture
def history() -> History:
    return History()


def test_a_clean_history_passes(history: History) -> None:
    rows = [a_life(history, 1, answered="yes"), a_life(history, 2, answered=None)]
    found = Found(rows=rows, now_ms=0, inboxes={"agt_b": frozenset({"msg_2"})}, offered={"agt_b": frozenset()})
    assert violations(history.operations, found) == []


def test_a_dropped_acknowledged_row_is_caught(history: History) -> None:
    kept, _ = a_life(history, 1, answered="yes"), a_life(history, 2, answered="no")
    assert names(history.operations, Found(rows=[kept], now_ms=0)) == {"I1 lost"}


def test_a_second_accepted_reply_is_caught(history: History) -> None:
    row = a_life(history, 1, answered="yes")
    again = replace(row, reply="no")
    history.end(history.begin("agt_b", Act.REPLY, message=row.id, text="no"), 200, "", again)
    assert "I3 second reply" in names(history.operations, Found(rows=[row], now_ms=0))


def test_a_reply_overwritten_in_the_store_is_caught(history: History) -> None:
    row = a_life(history, 1, answered="yes")
    assert "I3 second reply" in names(history.operations, Found(rows=[replace(row, reply="no")], now_ms=0))


@pytest.mark.parametrize("status", ["cancelled", "expired", "delivered", "queued"])
def test_a_wrong_final_state_is_caught(history: History, status: str) -> None:
    row = a_life(history, 1, answered="yes")
    wrong = replace(row, status=status, reply=None)
    assert {"I1 lost", "I2 moved back"} <= names(history.operations, Found(rows=[wrong], now_ms=2 * HOUR_MS))


def test_a_final_state_that_changes_between_two_reads_is_caught(history: History) -> None:
    row = a_life(history, 1, answered=None)
    for status in ("expired", "cancelled"):
        history.end(history.begin("agt_a", Act.GET, message=row.id), 200, "", replace(row, status=status))
    assert "I2 moved back" in names(history.operations, Found(rows=[replace(row, status="expired")], now_ms=HOUR_MS))


def test_reads_that_overlap_may_disagree(history: History) -> None:
    row = a_life(history, 1, answered=None)
    early, late = history.begin("agt_a", Act.GET, message=row.id), history.begin("agt_a", Act.GET, message=row.id)
    history.end(late, 200, "", replace(row, status="expired"))
    history.end(early, 200, "", row)
    found = Found(rows=[replace(row, status="expired")], now_ms=HOUR_MS)
    assert violations(history.operations, found) == []


def test_an_expiry_before_its_time_is_caught(history: History) -> None:
    row = replace(a_life(history, 1, answered=None), status="expired")
    assert names(history.operations, Found(rows=[row], now_ms=HOUR_MS - 1)) == {"I9 too early"}


def test_a_cancel_that_nobody_asked_for_is_caught(history: History) -> None:
    row = replace(a_life(history, 1, answered=None), status="cancelled")
    assert names(history.operations, Found(rows=[row], now_ms=0)) == {"I2 wrong final state"}


def test_a_reply_that_nobody_gave_is_caught(history: History) -> None:
    row = replace(a_life(history, 1, answered=None), status="replied", reply="made up")
    assert names(history.operations, Found(rows=[row], now_ms=0)) == {"I3 foreign reply"}


@pytest.mark.parametrize("happened", [True, False])
def test_an_operation_without_an_answer_may_or_may_not_have_happened(history: History, happened: bool) -> None:
    row = a_row(1)
    history.begin(row.sender, Act.SEND, text=row.content, key=row.key)
    assert violations(history.operations, Found(rows=[row] if happened else [], now_ms=0)) == []


def test_a_retry_that_made_a_second_row_is_caught(history: History) -> None:
    row = a_row(1)
    history.begin(row.sender, Act.SEND, text=row.content, key=row.key)
    history.end(history.begin(row.sender, Act.SEND, text=row.content, key=row.key), 202, "", row)
    assert names(history.operations, Found(rows=[row, replace(row, id="msg_9")], now_ms=0)) == {"I8 twice"}


def test_a_retry_answered_with_another_id_is_caught(history: History) -> None:
    row = a_row(1)
    for number, status in ((1, 202), (9, 200)):
        sent = history.begin(row.sender, Act.SEND, text=row.content, key=row.key)
        history.end(sent, status, "", replace(row, id=f"msg_{number}"))
    assert "I4 two ids" in names(history.operations, Found(rows=[row], now_ms=0))


def test_a_false_conflict_of_identical_fields_is_caught(history: History) -> None:
    row = a_row(1)
    history.end(history.begin(row.sender, Act.SEND, text=row.content, key=row.key), 202, "", row)
    again = history.begin(row.sender, Act.SEND, text=row.content, key=row.key)
    history.end(again, 409, "idempotency_conflict", None)
    assert names(history.operations, Found(rows=[row], now_ms=0)) == {"I4 false conflict"}


def test_a_row_left_by_a_refused_send_is_caught(history: History) -> None:
    row = a_row(1)
    history.end(history.begin(row.sender, Act.SEND, text=row.content, key=row.key), 507, "storage_full", None)
    assert names(history.operations, Found(rows=[row], now_ms=0)) == {"I10 refused and stored"}


def test_a_refusal_without_a_code_is_caught(history: History) -> None:
    history.end(history.begin("agt_a", Act.SEND, text="task", key=None), 500, "", None)
    assert names(history.operations, Found(rows=[], now_ms=0)) == {"I10 no code"}


def test_a_push_on_a_stream_opened_after_the_acknowledgement_is_caught(history: History) -> None:
    row = a_life(history, 1, answered=None)
    opened = history.tick()
    history.end(history.begin("agt_b", Act.PUSHED, message=row.id, began=opened), 200, "", row)
    assert names(history.operations, Found(rows=[row], now_ms=0)) == {"I6 pushed again"}


def test_a_late_push_on_a_stream_opened_before_the_acknowledgement_is_allowed(history: History) -> None:
    opened = history.tick()
    row = a_life(history, 1, answered=None)
    history.end(history.begin("agt_b", Act.PUSHED, message=row.id, began=opened), 200, "", a_row(1))
    assert violations(history.operations, Found(rows=[row], now_ms=0)) == []


def test_a_queued_message_that_its_live_recipient_is_never_offered_is_caught(history: History) -> None:
    row = a_row(1)
    history.end(history.begin(row.sender, Act.SEND, text=row.content, key=row.key), 202, "", row)
    found = Found(rows=[row], now_ms=0, offered={"agt_b": frozenset()}, inboxes={"agt_b": frozenset()})
    assert names(history.operations, found) == {"I5 never offered", "I6 hidden"}
