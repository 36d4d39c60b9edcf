from dataclasses import replace

import pytest

from peerline.core.card import (
    SESSIONS,
    Card,
    GitAuthor,
    Human,
    Presence,
    Session,
    Stamp,
    Status,
    announced,
    departed,
    presence,
    worth_publishing,
)

NOW = 100_000_000
MINUTE = 60_000
CARD = Card(id="alice", display_name="Alice", human=Human(name="alice"), tool="cli")


@pytest.mark.parametrize(
    ("status", "age", "last_post_age", "wanted"),
    [
        ("live", 0, None, "live"),
        ("live", 5 * MINUTE, None, "live"),
        ("live", 5 * MINUTE + 1, None, "stale"),
        ("live", 10 * MINUTE, None, "stale"),
        ("live", 10 * MINUTE + 1, None, "away"),
        ("live", -MINUTE, None, "live"),
        ("live", -MINUTE - 1, None, "stale"),
        ("away", 0, None, "away"),
        ("away", 20 * MINUTE, 1 * MINUTE, "live"),
        ("live", 20 * MINUTE, 7 * MINUTE, "stale"),
        ("live", 1 * MINUTE, 30 * MINUTE, "live"),
        ("away", None, 1 * MINUTE, "live"),
        ("live", None, None, "stale"),
    ],
)
def test_presence_is_read_off_the_card_and_the_last_post(
    status: str, age: int | None, last_post_age: int | None, wanted: str
) -> None:
    stamp = Stamp(status=Status(status), last_seen=None if age is None else NOW - age)
    last_post = None if last_post_age is None else NOW - last_post_age
    assert presence(stamp, NOW, last_post) is Presence(wanted)


def test_a_session_announced_again_changes_nothing_but_the_time() -> None:
    once = announced(Stamp(), NOW, "s1")
    again = announced(once, NOW + 5, "s1")
    assert once.sessions == again.sessions == (Session(id="s1", since=NOW),)
    assert (again.status, again.last_seen) == (Status.LIVE, NOW + 5)


def test_an_agent_is_live_until_its_last_session_has_gone() -> None:
    both = announced(announced(Stamp(), NOW, "s1"), NOW, "s2")
    one = departed(both, NOW + 1, "s1")
    assert (one.status, [each.id for each in one.sessions]) == (Status.LIVE, ["s2"])
    assert departed(one, NOW + 2, "s2") == Stamp(status=Status.AWAY, last_seen=NOW + 2)
    assert departed(both, NOW).status is Status.AWAY


def test_sessions_end_after_twelve_hours_and_the_oldest_goes_when_there_are_too_many() -> None:
    stamp = announced(Stamp(), NOW, "old")
    assert [one.id for one in announced(stamp, NOW + 12 * 60 * MINUTE, "new").sessions] == ["new"]
    for number in range(SESSIONS):
        stamp = announced(stamp, NOW + number, f"s{number}")
    assert len(stamp.sessions) == SESSIONS
    assert "old" not in [one.id for one in stamp.sessions]


def test_a_card_is_published_for_news_and_not_for_the_time() -> None:
    live = replace(CARD, presence=Stamp(status=Status.LIVE, last_seen=NOW))
    later = replace(CARD, presence=Stamp(status=Status.LIVE, last_seen=NOW + MINUTE))
    joined = replace(live, subscriptions=("build",))
    authored = replace(live, git_author=GitAuthor(name="a", email="a@example.test"))
    assert worth_publishing(None, live, NOW)
    assert not worth_publishing(live, later, NOW + MINUTE)
    assert not worth_publishing(live, later, NOW + MINUTE, announce=True)
    assert worth_publishing(live, later, NOW + 6 * MINUTE, announce=True)
    assert not worth_publishing(live, later, NOW + 6 * MINUTE)
    assert worth_publishing(live, joined, NOW)
    assert worth_publishing(live, authored, NOW)
