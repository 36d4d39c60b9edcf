"""`kill -9` of Pi, of its worker and of the hub, at the start of a turn and at its end: each request has one reply."""

import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import Holding
from tests.clients.worker import Worker, ask, facts, kill
from tests.clients.worker_harness import pi_worker
from tests.hub_process import HubProcess, Project

KILLS = int(os.environ.get("KXM_TEST_KILLS", "9"))


class Machine:
    """One hub, one worker and a peer; whatever is killed is started again as its user or system would."""

    def __init__(self, home: Path, hub: HubProcess, model: Endpoint) -> None:
        self.hub, self._home, self._model = hub, home, model
        hub.environment["KXM_PORT"] = str(hub.address[1])
        self.lead = Project(hub, "shop", hub.admin).register("lead")
        self.worker = self._started()

    def _started(self) -> Worker:
        return pi_worker(self._home, self.hub, self._model).__enter__()

    def kill_pi(self) -> None:
        kill(self.worker.child)

    def kill_worker(self) -> None:
        self.worker.kill()
        self.worker = self._started()

    def kill_hub(self) -> None:
        self.hub.stop(signal.SIGKILL)
        self.hub.start()
        self.lead = self.lead.project.register("lead", resume=self.lead.key)


@pytest.fixture
def machine(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Iterator[Machine]:
    running = Machine(tmp_path / "user", hub, model)
    yield running
    running.worker.__exit__()


@pytest.mark.timeout(60 + 20 * KILLS)
def test_whatever_is_killed_whenever_each_request_has_exactly_one_reply(machine: Machine, model: Endpoint) -> None:
    chance = random.Random(20261130)
    kills: list[Callable[[Machine], None]] = [Machine.kill_pi, Machine.kill_worker, Machine.kill_hub]
    sent: list[str] = []
    for number in range(KILLS):
        body = f"request {number} of the campaign"
        model.script = held = Holding(body)
        sent.append(ask(machine.lead, body, chance.choice(["steer", "followUp", "nextTurn"])))
        held.begun()
        begin = chance.random() < 0.5
        if not begin:
            held.go()  # and the kill meets the end of the turn, or the reply
        kills[number % 3](machine)
        held.go()
        record = machine.lead.wait(sent[-1])
        assert (record["status"], record["reply"]["content"]) == ("replied", f"answer to {body}"), (number, begin)
    assert [facts(machine.lead, one).count("replied") for one in sent] == [1] * KILLS
