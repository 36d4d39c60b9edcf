"""R8: the cable is cut without a word: the hub lets the stream go, the client notices, and what was sent arrives."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from .namespaces import DIRECTIONS, HUB_ADDRESS, Cable, cable, skip_unless_possible
from .victim import TOKEN, Victim, started

CLIENT = Path(__file__).parent / "half_open_client.py"
SENDER = Path(__file__).parent / "half_open_sender.py"
HUB_FREES_WITHIN_S = 60.0
CLIENT_NOTICES_WITHIN_S = 48.0
BACK_WITHIN_S = 10.0  # a try that is under way in the dark, and the pause before the next


class Program:
    """A child whose lines come with the moment at which they came."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.heard: set[str] = set()
        self._lines: queue.Queue[tuple[float, str]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.heard.add(line.strip())
            self._lines.put((time.monotonic(), line.strip()))

    def until(self, wanted: Callable[[str], bool], within_s: float) -> tuple[float, str]:
        """The first line that is wanted; earlier ones are dropped."""
        end = time.monotonic() + within_s
        while True:
            moment, line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            if wanted(line):
                return moment, line

    def ask(self, **command: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._lines.get(timeout=90)[1])
        return answer


@contextmanager
def program(*command: str) -> Iterator[Program]:
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Program(process)
    finally:
        process.kill()
        process.wait(10)


@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize("direction", list(DIRECTIONS))
def test_a_cut_cable_is_noticed_by_both_ends_and_loses_nothing(
    tmp_path: Path, direction: str, say: Callable[[str], None]
) -> None:
    skip_unless_possible()
    name = f"fault-{os.getpid()}"
    with cable(name) as between:
        settings = {"KXM_HOST": HUB_ADDRESS}
        with started(tmp_path, prefix=between.in_hub, settings=settings) as hub:
            url = f"http://{HUB_ADDRESS}:{hub.port}"
            client = program(*between.in_client, sys.executable, str(CLIENT), url, "far", TOKEN)
            sender = program(*between.in_hub, sys.executable, str(SENDER), HUB_ADDRESS, str(hub.port))
            with client as far, sender as near:
                say(f"{direction}: " + cut_and_mend(hub, between, direction, far, near))


def cut_and_mend(hub: Victim, between: Cable, direction: str, far: Program, near: Program) -> str:
    far.until(lambda line: line == "here", 30)
    first = near.ask(send="far")["id"]
    far.until(lambda line: line == f"message {first}", 30)
    held = between.established()
    assert held >= 1
    cut_at = time.monotonic()
    between.cut(direction)
    sent = [near.ask(send="far")["id"] for _ in range(20)]
    noticed, _ = far.until(lambda line: line.startswith("gap"), CLIENT_NOTICES_WITHIN_S + 5)
    freed = None
    presence: list[str] = []
    while freed is None and time.monotonic() - cut_at < HUB_FREES_WITHIN_S + 15:
        near.ask(wait_ms=1_000)  # paces this loop: the hub holds the answer back
        presence.append(near.ask(presence="far")["presence"])
        if between.established() == 0:
            freed = time.monotonic()
    assert freed is not None, "the hub never let the dead connection go"
    while "offline" not in presence and time.monotonic() - cut_at < HUB_FREES_WITHIN_S + 60:
        near.ask(wait_ms=1_000)
        presence.append(near.ask(presence="far")["presence"])
    mended_at = time.monotonic()
    between.mend()
    back = mended_at
    while not {f"message {id_}" for id_ in sent} <= far.heard:  # with one way cut some came at once
        back, _ = far.until(lambda line: line.startswith("message"), 30)
    assert noticed - cut_at <= CLIENT_NOTICES_WITHIN_S
    assert freed - cut_at <= HUB_FREES_WITHIN_S
    assert back - mended_at <= BACK_WITHIN_S
    assert list(dict.fromkeys(presence))[-1] == "offline", presence
    return (
        f"client noticed after {noticed - cut_at:.0f} s, hub let go after {freed - cut_at:.0f} s, "
        f"all {len(sent)} there {back - mended_at:.1f} s after the cable was mended"
    )
