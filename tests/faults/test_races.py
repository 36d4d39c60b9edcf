"""R32: reply, second reply, cancel, acknowledgement and expiry race for one message: one wins, losers are told why."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from . import stored
from .connection import Answer, Connection
from .history import Found, History, violations
from .kills import now_ms
from .peers import Peer
from .victim import Victim, started

AT_ONCE = 10
ROUNDS = [100, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]


class Races:
    def __init__(self, port: int) -> None:
        self.history = History()
        self.askers = [Peer("asker", self.history, Connection(port)) for _ in range(AT_ONCE * 2)]
        self.helpers = [Peer("helper", self.history, Connection(port)) for _ in range(AT_ONCE * 3)]
        self.winners: Counter[str] = Counter()

    async def begin(self) -> None:
        """Two agents; the further connections act as the same two."""
        for side in (self.askers, self.helpers):
            await side[0].register()
            for peer in side[1:]:
                peer.headers = side[0].headers

    async def race(self, lane: int, number: int, *, expiring: bool) -> None:
        canceller, asker = self.askers[2 * lane : 2 * lane + 2]
        first, second, taker = self.helpers[3 * lane : 3 * lane + 3]
        sent = await asker.send("helper", f"task {number}", f"key {number}", 1_000 if expiring else 3_600_000)
        message = sent.json()["message"]["id"]
        if expiring:
            # Returns when the hub has expired it, or just before: the race is on the edge.
            await asker.connection.ask("GET", f"/v1/messages/{message}?waitMs=990", None, asker.headers)
        moves = [
            first.reply(message, f"yes {number}"),
            second.reply(message, f"no {number}"),
            canceller.cancel(message),
            taker.acknowledge(message),
            asker.get(message),
        ]
        random.shuffle(moves)
        answers = await asyncio.gather(*moves)
        assert all(answer.status in (200, 409) for answer in answers), [answer.body for answer in answers]
        self.winners[self._winner((await asker.get(message)).json()["message"], answers)] += 1

    @staticmethod
    def _winner(final: dict[str, object], answers: list[Answer]) -> str:
        codes = {answer.code for answer in answers if answer.status == 409}
        assert codes <= {"duplicate_reply", "invalid_message_state"}
        if final["status"] != "replied":
            assert "duplicate_reply" not in codes
        return str(final["status"])


@pytest.mark.parametrize("rounds", ROUNDS)
def test_of_all_who_race_for_a_message_one_wins(tmp_path: Path, rounds: int, say: Callable[[str], None]) -> None:
    async def race(hub: Victim) -> Races:
        races = Races(hub.port)
        await races.begin()

        async def lane(which: int) -> None:
            for number in range(which, rounds, AT_ONCE):
                await races.race(which, number, expiring=number % 50 < AT_ONCE and number < 1_000)

        await asyncio.gather(*map(lane, range(AT_ONCE)))
        return races

    with started(tmp_path, settings={"KXM_QUEUE_LIMIT": "100000"}) as hub:
        races = asyncio.run(race(hub))
        copy = stored.copied(hub.data, tmp_path / "copy")
        assert stored.unsound(copy) == []
        found = Found(rows=stored.rows(copy), now_ms=now_ms())
    assert violations(races.history.operations, found) == []
    assert len(found.rows) == rounds
    say(f"{rounds} races, won by {dict(races.winners)}")
    assert {"replied", "cancelled"} <= set(races.winners)
