"""Files that sessions say they work on: claimed once, named with their holder, kept, and given back at the end."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from peerline.client.async_hub import AsyncHub
from peerline.core.errors import LeaseHeld
from peerline.tools.claims import Claims
from tests.hub_process import Agent, Project
from tests.mcp_stdio.conftest import Open
from tests.mcp_stdio.session import AgentSession


@pytest.fixture
def me(open_session: Open) -> AgentSession:
    return open_session("me")


def leases(agent: Agent) -> dict[str, str]:
    found = agent.call("GET", "/v1/leases").json["leases"]
    return {lease["name"]: lease["holderAgentName"] for lease in found}


def test_what_one_session_claimed_is_refused_to_another_with_its_name_until_it_is_given_back(
    me: AgentSession, open_session: Open
) -> None:
    other = open_session("other")
    assert me.call("kxm_claim", paths=["a.py", "b.py", "./a.py"])["refused"] == []
    both = other.call("kxm_claim", paths=["b.py", "c.py"])
    assert both["claimed"] == ["c.py"]
    assert [(one["path"], one["holder"]) for one in both["refused"]] == [("b.py", "me")]
    assert both["refused"][0]["until"].endswith("Z")
    assert "kxm_send" in both["next"]
    assert other.call("kxm_release", paths=["b.py"]) == {"released": [], "claimed": ["c.py"]}
    assert me.call("kxm_release", paths=["b.py"])["released"] == ["b.py"]
    assert other.call("kxm_claim", paths=["b.py"]) == {"claimed": ["b.py"], "refused": []}
    assert len(me.call("kxm_release")["released"]) == 1
    assert other.call("kxm_release") == {"released": ["c.py", "b.py"], "claimed": []}


def test_the_work_trees_of_one_repository_claim_the_same_file(open_session: Open, tmp_path: Path, lead: Agent) -> None:
    main, tree = tmp_path / "shop", tmp_path / "shop-fix"
    (main / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (main / ".git" / "worktrees" / "fix" / "commondir").write_text("../..\n")
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/fix\n")
    first = open_session("first", CLAUDE_PROJECT_DIR=str(main))
    second = open_session("second", CLAUDE_PROJECT_DIR=str(tree))
    assert first.call("kxm_claim", paths=["src/a.py"])["claimed"] == ["src/a.py"]
    assert second.call("kxm_claim", paths=[str(tree / "src" / "a.py")])["refused"][0]["holder"] == "first"
    assert leases(lead) == {"file:shop/src/a.py": "first"}


@pytest.mark.parametrize("how", ["closed", "terminated"])
def test_a_session_that_ends_gives_back_what_it_claimed(me: AgentSession, lead: Agent, how: str) -> None:
    me.call("kxm_claim", paths=["a.py"])
    assert list(leases(lead).values()) == ["me"]
    assert (me.close() if how == "closed" else me.signal(signal.SIGTERM)) == 0
    assert leases(lead) == {}


@pytest.mark.parametrize("paths", [[], [" "], ["a\0b"], ["x"] * 33, "a.py", None])
def test_what_is_no_path_is_not_claimed(me: AgentSession, lead: Agent, paths: Any) -> None:
    assert "paths" in me.refused("kxm_claim", paths=paths)
    assert leases(lead) == {}


def test_claims_are_kept_and_one_that_another_agent_took_is_told(project: Project, lead: Agent) -> None:
    said: list[str] = []

    async def work() -> None:
        async with AsyncHub(project.hub.url, project=project.name, name="me", token=project.token) as hub:
            claims = Claims(lambda path: f"file:{path}", said.append)
            await claims.claim(hub, ["a", "b"])
            before = {lease.name: lease for lease in await hub.leases()}
            await claims.keep(hub)
            after = {lease.name: lease for lease in await hub.leases()}
            assert all(after[name].expires_at > before[name].expires_at for name in before)
            await hub.release("file:a", after["file:a"].fencing_token)
            assert lead.call("POST", "/v1/leases/file:a/acquire", {}).status == 200
            await claims.keep(hub)
            assert await claims.release(hub, None) == {"released": ["b"], "claimed": []}
            with pytest.raises(LeaseHeld):
                await hub.acquire("file:a")

    asyncio.run(work())
    assert said == ["kxm: the claim on a is lead's by now"]
