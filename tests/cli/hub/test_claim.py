"""Who runs the hub of a state folder."""

import json
import os
import threading
from pathlib import Path

import pytest

from peerline.cli.hot_output import Failure
from peerline.cli.hub.claim import Claim, Holder, ask_to_stop, holder


def test_a_claim_has_the_contracts_members_and_is_this_users_alone(tmp_path: Path) -> None:
    claim = Claim(tmp_path / "state")
    claim.take()
    path = tmp_path / "state" / "hub.pid"
    body = json.loads(path.read_text())
    assert {name: body[name] for name in ("version", "pid", "serverPid", "role", "controlFile")} == {
        "version": 1,
        "pid": os.getpid(),
        "serverPid": os.getpid(),
        "role": "hub",
        "controlFile": "hub.stop",
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert holder(tmp_path / "state") == Holder(os.getpid(), body["startedAt"])
    claim.release()
    assert (holder(tmp_path / "state"), path.exists()) == (None, False)


def test_a_live_claim_is_refused_with_its_process(tmp_path: Path) -> None:
    first = Claim(tmp_path)
    first.take()
    with pytest.raises(Failure, match=rf"^KXM hub is already managed by PID {os.getpid()}$"):
        Claim(tmp_path).take()
    first.release()
    second = Claim(tmp_path)
    second.take()
    second.release()


def test_a_claim_whose_lock_is_gone_is_dead_whoever_has_its_number_now(tmp_path: Path) -> None:
    body = {"version": 1, "pid": os.getpid(), "role": "hub", "startedAt": "2026-01-01T00:00:00.000Z", "locked": True}
    (tmp_path / "hub.pid").write_text(json.dumps(body))
    assert holder(tmp_path) is None
    claim = Claim(tmp_path)
    claim.take()
    claim.release()


def test_a_claim_of_another_implementation_lives_as_long_as_its_process(tmp_path: Path) -> None:
    body = {"version": 1, "pid": os.getpid(), "role": "hub", "startedAt": "2026-01-01T00:00:00.000Z"}
    (tmp_path / "hub.pid").write_text(json.dumps(body))
    with pytest.raises(Failure, match=r"already managed by PID"):
        Claim(tmp_path).take()
    dead = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(dead, 0)
    (tmp_path / "hub.pid").write_text(json.dumps({**body, "pid": dead}))
    claim = Claim(tmp_path)
    claim.take()
    claim.release()


@pytest.mark.parametrize("text", ["x", "{}", '{"pid":"1","role":"hub"}', '{"pid":1,"role":"worker"}'])
def test_what_is_no_claim_is_refused_and_left_alone(text: str, tmp_path: Path) -> None:
    (tmp_path / "hub.pid").write_text(text)
    with pytest.raises(Failure, match=r"is no claim of a hub"):
        Claim(tmp_path).take()
    assert (tmp_path / "hub.pid").read_text() == text


def test_a_link_in_the_claims_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "hub.pid").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match=r"Too many levels"):
        Claim(tmp_path).take()
    assert not (tmp_path / "victim").exists()


def test_the_control_file_stops_the_hub_that_it_names(tmp_path: Path) -> None:
    claim, told = Claim(tmp_path), threading.Event()
    claim.take()
    claim.watch(told.set)
    ask_to_stop(tmp_path, Holder(os.getpid(), claim.started_at))
    assert told.wait(20)
    assert not (tmp_path / "hub.stop").exists()
    claim.release()


def test_a_control_file_for_an_earlier_hub_is_removed_at_the_start(tmp_path: Path) -> None:
    ask_to_stop(tmp_path, Holder(1, "2026-01-01T00:00:00.000Z"))
    claim = Claim(tmp_path)
    claim.take()
    assert not (tmp_path / "hub.stop").exists()
    claim.release()


def test_of_many_that_start_at_once_one_wins(tmp_path: Path) -> None:
    claims, won, lost, gate = [Claim(tmp_path) for _ in range(8)], [], [], threading.Barrier(8)

    def start(claim: Claim) -> None:
        gate.wait()
        try:
            claim.take()
            won.append(claim)
        except Failure as failure:
            lost.append(failure.detail)

    threads = [threading.Thread(target=start, args=(claim,)) for claim in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), set(lost)) == (1, {f"KXM hub is already managed by PID {os.getpid()}"})
    won[0].release()
