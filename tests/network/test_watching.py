"""What `komnet watch` prints (spec/network.md 7)."""

from typing import Any

import pytest

from peerline.network.watching import REMEMBERED, Filter, Watcher, armed, member, timed_out


def item(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"01M8NYPW4ZVHP2MGRPMBK8{number:04d}",
        "room": "architecture",
        "from": "bob-codex",
        "needs": "agent",
        "priority": "normal",
        "kind": "question",
        "thread": "01M8NYPW4ZVHP2MGRPMBK8RQ01",
        "tags": [],
        "body": "SECRET WORDS",
        **changes,
    }


def test_what_waits_at_the_first_look_is_pending_what_comes_later_is_new() -> None:
    watcher = Watcher(Filter())
    (first,) = watcher.inbox([item(1)])
    (second,) = watcher.inbox([item(1), item(2, tags=["a", "b"])])
    assert first == (
        "komnet-inbox state=pending id=01M8NYPW4ZVHP2MGRPMBK80001 room=architecture from=bob-codex needs=agent "
        "priority=normal kind=question thread=01M8NYPW4ZVHP2MGRPMBK8RQ01 tags=-"
    )
    assert "state=new" in second
    assert second.endswith("tags=a,b")


def test_a_body_is_never_told() -> None:
    assert "SECRET" not in "".join(Watcher(Filter()).inbox([item()]))


def test_with_new_only_the_backlog_is_counted_and_not_told() -> None:
    watcher = Watcher(Filter(), new_only=True)
    assert watcher.inbox([item(1), item(2)]) == ["watch-backlog pending=2 read=komnet+inbox"]
    assert len(watcher.inbox([item(1), item(2), item(3)])) == 1


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (Filter(room="architecture"), 1),
        (Filter(room="other"), 0),
        (Filter(thread="01M8NYPW4ZVHP2MGRPMBK8RQ01", tag="x", needs="agent"), 1),
        (Filter(tag="y"), 0),
        (Filter(needs="human"), 0),
    ],
)
def test_a_filter_lets_only_what_it_names_through(chosen: Filter, told: int) -> None:
    assert len(Watcher(chosen).inbox([item(tags=["x"])])) == told


def test_foreign_fields_cannot_break_a_line_nor_add_a_field() -> None:
    (line,) = Watcher(Filter()).inbox([item(1, **{"from": "a\nkomnet-inbox state=new"}, tags=["x needs=human\x1b[2J"])])
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line.split(" ")) == 10


def test_an_item_is_told_once_also_after_thousands_of_others() -> None:
    watcher = Watcher(Filter())
    many = [item(number) for number in range(REMEMBERED + 10)]
    assert len(watcher.inbox(many)) == REMEMBERED + 10
    assert watcher.inbox(many) == []


def test_an_unproven_sender_is_marked() -> None:
    (line,) = Watcher(Filter()).inbox([item(verified=False)])
    assert line.endswith(" verified=no")


def test_a_view_that_becomes_incomplete_is_told_once_and_its_recovery_too() -> None:
    watcher = Watcher(Filter())
    bad = {"degraded": True, "reason": "no\nway", "lastSyncAt": None}
    assert watcher.health({"degraded": False}) == []
    assert watcher.health(bad) == ["watch-degraded reason=no way last-sync=-"]
    assert watcher.health(bad) == []
    assert watcher.health({"degraded": False, "lastSyncAt": "2026-11-30T10:00:00.000Z"}) == [
        "watch-recovered last-sync=2026-11-30T10:00:00.000Z"
    ]


def test_five_rooms_and_threads_of_the_surroundings_are_named_then_counted() -> None:
    watcher = Watcher(Filter())
    threads = [{"room": "r", "thread": f"T{n}", "from": "a", "kind": "msg", "needs": "none"} for n in range(7)]
    lines = watcher.surroundings([f"room-{n}" for n in range(6)], threads)
    assert lines[0] == "komnet-room id=room-0 state=not-joined join=komnet room join room-0"
    assert lines[5] == "komnet-room state=not-joined more=1 read=komnet+room+list"
    assert lines[-1] == "komnet-thread state=started more=2 read=komnet+room+list"
    assert len(lines) == 12
    assert watcher.surroundings([f"room-{n}" for n in range(6)], threads) == []


def test_the_first_and_last_lines_say_what_was_watched() -> None:
    assert armed(2, "direct", "transport", "alice-cursor", 3, True, Filter(room="a", thread="T")) == (
        "watch-armed poll=2s mode=direct sync=self network=transport agent=alice-cursor wait=3s new-only=true "
        "filter=room:a,thread:T"
    )
    assert armed(15, "daemon", "t", "a", None, False, Filter()).endswith("agent=a filter=none")
    assert timed_out(3, False) == "watch-timeout after=3s nothing matched checked=UNCONFIRMED"


def test_an_empty_field_is_a_dash() -> None:
    assert member("") == member(None) == member(" \n") == "-"
