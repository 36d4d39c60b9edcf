"""`/mcp`: the official SDK as client, in both eras, over both carriers; and who is let in."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from peerline.core.fence import unrender
from peerline.wire.tools import ALL, CORE
from tests.hub_process import PATIENCE_S, Agent, HubProcess, Project

pytestmark = pytest.mark.anyio
eras = pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])


@asynccontextmanager
async def connected(project: Project, query: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with httpx.AsyncClient(headers=project.bearer, timeout=60) as http:
        carried = streamable_http_client(f"{project.hub.url}/mcp?{query}", http_client=http)
        async with Client(carried, mode=mode) as client:
            yield client


def blocks(result: object) -> list[str]:
    assert isinstance(result, CallToolResult)
    return [block.text for block in result.content if isinstance(block, TextContent)]


def texts(result: object) -> list[str]:
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result
    return blocks(result)


def refused(result: object) -> str:
    assert isinstance(result, CallToolResult)
    assert result.is_error, result
    (text,) = blocks(result)
    return text


@eras
async def test_it_introduces_itself_and_lists_the_tools_of_the_session_server(
    project: Project, mode: str, version: str
) -> None:
    async with connected(project, f"project={project.name}&agent=me", mode) as client:
        assert client.protocol_version == version
        assert client.server_info is not None
        assert client.server_info.name == "kxm"
        assert client.instructions is not None
        assert "kxm_inbox" in client.instructions
        assert "<channel>" not in client.instructions
        listed = (await client.list_tools()).tools
    assert [(tool.name, tool.description, tool.input_schema) for tool in listed] == [
        (tool.name, tool.description, tool.schema) for tool in CORE
    ]


async def test_all_tools_are_listed_for_who_asks_for_all(project: Project) -> None:
    async with connected(project, f"project={project.name}&agent=me&tools=all") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in ALL]
        assert refused(await client.call_tool("kxm_recall", {})).startswith("not_built_yet: ")


@pytest.mark.requirement("MSG-FORMS-MCP")
@eras
async def test_two_agents_ask_wait_and_answer_through_it(project: Project, mode: str, version: str) -> None:
    async with (
        connected(project, f"project={project.name}&agent=asker", mode) as asker,
        connected(project, f"project={project.name}&agent=helper", mode) as helper,
    ):
        await helper.call_tool("kxm_list", {})  # so that it is there
        sent = json.loads(texts(await asker.call_tool("kxm_send", {"target": "helper", "content": "2 + 2?"}))[0])
        record, question = texts(await helper.call_tool("kxm_inbox", {}))
        (shown,) = json.loads(record)["messages"]
        assert (shown["id"], shown["status"]) == (sent["messageId"], "delivered")
        assert unrender(question) == "2 + 2?"
        await helper.call_tool("kxm_reply", {"messageId": sent["messageId"], "content": "4"})
        record, answer = texts(await asker.call_tool("kxm_await", {"messageId": sent["messageId"]}))
        assert json.loads(record)["status"] == "replied"
        assert unrender(answer) == "4"
        cancelled = await asker.call_tool("kxm_cancel", {"messageId": sent["messageId"]})
        assert refused(cancelled) == "cannot cancel a replied message"


async def test_reading_the_inbox_takes_a_request_and_says_so_in_the_trail(project: Project) -> None:
    lead = project.register("lead")
    async with connected(project, f"project={project.name}&agent=me") as client:
        await client.call_tool("kxm_list", {})
        sent = lead.send("me")["id"]
        assert lead.get(sent)["status"] == "queued"
        await client.call_tool("kxm_inbox", {})
        assert lead.get(sent)["status"] == "delivered"
        facts = lead.call("GET", f"/v1/messages/{sent}/trail").json["facts"]
    assert ("acknowledged", "me") in [(fact["fact"], fact["observer"]) for fact in facts]
    assert any("mcp-http:" in (fact.get("detail") or "") for fact in facts)


@pytest.mark.requirement("MSG-HOP-TOOLS", "MSG-HOP-CLAUDE-FURTHEST")
async def test_what_is_sent_while_a_request_is_open_is_one_hop_further(project: Project) -> None:
    lead, third = project.register("lead"), project.register("third")
    async with connected(project, f"project={project.name}&agent=me") as client:
        await client.call_tool("kxm_list", {})
        lead.send("me", hops=3, maxHops=7)
        await client.call_tool("kxm_inbox", {})
        await client.call_tool("kxm_send", {"target": "third", "content": "on"})
    (forwarded,) = third.inbox()
    assert (forwarded["hops"], forwarded["maxHops"]) == (4, 7)


async def test_a_name_is_one_agent_however_many_connections_state_it(project: Project) -> None:
    async with connected(project, f"project={project.name}&agent=me") as one:
        first = json.loads(texts(await one.call_tool("kxm_list", {}))[0])["agents"]
        async with connected(project, f"project={project.name}&agent=ME", "legacy") as two:
            second = json.loads(texts(await two.call_tool("kxm_list", {}))[0])["agents"]
    assert [agent["id"] for agent in first if agent.get("you")] == [agent["id"] for agent in second if agent.get("you")]


@pytest.mark.requirement("MSG-NAME-UNIQUE")
async def test_a_name_that_a_session_elsewhere_has_is_refused_with_what_to_do(project: Project) -> None:
    project.register("lead")
    async with connected(project, f"project={project.name}&agent=lead") as client:
        text = refused(await client.call_tool("kxm_list", {}))
    assert text.startswith("agent name already active in project: lead.")
    assert "agent=NAME" in text


async def test_without_a_name_one_can_look_but_not_act(project: Project) -> None:
    async with connected(project, f"project={project.name}") as client:
        assert (await client.list_tools()).tools
        assert "?agent=NAME" in refused(await client.call_tool("kxm_list", {}))


async def test_the_arguments_are_checked_in_the_words_of_the_contract(project: Project) -> None:
    async with connected(project, f"project={project.name}&agent=me") as client:
        assert refused(await client.call_tool("kxm_get", {})) == "messageId is required"
        assert refused(await client.call_tool("kxm_nothing", {})) == "unknown tool: kxm_nothing"
        nobody = refused(await client.call_tool("kxm_send", {"target": "nobody", "content": "x"}))
    assert nobody.startswith("online target not found: nobody (searched in project ")


async def test_claims_are_named_as_the_sessions_beside_the_files_name_them(project: Project) -> None:
    lead = project.register("lead")
    async with connected(project, f"project={project.name}&agent=me") as client:
        claimed = json.loads(texts(await client.call_tool("kxm_claim", {"paths": ["src/a.py"]}))[0])
        assert (claimed["claimed"], claimed["refused"]) == (["src/a.py"], [])
        leases = lead.call("GET", "/v1/leases").json["leases"]
        assert [lease["name"] for lease in leases] == [f"file:{project.name}/src/a.py"]
        assert "starts at the top" in refused(await client.call_tool("kxm_claim", {"paths": ["/etc/passwd"]}))


@pytest.mark.slow
async def test_a_long_wait_shows_progress_and_ends_by_itself(project: Project) -> None:
    lead = project.register("lead")
    shown: list[float] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        shown.append(progress)
        if len(shown) == 1:
            lead.reply(sent, "now")

    async with connected(project, f"project={project.name}&agent=me", "legacy") as client:
        sent = json.loads(texts(await client.call_tool("kxm_send", {"target": "lead", "content": "?"}))[0])["messageId"]
        record = texts(await client.call_tool("kxm_await", {"messageId": sent}, progress_callback=progress))[0]
    assert json.loads(record)["status"] == "replied"
    assert shown[0] == 10


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


@pytest.mark.parametrize("token", ["", "Bearer wrong", "Basic x"])
def test_who_does_not_prove_the_project_is_refused_before_anything_else(project: Project, token: str) -> None:
    answer = project.hub.call("POST", f"/mcp?project={project.name}", CALL, ACCEPT | {"authorization": token})
    assert answer.refusal == (401, "invalid_auth", "invalid project authentication token")
    assert answer.header("www-authenticate") == "Bearer"


def test_the_admins_token_has_to_name_a_project(hub_process: HubProcess) -> None:
    answer = hub_process.call("POST", "/mcp", CALL, ACCEPT | {"authorization": f"Bearer {hub_process.admin}"})
    assert answer.status == 400
    assert "?project=NAME" in answer.json["error"]


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"host": "evil.example"}, 421, "host_not_allowed"),
        ({"origin": "http://evil.example"}, 403, "origin_not_allowed"),
    ],
)
def test_a_foreign_page_does_not_reach_it(project: Project, headers: dict[str, str], status: int, code: str) -> None:
    for method in ("POST", "GET", "DELETE"):
        answer = project.hub.call(method, f"/mcp?project={project.name}", None, project.bearer | headers)
        assert (answer.status, answer.code) == (status, code)


@pytest.mark.parametrize("name", ["komnet-gateway", "a%2Fb", "x" * 65])
def test_a_name_that_no_agent_may_have_is_refused(project: Project, name: str) -> None:
    answer = project.hub.call("POST", f"/mcp?project={project.name}&agent={name}", CALL, project.bearer | ACCEPT)
    assert answer.status in (400, 403)


def test_a_projects_own_token_names_its_project(hub_process: HubProcess, project: Project) -> None:
    made = hub_process.admin_call("POST", f"/v1/projects/{project.name}/tokens", {"label": "mcp"}).json
    headers = {"authorization": f"Bearer {made['secret']}"} | ACCEPT
    opened = hub_process.call("POST", "/mcp?agent=me", INITIALIZE, headers)
    assert opened.status == 200, opened.body


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def test_a_session_serves_only_the_agent_that_opened_it(project: Project) -> None:
    headers = project.bearer | ACCEPT
    path = f"/mcp?project={project.name}&agent="
    opened = project.hub.call("POST", path + "me", INITIALIZE, headers)
    session = {"mcp-session-id": opened.header("mcp-session-id") or ""}
    assert project.hub.call("POST", path + "me", CALL, headers | session).status == 200
    assert project.hub.call("POST", path + "other", CALL, headers | session).status == 404


def test_a_body_beyond_the_hubs_limit_is_refused(project: Project) -> None:
    answer = project.hub.call("POST", f"/mcp?project={project.name}", b" " * 262_145, project.bearer | ACCEPT)
    assert answer.status == 413


def test_each_agent_has_a_rate_of_its_own(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub(KXM_RATE_LIMIT_MAX="5")
    project = Project(hub, "shop", hub.admin)
    answers = [hub.call("POST", "/mcp?project=shop&agent=me", CALL, project.bearer | ACCEPT) for _ in range(6)]
    assert [answer.status for answer in answers][-1] == 429
    assert answers[-1].code == "rate_limited"


def test_a_hub_without_the_package_says_how_to_get_it(start_hub: Callable[..., HubProcess], tmp_path: Path) -> None:
    shadow = tmp_path / "shadow" / "mcp"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").write_text("raise ImportError('not installed')\n")
    hub = start_hub(PYTHONPATH=str(shadow.parent))
    project = Project(hub, "shop", hub.admin)
    for _ in range(2):
        status, code, text = hub.call("POST", "/mcp?project=shop", CALL, project.bearer | ACCEPT).refusal
        assert (status, code) == (404, "mcp_not_installed")
        assert 'pip install "peerline[mcp]"' in text
    assert project.register("lead").inbox() == []  # the rest of it works


def test_a_hub_that_stops_frees_the_names_for_the_next(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub()
    project = Project(hub, "shop", hub.admin)
    lead = project.register("lead")
    call = CALL | {"method": "tools/call", "params": {"name": "kxm_list", "arguments": {}}}
    opened = hub.call("POST", "/mcp?project=shop&agent=me", INITIALIZE, project.bearer | ACCEPT)
    session = {"mcp-session-id": opened.header("mcp-session-id") or ""}
    assert hub.call("POST", "/mcp?project=shop&agent=me", call, project.bearer | ACCEPT | session).status == 200
    assert presence(lead) == {"lead": "online", "me": "online"}
    assert hub.stop() == 0
    assert hub.errors == ""
    hub.start()
    assert presence(lead)["me"] == "offline"


def test_a_hub_that_stops_ends_open_streams(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub()
    project = Project(hub, "shop", hub.admin)
    opened = hub.call("POST", "/mcp?project=shop&agent=me", INITIALIZE, project.bearer | ACCEPT)
    session = {"mcp-session-id": opened.header("mcp-session-id") or ""}
    with hub.stream("/mcp?project=shop&agent=me", project.bearer | ACCEPT | session) as stream:
        assert (stream.status, stream.header("content-type")) == (200, "text/event-stream")
        hub.process.terminate()
        assert hub.process.wait(timeout=PATIENCE_S) == 0
    assert hub.errors == ""


def presence(agent: Agent) -> dict[str, str]:
    listed = agent.call("GET", "/v1/agents?includeOffline=true").json["agents"]
    return {one["name"]: one["presence"] for one in listed}
