"""Every served route, as the description lists them, asks for proof; few are meant for everybody."""

import re

import pytest

from tests.hub_process import HubProcess

FOR_EVERYBODY = {("GET", "/health"), ("GET", "/ready"), ("GET", "/openapi.json")}
# Fields that are judged before the proof, so they have to fit.
REGISTRATION = {"name": "nobody", "project": "listed-a"}
QUERIES = {"/v1/events": "?agentId=agt_x"}


@pytest.mark.parametrize("bearer", [None, "", "wrong"])
def test_no_route_answers_without_proof(hub_process: HubProcess, bearer: str | None) -> None:
    paths = hub_process.call("GET", "/openapi.json").json["paths"]
    routes = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert routes >= FOR_EVERYBODY
    headers = {} if bearer is None else {"authorization": f"Bearer {bearer}"}
    answered = {}
    for method, path in sorted(routes - FOR_EVERYBODY):
        body = REGISTRATION if path == "/v1/agents/register" else {} if method == "POST" else None
        answer = hub_process.call(method, re.sub(r"\{\w+\}", "x", path) + QUERIES.get(path, ""), body, headers)
        answered[method, path] = answer.status
    assert {route: status for route, status in answered.items() if status not in (401, 403)} == {}
