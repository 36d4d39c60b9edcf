"""Held pairs, paths, facts and leases through the client, against the real hub."""

from collections.abc import Callable
from typing import Any

import pytest

from peerline.client.async_hub import AsyncHub, next_path
from peerline.client.hub import Hub
from peerline.core.agent import PERSON_PURPOSE
from peerline.core.errors import LeaseHeld, LeaseSuperseded, PairHeld, PersonOnly, RingDetected, TargetNotFound
from peerline.core.limits import PATH
from tests.hub_process import HubProcess, Project

pytestmark = pytest.mark.anyio


def connect(project: Project, name: str, **options: Any) -> AsyncHub:
    return AsyncHub(project.hub.url, project=project.name, name=name, token=project.token, **options)


async def test_a_held_request_says_so_and_a_person_lets_it_go(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub(KXM_PAIR_LIMIT="1")
    project = Project(hub, "demo", hub.admin)
    ada = connect(project, "ada", purpose=PERSON_PURPOSE)
    async with connect(project, "lead") as lead, connect(project, "reviewer") as reviewer, ada:
        assert (await lead.send("reviewer", "one")).held is None
        held = await lead.send("reviewer", "two")
        assert held.held is not None
        assert held.held.endswith("peerline continue lead reviewer")
        assert held.held_at == held.created_at
        (pair,) = await reviewer.held_pairs()
        assert ({end.name for end in pair.agents}, pair.held) == ({"lead", "reviewer"}, 1)
        assert pair.next.startswith("peerline continue ")
        with pytest.raises(PairHeld):
            await lead.send("reviewer", "three")
        with pytest.raises(PersonOnly):
            await lead.continue_pair("lead", "reviewer")
        assert (await ada.continue_pair("lead", "reviewer")).released == 1
        assert [message.content for message in await reviewer.inbox()] == ["one", "two"]
        assert await reviewer.held_pairs() == ()


async def test_what_is_passed_on_carries_its_path_and_does_not_come_round(project: Project) -> None:
    async with connect(project, "a") as a, connect(project, "b") as b, connect(project, "c") as c:
        first = await a.send("b", "do it")
        second = await b.send("c", "your part", path=next_path(first, b.agent.id))
        assert second.path == (a.agent.id, b.agent.id)
        (handled,) = await c.inbox()
        with pytest.raises(RingDetected, match="a -> b -> c -> a"):
            await c.send("a", "and yours", path=next_path(handled, c.agent.id))
        long = handled.__class__(**{**_members(handled), "path": tuple(str(n) for n in range(PATH))})
        assert next_path(long, c.agent.id) == (*map(str, range(1, PATH)), c.agent.id)


async def test_what_was_refused_is_told_afterwards(project: Project) -> None:
    async with connect(project, "lead") as lead:
        assert await lead.refused() == ()
        for _ in range(2):
            with pytest.raises(TargetNotFound):
                await lead.send("reviewer", "look")
        (one,) = await lead.refused()
        assert (one.target, one.code, one.times) == ("reviewer", "target_not_found", 2)
        assert one.why == f"nobody named reviewer has been in project {project.name}"
        assert one.next.startswith("see who is here")


async def test_an_adapter_reports_what_became_of_a_message(project: Project) -> None:
    async with connect(project, "lead") as lead, connect(project, "reviewer") as reviewer:
        sent = await lead.send("reviewer", "look")
        fact = await reviewer.report(sent.id, "not announced", adapter="codex", reason="the thread is busy")
        assert (fact.fact, fact.observer, fact.detail) == ("not announced", "reviewer", "by codex: the thread is busy")
        assert (await lead.trail(sent.id)).standing == "codex could not announce it to reviewer: the thread is busy"


def test_leases_are_taken_listed_prolonged_and_given_back(project: Project) -> None:
    def at(name: str) -> Hub:
        return Hub(project.hub.url, project=project.name, name=name, token=project.token)

    with at("lead") as lead, at("reviewer") as reviewer:
        lease = lead.acquire("src/a b.py", ttl_ms=60_000)
        assert (lease.name, lease.holder, lease.fencing_token) == ("src/a b.py", lead.agent.id, 1)
        with pytest.raises(LeaseHeld) as refused:
            reviewer.acquire("src/a b.py")
        assert refused.value.extras["lease"]["holderAgentName"] == "lead"
        assert reviewer.leases() == (lease,)
        assert lead.renew("src/a b.py", 1, ttl_ms=600_000).expires_at > lease.expires_at
        with pytest.raises(LeaseSuperseded):
            reviewer.release("src/a b.py", 1)
        assert lead.release("src/a b.py", 1).fencing_token == 1
        assert reviewer.leases() == ()
        assert lead.held_pairs() == ()
        sent = lead.send("reviewer", "look", path=[lead.agent.id])
        assert reviewer.report(sent.id, "in turn", adapter="pi").detail == "by pi"
        with pytest.raises(PersonOnly):
            lead.continue_pair("lead", "reviewer")


def _members(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.__struct_fields__}
