"""The wheel of deadlines, turned by hand."""

import random

from peerline.server.deadlines import NEVER, Wheel


class Entry:
    def __init__(self, due: float) -> None:
        self.due = due
        self.armed: float = NEVER
        self.expired = 0

    def expire(self) -> None:
        self.expired += 1


class Clock:
    def __init__(self) -> None:
        self.now = 0.5

    def __call__(self) -> float:
        return self.now


def test_an_entry_expires_in_the_second_in_which_it_is_due() -> None:
    clock = Clock()
    wheel = Wheel(clock)
    entry = Entry(10.2)
    wheel.arm(entry)
    clock.now = 9.9
    wheel.turn()
    assert entry.expired == 0
    clock.now = 10.0
    wheel.turn()
    assert entry.expired == 1
    assert len(wheel) == 0


def test_a_deadline_moved_later_needs_no_word_to_the_wheel() -> None:
    clock = Clock()
    wheel = Wheel(clock)
    entry = Entry(10)
    wheel.arm(entry)
    entry.due = 20
    clock.now = 19.9
    wheel.turn()
    assert entry.expired == 0
    clock.now = 20
    wheel.turn()
    assert entry.expired == 1


def test_an_entry_with_no_deadline_any_more_falls_off() -> None:
    clock = Clock()
    wheel = Wheel(clock)
    entry = Entry(10)
    wheel.arm(entry)
    entry.due = NEVER
    clock.now = 10
    wheel.turn()
    assert (entry.expired, len(wheel), entry.armed) == (0, 0, NEVER)


def test_an_entry_armed_anew_stands_on_the_wheel_once() -> None:
    wheel = Wheel(Clock())
    entry = Entry(60)
    wheel.arm(entry)
    entry.due = 15
    wheel.arm(entry)
    assert len(wheel) == 1
    wheel.forget(entry)
    wheel.forget(entry)
    assert len(wheel) == 0


def test_an_entry_that_is_overdue_already_expires_at_the_next_turn() -> None:
    clock = Clock()
    clock.now = 100.0
    wheel = Wheel(clock)
    entry = Entry(3)
    wheel.arm(entry)
    clock.now = 101.0
    wheel.turn()
    assert entry.expired == 1


def test_a_turn_that_comes_late_misses_nobody() -> None:
    chance = random.Random(7)
    clock = Clock()
    wheel = Wheel(clock)
    entries = [Entry(chance.uniform(1, 500)) for _ in range(1_000)]
    for entry in entries:
        wheel.arm(entry)
    while len(wheel):
        clock.now += chance.uniform(0.1, 40)
        wheel.turn()
        for entry in entries:
            assert entry.expired == (entry.due < int(clock.now) + 1)
