"""Whatever the description allows, and what it does not, gets an answer that the description knows: never a 5xx."""

import logging
from collections import Counter
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.conftest import fresh_project
from tests.hub_process import Agent, HubProcess, Project

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
STREAMS = ("/v1/events", "/v1/ops/events")  # without a proof only: what they answer with one has no end
LEAVE = ("DELETE", "/v1/agents/{id}")

logging.getLogger("urllib3").setLevel(logging.ERROR)


class World:
    """A project with something in it, so that requests also get past the first refusal."""

    def __init__(self, hub: HubProcess) -> None:
        self.hub = hub
        self.session = requests.Session()
        self.project = fresh_project(hub)
        self.lead, self.reviewer = self.project.register("lead"), self.project.register("reviewer")
        self.final = self.lead.send("reviewer")["id"]
        self.reviewer.reply(self.final)
        self.own = Project(hub, f"{self.project.name}-own", hub.admin)

    @property
    def admin(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.hub.admin}"}

    def real(self, method: str, path: str, case: Any) -> None:
        """Put names of things that exist in the place of invented ones."""
        if path.startswith("/v1/agents/"):
            case.path_parameters["id"] = self.lead.id
        elif path.startswith("/v1/messages/"):
            case.path_parameters["id"] = self.final if method == "GET" else self.lead.send("reviewer")["id"]
        elif path.startswith("/v1/leases/"):
            case.path_parameters["name"] = "deploy"
        elif path.endswith("/tokens"):
            case.path_parameters["project"] = self.own.name
        elif path.startswith("/v1/projects/"):
            made = self.hub.admin_call("POST", f"/v1/projects/{self.own.name}/tokens", {}).json
            case.path_parameters |= {"project": self.own.name, "id": made["token"]["id"]}
        elif (method, path) == ("POST", "/v1/messages") and isinstance(case.body, dict):
            case.body |= {"target": "reviewer", "idempotencyKey": None}
        elif path == "/v1/agents/register" and isinstance(case.body, dict):
            case.body["project"] = self.project.name


def fuzz(hub: HubProcess, examples: int, described: Any) -> Counter[int]:
    """Call every operation `examples` times in each mode; how often each status came."""
    world = World(hub)
    schema = schemathesis.openapi.from_dict(described)
    found: Counter[int] = Counter()
    operations = [one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)]
    assert len(operations) == sum(map(len, described["paths"].values()))
    operations.sort(key=lambda one: (one.method.upper(), one.path) == LEAVE)
    for operation in operations:
        for mode in GenerationMode:
            call_all(world, operation, mode, examples, found)
    return found


def description(hub: HubProcess) -> Any:
    return hub.call("GET", "/openapi.json").json


def call_all(world: World, operation: Any, mode: GenerationMode, examples: int, found: Counter[int]) -> None:
    method, path = operation.method.upper(), operation.path
    agents: list[Agent | None] = [world.lead, world.reviewer, None]
    proofs = [{}] if path in STREAMS else [*(one.headers if one else {} for one in agents), world.admin]

    @seed(20261130)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=operation.as_strategy(generation_mode=mode),
        proof=st.sampled_from(proofs),
        real=st.booleans(),
    )
    def call(case: Any, proof: dict[str, str], real: bool) -> None:
        if real:
            world.real(method, path, case)
        response = case.call(base_url=world.hub.url, session=world.session, headers=proof, timeout=45)
        found[response.status_code] += 1
        case.validate_response(response, checks=CHECKS)

    try:
        call()
    except Exception as error:
        if type(error).__name__ != "Unsatisfiable":  # a route without parameters cannot be called wrongly
            raise


def test_every_answer_to_a_few_odd_requests_is_described(hub_process: HubProcess) -> None:
    found = fuzz(hub_process, 6, description(hub_process))
    assert {200, 201, 400, 401, 404} <= set(found)
    assert hub_process.process.poll() is None


@pytest.mark.parametrize("status", ["200", "401", "404"])
def test_a_description_that_forgets_an_answer_is_found_out(hub_process: HubProcess, status: str) -> None:
    described = description(hub_process)
    path = "/v1/messages/{id}"
    described["paths"] = {path: {"get": described["paths"][path]["get"]}}
    del described["paths"][path]["get"]["responses"][status]
    with pytest.raises(FailureGroup, match="Undocumented status code"):
        fuzz(hub_process, 40, described)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_answer_to_twenty_thousand_odd_requests_is_described(hub_process: HubProcess) -> None:
    found = fuzz(hub_process, 200, description(hub_process))
    print(dict(sorted(found.items())))
    assert found.total() > 9_000  # over both carriers twice as many
    assert hub_process.process.poll() is None
