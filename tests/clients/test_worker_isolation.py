"""A session for each workflow run, with the real Pi. No hub sends requests of a run yet: a scripted one does."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.client.scripted_hub import Reply, ScriptedHub, message, stream
from tests.clients.model.conversation import Answer
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.holding import texts
from tests.clients.worker import Worker
from tests.clients.worker_harness import pi_worker
from tests.hub_process import HubProcess

pytestmark = pytest.mark.anyio
RUNS = [f"run_{number:032x}" for number in (1, 2)]


def a_request(number: int, run: str | None) -> dict[str, Any]:
    sent = message(id=f"msg_{number}", seq=number, content=f"body {number}", **{"from": "agt_2", "to": "agt_1"})
    return sent | ({"workflowRunId": run} if run else {})


@pytest.mark.requirement("MSG-TROUBLE-QUEUED-PI")
async def test_each_run_has_its_own_session_and_its_requests_stay_queued_while_pi_swaps_to_it(
    tmp_path: Path, hub: HubProcess, model: Endpoint
) -> None:
    model.script = lambda conversation: Answer(f"answer to {texts(conversation)[-1]}")
    requests = [a_request(1, None), a_request(2, RUNS[0]), a_request(3, RUNS[1]), a_request(4, RUNS[0])]
    async with ScriptedHub() as server:
        server.script("GET /v1/agents/agt_1/inbox", Reply(200, {"messages": requests}))
        server.script("GET /v1/messages", Reply(200, {"messages": []}))
        server.script("GET /v1/events", stream())
        for request in requests:
            path = f"/v1/messages/{request['id']}"
            server.script(f"GET {path}", Reply(200, {"message": request}))
            server.script(f"POST {path}/ack", Reply(200, {"message": request | {"status": "delivered"}}))
            server.script(f"POST {path}/reply", Reply(200, {"message": request | {"status": "replied"}}))
        words = ("--session-isolation", "workflow", "--server", server.url)
        worker = pi_worker(tmp_path / "user", hub, model, *words, KXM_AUTH_TOKEN="t", KXM_WORKER_MAX_RUN_SESSIONS="1")
        await asyncio.to_thread(worker.__enter__)
        try:
            for request in requests:
                (sent,) = await server.until(f"POST /v1/messages/{request['id']}/reply")
                assert sent.body == {"content": f"answer to {request['content']}"}
            acts = [str(asked) for asked in server.asked if str(asked).endswith(("/ack", "/reply"))]
            assert acts.index("POST /v1/messages/msg_1/reply") < acts.index("POST /v1/messages/msg_2/ack")
        finally:
            await asyncio.to_thread(worker.__exit__)
    events = await asyncio.to_thread(_logged, worker)
    routed = [event["scope"] for event in events if event["event"] == "worker_session_routed"]
    assert routed == [RUNS[0], RUNS[1], RUNS[0]]
    assert [event["scope"] for event in events if event["event"] == "worker_session_evicted"] == [RUNS[0], RUNS[1]]
    turns = [one.conversation for one in model.requests]
    assert [texts(turn) for turn in turns] == [["body 1"], ["body 2"], ["body 3"], ["body 4"]]
    assert all("body 1" not in turn.everything for turn in turns[1:])
    assert _kept(hub) == ["default", "runs", f"runs/{RUNS[0]}"]


def _logged(worker: Worker) -> list[dict[str, Any]]:
    return [json.loads(line) for line in worker.log.read_text().splitlines()]


def _kept(hub: HubProcess) -> list[str]:
    """The folders of Pi's sessions."""
    top = next(Path(hub.environment["KXM_STATE_HOME"]).glob("pi-sessions/*"))
    return sorted(path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_dir())
