"""`/openapi.json` is a valid description of exactly what is served."""

from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from peerline.server.openapi import document
from peerline.server.openapi_records import ANSWERS
from peerline.server.openapi_refusals import REFUSES
from peerline.server.routes import Proof
from tests.hub_process import HubProcess

BY_PROOF: dict[Proof, Any] = {
    Proof.AGENT: [{"projectToken": [], "agentId": [], "agentKey": []}],
    Proof.ADMIN: [{"adminToken": []}],
    Proof.NONE: [],
}


@pytest.fixture(scope="module")
def described(hub_process: HubProcess) -> Any:
    answer = hub_process.call("GET", "/openapi.json")
    assert answer.status == 200
    assert answer.header("content-type") == "application/json; charset=utf-8"
    return answer.json


def operations(described: Any) -> dict[tuple[str, str], Any]:
    return {
        (method.upper(), path): operation
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }


def test_it_is_a_valid_document_of_openapi_3_1(described: Any) -> None:
    assert described["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(described).iter_errors()] == []


def test_the_table_of_refusals_names_only_routes_that_are_served(described: Any) -> None:
    assert set(REFUSES) - set(operations(described)) == set()


def test_every_answer_is_described(described: Any) -> None:
    assert set(ANSWERS) ^ set(operations(described)) == {("DELETE", "/v1/agents/{id}")}  # a 204 has no body


def test_every_parameter_is_described(described: Any) -> None:
    parameters = [one for operation in operations(described).values() for one in operation["parameters"]]
    assert len(parameters) > 20
    assert [one["name"] for one in parameters if not one["schema"]] == []


def test_operations_have_a_name_of_their_own_and_a_line_about_them(described: Any) -> None:
    all_ = operations(described).values()
    names = [one["operationId"] for one in all_]
    assert sorted(names) == sorted(set(names))
    assert all(one["summary"] for one in all_)


def test_what_a_caller_must_prove_stands_there(described: Any) -> None:
    found = operations(described)
    assert found["POST", "/v1/messages"]["security"] == BY_PROOF[Proof.AGENT]
    assert found["GET", "/metrics"]["security"] == BY_PROOF[Proof.ADMIN]
    assert found["GET", "/health"]["security"] == BY_PROOF[Proof.NONE]


def test_bodies_are_described_by_the_table_that_validates_them(described: Any) -> None:
    body = operations(described)["POST", "/v1/messages"]["requestBody"]
    schema = body["content"]["application/json"]["schema"]
    assert body["required"] is True
    assert schema["required"] == ["target", "content"]
    assert schema["properties"]["content"] == {"type": "string", "minLength": 1, "maxLength": 32_000}
    assert schema["properties"]["ttlMs"] == {
        "type": "integer",
        "minimum": 1_000,
        "maximum": 604_800_000,
        "default": 86_400_000,
    }
    assert set(schema["properties"]["delivery"]["enum"]) == {"steer", "followUp", "nextTurn"}


def test_each_refusal_lists_its_codes(described: Any) -> None:
    responses = operations(described)["POST", "/v1/messages/{id}/reply"]["responses"]
    codes = responses["409"]["content"]["application/json"]["schema"]["properties"]["code"]["enum"]
    assert codes == ["duplicate_reply", "invalid_message_state"]
    assert set(responses) == {
        *("200", "400", "401", "403", "404", "408", "409", "413", "415", "421", "429", "500", "503", "507"),
    }


def test_a_document_of_no_routes_is_valid_too() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(document((), "0")).iter_errors()] == []
