"""Identity is not a session: names, keys, leases, restarts, clocks."""

from pathlib import Path

import pytest

from peerline.core.agent import Presence
from peerline.core.errors import DuplicateAgentName, TargetNotFound
from peerline.core.ids import random_id
from tests.hub.parts import Parts


def test_a_second_live_holder_of_a_name_is_refused(hub: Parts) -> None:
    hub.register("Reviewer")
    with pytest.raises(DuplicateAgentName, match="agent name already active in project: reviewer"):
        hub.register("reviewer")
    hub.register("reviewer", project="other")


def test_a_key_adds_a_session_to_a_live_agent(hub: Parts) -> None:
    first = hub.register("reviewer")
    second = hub.register("reviewer", resume=first.key)
    assert second.agent.id == first.agent.id
    for key in (first.key, second.key):
        assert hub.agents.proven(first.agent.id, key)


def test_a_further_session_does_not_describe_the_agent_anew(hub: Parts) -> None:
    first = hub.register("reviewer", host="box1")
    hub.register("Reviewer", resume=first.key, host="elsewhere")
    record = hub.agents.record(first.agent.id)
    assert (record["name"], record["host"]) == ("reviewer", "box1")


def test_an_agent_is_online_while_any_session_is(hub: Parts) -> None:
    first = hub.register("reviewer")
    second = hub.register("reviewer", resume=first.key)
    for registered, left in ((first, Presence.ONLINE), (second, Presence.OFFLINE)):
        proof = hub.agents.proven(registered.agent.id, registered.key)
        assert proof
        hub.agents.unregister(first.agent, proof.key)
        assert hub.agents.presence(first.agent.id) is left


def test_an_offline_name_comes_back_with_its_id_and_its_old_keys_die(hub: Parts) -> None:
    first = hub.register("reviewer")
    sent = hub.send(hub.agent("lead"), "reviewer")
    hub.time.step(31)
    hub.agents.sweep()
    back = hub.register("reviewer", host="elsewhere")
    assert (back.agent.id, back.resumed) == (first.agent.id, True)
    assert hub.agents.proven(first.agent.id, first.key) is None
    told = hub.messages.trail(sent.id, back.agent).result()
    assert [f.detail for f in told.facts if f.fact == "identity resumed"] == ["new key, on elsewhere"]


def test_the_streams_of_a_dead_key_end(hub: Parts) -> None:
    first = hub.register("reviewer")
    _, screen = hub.watch(first.agent)
    hub.time.step(31)
    hub.agents.sweep()
    hub.register("reviewer")
    assert screen.ended


def test_presence_goes_from_online_over_stale_to_offline_and_one_call_brings_it_back(hub: Parts) -> None:
    registered = hub.register("reviewer")
    agent = registered.agent
    hub.time.step(29.9)
    assert hub.agents.presence(agent.id) is Presence.ONLINE
    hub.time.step(0.1)
    assert hub.agents.presence(agent.id) is Presence.STALE
    assert hub.agents.target("demo", "reviewer", False).id == agent.id  # stale still counts for a send
    hub.agents.sweep()
    assert hub.agents.presence(agent.id) is Presence.OFFLINE
    with pytest.raises(TargetNotFound):
        hub.agents.target("demo", "reviewer", False)
    proof = hub.agents.proven(agent.id, registered.key)
    assert proof
    hub.agents.heard(proof)
    assert hub.agents.presence(agent.id) is Presence.ONLINE


def test_the_others_of_a_project_are_told_who_comes_and_goes(hub: Parts) -> None:
    lead = hub.register("lead")
    stranger = hub.agent("stranger", project="other")
    _, screen = hub.watch(lead.agent)
    _, foreign = hub.watch(stranger)
    hub.agent("reviewer")
    hub.time.step(31)
    proof = hub.agents.proven(lead.agent.id, lead.key)
    assert proof
    hub.agents.heard(proof)
    hub.agents.sweep()
    assert [('"online":true' in data, "reviewer" in data) for data in screen.frames("presence")] == [
        (True, True),
        (False, True),
    ]
    assert foreign.frames("presence") == []


def test_a_restart_keeps_keys_and_who_was_online(tmp_path: Path) -> None:
    hub = Parts(tmp_path)
    here, gone = hub.register("here"), hub.register("gone")
    proof = hub.agents.proven(gone.agent.id, gone.key)
    assert proof
    hub.agents.unregister(gone.agent, proof.key)
    hub.time.step(5)
    hub = hub.restarted(tmp_path)
    assert hub.agents.presence(here.agent.id) is Presence.ONLINE
    assert hub.agents.presence(gone.agent.id) is Presence.OFFLINE
    assert hub.agents.proven(here.agent.id, here.key)
    hub.time.step(26)
    hub.agents.sweep()
    assert hub.agents.presence(here.agent.id) is Presence.OFFLINE


def test_keys_are_not_in_the_store(tmp_path: Path) -> None:
    hub = Parts(tmp_path)
    registered = hub.register("reviewer")
    hub.connection.close()
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert registered.key.encode() not in stored
    assert registered.agent.id.encode() in stored


def test_many_sessions_of_one_agent_stay_few_rows(hub: Parts) -> None:
    registered = hub.register("cli")
    for _ in range(100):
        proof = hub.agents.proven(registered.agent.id, registered.key)
        assert proof
        hub.agents.unregister(registered.agent, proof.key)
        registered = hub.register("cli", resume=registered.key)
    rows = hub.connection.execute("SELECT key_digest FROM session").fetchall()
    assert 1 <= len(rows) <= 17


def test_a_wrong_key_proves_nothing_and_changes_nothing(hub: Parts) -> None:
    agent = hub.agent("reviewer")
    hub.time.step(31)
    hub.agents.sweep()
    assert hub.agents.proven(agent.id, random_id("key", lambda n: b"\0" * n)) is None
    assert hub.agents.proven("agt_unknown", "key") is None
    assert hub.agents.presence(agent.id) is Presence.OFFLINE


def test_a_lookalike_is_warned_of_and_let_in(hub: Parts) -> None:
    hub.agent("reviewer-1")
    assert hub.register("reviewer_l").lookalike == "reviewer-1"


def test_a_target_is_an_id_or_a_name_of_the_own_project(hub: Parts) -> None:
    foreign = hub.agent("reviewer", project="other")
    mine = hub.agent("Reviewer")
    assert hub.agents.target("demo", "REVIEWER", False).id == mine.id
    assert hub.agents.target("demo", mine.id, False).id == mine.id
    for target in (foreign.id, "review", "reviewer2", "%"):
        with pytest.raises(TargetNotFound, match="online target not found: "):
            hub.agents.target("demo", target, True)


def test_a_session_that_could_not_have_a_name_is_found_beside_it(hub: Parts) -> None:
    gone = hub.agent("Reviewer")
    hub.agent("reviewer-two")
    assert hub.agents.twin(gone.id) is None
    beside = hub.agent("Reviewer-4711")
    hub.agent("Reviewer-4712", project="another")
    assert hub.agents.twin(gone.id) == beside.name


def test_when_hundreds_go_at_once_they_are_swept_and_stored_in_steps(hub: Parts) -> None:
    """Nobody else's message waits until all of them are dealt with."""
    registered = [hub.register(f"agent-{number}") for number in range(250)]
    for each in registered:
        proof = hub.agents.proven(each.agent.id, each.key)
        assert proof
        hub.agents.heard(proof)
    assert [stored.settled for stored in hub.agents.flushing()] == [True] * 3
    hub.time.step(31)
    left = [hub.agents.online_count() for _ in hub.agents.sweeping()]
    assert left == [150, 50]
    assert hub.agents.online_count() == 0
