"""One life of a harness, with a harness that does as a test tells it: what no real one does on demand.

Requests of a workflow run are among it: no hub sends them yet.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from peerline.client.records import Message
from peerline.worker.ending import End
from peerline.worker.frames import Frames
from peerline.worker.happenings import Began, Declined, Happening, Ready, Settled, ToolBegan
from peerline.worker.plan import Plan
from peerline.worker.shift import Shift
from tests.worker.records import asked

pytestmark = pytest.mark.anyio
RUN = "run_" + "a1" * 16


class Puppet:
    """A harness and its process: `does` is what it does next."""

    name = "puppet"

    def __init__(self, *, steers: bool = False) -> None:
        self.steers = steers
        self.out: list[dict[str, Any]] = []
        self.frames = Frames()
        self.got: list[tuple[str, ...]] = []
        self.doing: asyncio.Queue[Happening | None] = asyncio.Queue()
        self.heard = asyncio.Event()

    def does(self, *happenings: Happening | None) -> None:
        for one in happenings:
            self.doing.put_nowait(one)

    async def until(self, *got: str) -> None:
        """It has been given that."""
        while got not in self.got:
            self.heard.clear()
            await self.heard.wait()

    def open(self) -> None:
        self.does(Ready("s-1"))

    def feed(self, frame: Mapping[str, Any]) -> list[Happening]:
        return [frame["happening"]]

    def turn(self, key: str, text: str) -> None:
        self._hear("turn", key)

    def steer(self, key: str, text: str) -> None:
        self._hear("steer", key)

    def abort(self) -> None:
        self._hear("abort")

    def _hear(self, *got: str) -> None:
        self.got.append(got)
        self.heard.set()

    def write(self, frame: Mapping[str, Any]) -> None: ...

    async def read(self) -> AsyncIterator[dict[str, Any]]:
        while (one := await self.doing.get()) is not None:
            yield {"happening": one}


class Tray:
    """The desk's part that a shift sees."""

    def __init__(self, *messages: Message) -> None:
        self.waiting = list(messages)
        self.begun_ids: list[str] = []
        self.turn_begun = asyncio.Event()
        self.answers: list[tuple[list[str], str]] = []
        self.back: list[tuple[str, bool]] = []
        self.notes: list[tuple[str, str]] = []

    def steer_waits(self) -> bool:
        return any(one.delivery == "steer" for one in self.waiting)

    async def choose(self, *, only_steer: bool) -> Message | None:
        fitting = [one for one in self.waiting if not only_steer or one.delivery == "steer"]
        if fitting:
            self.waiting.remove(fitting[0])
        return fitting[0] if fitting else None

    def text(self, work: Message, *, joins: Any = ()) -> str:
        return work.content

    def handed_in(self, work: Message) -> None: ...

    def begun(self, message: Message) -> None:
        self.begun_ids.append(message.id)
        self.turn_begun.set()

    def answered(self, messages: list[Message], text: str) -> None:
        self.answers.append(([one.id for one in messages], text))

    def note(self, messages: list[Message], text: str) -> None:
        self.notes += [(one.id, text) for one in messages]

    def put_back(self, work: Message, *, lost: bool) -> None:
        self.back.append((work.id, lost))
        self.waiting.insert(0, work)


class Nobody:
    def at_work_on(self, requests: Any) -> None: ...


class Clock:
    """Stands, until it is moved past a deadline."""

    at = 0

    def __call__(self) -> int:
        return self.at


def a_shift(puppet: Puppet, tray: Tray, clock: Clock, *, scope: str = "default", **given: Any) -> Shift:
    plan = Plan(harness="pi", name="b", project="p", folder=Path(), command=("x",), kxm=("kxm",), **given)
    events: list[str] = []
    return Shift(
        plan,
        puppet,  # type: ignore[arg-type]
        puppet,  # type: ignore[arg-type]
        tray,  # type: ignore[arg-type]
        Nobody(),  # type: ignore[arg-type]
        scope=scope,
        on_ready=lambda session: None,
        log=lambda event, **members: events.append(event),
        complain=events.append,
        now=clock,
    )


async def test_requests_are_turns_one_after_another() -> None:
    puppet, tray = Puppet(), Tray(asked(1), asked(2))
    working = asyncio.ensure_future(a_shift(puppet, tray, Clock()).work())
    await puppet.until("turn", "msg_1")
    assert tray.begun_ids == []
    puppet.does(Began("msg_1"), Settled("one"))
    await puppet.until("turn", "msg_2")
    puppet.does(Began("msg_2"), Settled("two"), None)
    assert (await working).end is End.EXITED
    assert tray.answers == [(["msg_1"], "one"), (["msg_2"], "two")]
    assert tray.back == []


async def test_a_harness_that_is_lost_in_a_turn_leaves_its_request_to_the_next_one() -> None:
    puppet, tray = Puppet(), Tray(asked(1))
    working = asyncio.ensure_future(a_shift(puppet, tray, Clock()).work())
    await puppet.until("turn", "msg_1")
    puppet.does(Began("msg_1"), None)
    assert (await working).end is End.EXITED
    assert (tray.back, tray.answers) == ([("msg_1", True)], [])


async def test_a_provider_failure_answers_nothing_and_is_not_held_against_the_request() -> None:
    puppet, tray = Puppet(), Tray(asked(1))
    working = asyncio.ensure_future(a_shift(puppet, tray, Clock()).work())
    await puppet.until("turn", "msg_1")
    puppet.does(Began("msg_1"), Settled("", "quota", "429"))
    ending = await working
    assert (ending.end, ending.detail) == (End.PROVIDER, "quota")
    assert (tray.back, tray.answers) == ([("msg_1", False)], [])
    assert tray.notes == [("msg_1", "The model failed (quota); the turn is run again.")]


async def test_a_steer_goes_into_the_turn_that_is_under_way_and_both_get_its_answer() -> None:
    puppet, tray = Puppet(steers=True), Tray(asked(1))
    shift = a_shift(puppet, tray, Clock())
    working = asyncio.ensure_future(shift.work())
    await puppet.until("turn", "msg_1")
    puppet.does(Began("msg_1"))
    tray.waiting += [asked(2), asked(3, delivery="steer")]
    shift.news()
    await puppet.until("steer", "msg_3")
    puppet.does(Began("msg_3"), Settled("both"))
    await puppet.until("turn", "msg_2")
    puppet.does(Began("msg_2"), Settled("late"), None)
    await working
    assert tray.answers == [(["msg_1", "msg_3"], "both"), (["msg_2"], "late")]


async def test_a_steer_whose_turn_has_just_ended_is_the_next_turn() -> None:
    puppet, tray = Puppet(steers=True), Tray(asked(1))
    shift = a_shift(puppet, tray, Clock())
    working = asyncio.ensure_future(shift.work())
    await puppet.until("turn", "msg_1")
    puppet.does(Began("msg_1"))
    tray.waiting.append(asked(3, delivery="steer"))
    shift.news()
    await puppet.until("steer", "msg_3")
    puppet.does(Settled("one"), Declined("msg_3", "no such turn"))
    await puppet.until("turn", "msg_3")
    puppet.does(Began("msg_3"), Settled("three"), None)
    await working
    assert tray.answers == [(["msg_1"], "one"), (["msg_3"], "three")]


@pytest.mark.requirement("MSG-TROUBLE-QUEUED-PI")
async def test_with_isolation_a_request_of_a_run_ends_the_life_for_one_in_the_runs_session() -> None:
    puppet, tray = Puppet(), Tray(asked(1, workflowRunId=RUN))
    ending = await a_shift(puppet, tray, Clock(), isolation=True).work()
    assert (ending.end, ending.detail, puppet.got) == (End.ROUTED, RUN, [])
    assert tray.back == [("msg_1", False)], "it stays queued meanwhile"
    inside = Puppet()
    working = asyncio.ensure_future(a_shift(inside, tray, Clock(), isolation=True, scope=RUN).work())
    await inside.until("turn", "msg_1")
    inside.does(Began("msg_1"), Settled("one"), None)
    await working
    assert tray.answers == [(["msg_1"], "one")]


async def test_without_isolation_all_requests_share_a_session() -> None:
    puppet, tray = Puppet(), Tray(asked(1, workflowRunId=RUN))
    working = asyncio.ensure_future(a_shift(puppet, tray, Clock()).work())
    await puppet.until("turn", "msg_1")
    puppet.does(None)
    await working


async def test_a_tool_that_does_not_come_back_ends_the_life_and_is_named() -> None:
    puppet, tray, clock = Puppet(), Tray(asked(1)), Clock()
    shift = a_shift(puppet, tray, clock, tool_timeout=60_000)
    working = asyncio.ensure_future(shift.work())
    await puppet.until("turn", "msg_1")
    puppet.does(ToolBegan("call_1", "bash"), Began("msg_1"))
    await tray.turn_begun.wait()
    clock.at = 60_000
    shift.news()
    ending = await working
    assert (ending.end, ending.detail, tray.back) == (End.TOOL, "bash", [("msg_1", True)])


async def test_a_turn_that_does_not_begin_ends_the_life() -> None:
    puppet, tray, clock = Puppet(), Tray(asked(1)), Clock()
    shift = a_shift(puppet, tray, clock)
    working = asyncio.ensure_future(shift.work())
    await puppet.until("turn", "msg_1")
    clock.at = 60_000
    shift.news()
    assert (await working).end is End.SILENT
    assert tray.back == [("msg_1", True)]


async def test_a_stop_at_rest_is_at_once_and_in_a_turn_when_it_is_aborted() -> None:
    puppet, tray = Puppet(), Tray()
    shift = a_shift(puppet, tray, Clock())
    shift.stop()
    assert (await shift.work()).end is End.STOPPED
    puppet, tray = Puppet(), Tray(asked(1))
    shift = a_shift(puppet, tray, Clock())
    working = asyncio.ensure_future(shift.work())
    await puppet.until("turn", "msg_1")
    puppet.does(Began("msg_1"))
    shift.stop()
    await puppet.until("abort")
    puppet.does(Settled("half", "aborted"))
    assert (await working).end is End.STOPPED
    assert (tray.back, tray.answers) == ([("msg_1", False)], [])
