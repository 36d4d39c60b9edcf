"""Request files of every kind, whole and broken: each is sent once, or its sender is told why not (R21, R22)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from peerline.gateway.outbound import SETTLED_MS
from tests.gateway.stage import KEY, Ended, Stage, stage
from tests.network.remotes import BareRemote

GOOD = {"session": "backend-2e", "replyKey": KEY, "room": "build", "body": "whole", "queuedAt": "2026-08-12T09:14:03Z"}


@pytest.fixture
def here(tmp_path: Path, remote: BareRemote) -> Stage:
    staged = stage(tmp_path, remote)
    staged.place.make()
    return staged


def said_in_the_room(here: Stage) -> list[str]:
    here.bob.sync()
    return [one.post.body.split("\n")[0] for one in here.bob.engine.history("build")]


def left(here: Stage) -> list[str]:
    return [file.name for folder in (here.place.requests, here.place.claimed) for file in folder.iterdir()]


@pytest.mark.parametrize("data", ["", "{", '{"session": "backend-2e", "body": "whole'])
def test_a_file_that_is_no_json_is_told_so_when_nobody_writes_it_any_more(here: Stage, data: str) -> None:
    relay = here.relay()
    (here.place.requests / "x.json").write_text(data)
    relay.step()
    assert not (here.place.results / "x.json").exists(), "it may still be written"
    here.time = SETTLED_MS + 1_000
    relay.step()
    assert here.result("x")["code"] == "UNREADABLE_REQUEST"
    assert left(here) == []
    assert said_in_the_room(here) == []


@pytest.mark.requirement("RELAY-WAY-FILE", "RELAY-WAY-FILE-CLAIM")
def test_a_file_that_is_written_while_the_gateway_looks_is_sent_whole_and_once(here: Stage) -> None:
    relay, text = here.relay(), json.dumps(GOOD)
    with (here.place.requests / "x.json").open("w") as writing:
        for part in (text[:20], text[20:-1]):
            writing.write(part)
            writing.flush()
            relay.step()
        assert said_in_the_room(here) == []
        writing.write(text[-1])
    relay.step()
    relay.step()
    assert said_in_the_room(here) == ["whole"]
    assert here.result("x")["state"] == "sent"


def test_a_name_that_is_used_again_is_another_request_and_neither_is_lost(here: Stage) -> None:
    relay = here.relay()
    for body in ("first", "second", "third"):
        (here.place.requests / "x.json").write_text(json.dumps({**GOOD, "body": body}))
        relay.step()
    assert said_in_the_room(here) == ["first", "second", "third"]
    assert [here.result(stem)["state"] for stem in ("x", "x-2", "x-3")] == ["sent"] * 3
    assert left(here) == []


def test_a_claim_does_not_overwrite_one_that_a_gateway_left_behind(here: Stage) -> None:
    (here.place.claimed / "x.json").write_text(json.dumps({**GOOD, "body": "left behind"}))
    (here.place.requests / "x.json").write_text(json.dumps({**GOOD, "body": "new"}))
    here.relay().step()
    assert sorted(said_in_the_room(here)) == ["left behind", "new"]


def _link(file: Path, outside: Path) -> None:
    outside.write_text(json.dumps({**GOOD, "body": "outside"}))
    file.symlink_to(outside)


def _pipe(file: Path, _: Path) -> None:
    os.mkfifo(file)


def _folder(file: Path, _: Path) -> None:
    file.mkdir()


def _too_large(file: Path, _: Path) -> None:
    file.write_bytes(b"x" * 4_000_000)


@pytest.mark.parametrize("make", [_link, _pipe, _folder, _too_large], ids=lambda make: make.__name__)
def test_what_is_no_plain_file_or_too_large_is_never_followed_and_told_so(
    here: Stage, tmp_path: Path, make: Any
) -> None:
    make(here.place.requests / "x.json", tmp_path / "outside")
    here.relay().step()
    assert here.result("x")["code"] == "UNREADABLE_REQUEST"
    assert said_in_the_room(here) == []
    assert list(here.place.requests.iterdir()) == []


def test_a_name_with_a_line_break_is_one_line_of_the_log(here: Stage) -> None:
    (here.place.requests / "x\nrelay-armed.json").write_text(json.dumps(GOOD))
    here.relay().step()
    assert said_in_the_room(here) == ["whole"]
    assert [line for line in here.said if "\n" in line] == []


def test_a_claim_whose_result_was_told_when_the_gateway_ended_is_cleared(here: Stage) -> None:
    def end(step: str) -> None:
        if step == "told":
            raise Ended

    here.ask()
    here.probe = end
    with pytest.raises(Ended):
        here.relay().step()
    assert len(left(here)) == 1
    here.probe = lambda step: None
    here.relay().step()
    assert left(here) == []
