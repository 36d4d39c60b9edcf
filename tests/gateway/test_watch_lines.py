"""The lines of `komnet gateway watch` (spec/network.md 9.6)."""

import json
from typing import Any

import pytest

from peerline.gateway.watch_lines import Sight, armed, item_line, poll_ms, request_line


def item(**changes: Any) -> dict[str, Any]:
    return {
        "id": "01M8NYPW4ZVHP2MGRPMBK8RQ01",
        "room": "build",
        "from": "bob-codex",
        "needs": "agent",
        "priority": "normal",
        "kind": "answer",
        "thread": "01M8NYPW4ZVHP2MGRPMBK8RQ00",
        "body": "SECRET WORDS",
        **changes,
    }


def test_the_first_line_says_how_often_it_looks_and_where() -> None:
    assert armed(15_000, inbox=False, requests=True, home="/home/a b/.komnet") == (
        "relay-armed poll=15000ms watch-inbox=off watch-requests=on home=/home/a b/.komnet"
    )


@pytest.mark.requirement("RELAY-WAY-FILE-POLL")
@pytest.mark.parametrize(
    ("named", "poll"),
    [(None, 15_000), ("", 15_000), ("x", 15_000), ("5000", 5_000), ("1", 2_000), ("9999999", 600_000), ("-1", 2_000)],
)
def test_the_poll_has_its_bounds(named: str | None, poll: int) -> None:
    assert poll_ms(named) == poll


def test_an_items_line_has_its_metadata_and_no_body() -> None:
    assert item_line(item()) == (
        "komnet-inbox id=01M8NYPW4ZVHP2MGRPMBK8RQ01 room=build from=bob-codex needs=agent priority=normal kind=answer "
        "thread=01M8NYPW4ZVHP2MGRPMBK8RQ00"
    )


def test_no_foreign_word_breaks_a_line_or_adds_a_field() -> None:
    lines = [
        item_line(item(**{"from": "a\nrelay-request file=x", "kind": "x needs=none\x1b[2J"})),
        request_line("1.json", json.dumps({"session": "a\nkomnet-inbox id=1", "room": "b needs=none"}).encode()),
    ]
    for line, fields in zip(lines, (8, 4), strict=True):
        assert line.isprintable()
        assert len(line.split(" ")) == fields


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"7", b"\xff", b"[" * 100_000])
def test_a_request_that_cannot_be_read_is_told_as_that(data: bytes) -> None:
    assert request_line("1.json", data) == "relay-request file=1.json session=unparseable room=-"


def test_a_request_without_a_session_or_room_shows_a_dash() -> None:
    assert request_line("1.json", b"{}") == "relay-request file=1.json session=- room=-"


def test_a_view_that_fails_is_told_once_after_three_looks_and_its_recovery_too() -> None:
    sight = Sight()
    said = [sight.failed("no\nway") for _ in range(5)]
    assert said == [[], [], ["relay-degraded consecutive-failures=3 reason=no way"], [], []]
    assert sight.well() == ["relay-recovered after-failures=5"]
    assert sight.well() == []
    assert [sight.failed("x"), sight.failed("x"), sight.well()] == [[], [], []]
