"""What holds for every request and every answer (spec/hub.md 3.1): headers, bodies, error shapes, field rules."""

import json
import re
from typing import Any

import pytest

from tests.hub_process import Agent, Connection, HubProcess, Project

REQUEST_ID = re.compile(r"req_[0-9a-f]{32}")
EMOJI = "\U0001f600"


def register(hub: HubProcess, body: object, **headers: str) -> Any:
    return hub.call("POST", "/v1/agents/register", body, {"authorization": f"Bearer {hub.admin}", **headers})


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v1"),
        ("GET", "/v1/nothing"),
        ("GET", "/v1/messages/"),
        ("POST", "/v1/messages/msg_1"),
        ("PUT", "/v1/messages"),
        ("GET", "/v1/agents/register"),
        ("PATCH", "/health"),
        ("GET", "/v1/messages/msg_1/ack"),
        ("GET", "/V1/agents"),
    ],
)
def test_an_unknown_method_or_path_is_not_found_and_never_405(hub_process: HubProcess, method: str, path: str) -> None:
    answer = hub_process.call(method, path, headers={"content-type": "application/json"})
    assert (answer.status, answer.code) == (404, "route_not_found")


def test_a_json_answer_has_the_contracts_headers(hub_process: HubProcess) -> None:
    answer = hub_process.call("GET", "/health")
    assert answer.header("cache-control") == "no-store"
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("referrer-policy") == "no-referrer"
    assert answer.header("content-length") == str(len(answer.body))
    assert (answer.header("content-type") or "").startswith("application/json")
    assert REQUEST_ID.fullmatch(answer.header("x-request-id") or "")
    assert answer.header("access-control-allow-origin") is None


def test_an_error_has_text_code_and_the_request_id_of_its_header(hub_process: HubProcess) -> None:
    answer = hub_process.call("GET", "/nowhere")
    assert {"error", "code", "requestId"} <= set(answer.json)
    assert answer.json["requestId"] == answer.header("x-request-id")
    assert answer.header("cache-control") == "no-store"


@pytest.mark.parametrize("given", ["a", "A-b_c.9", "x" * 80])
def test_a_request_id_of_the_allowed_shape_is_echoed(hub_process: HubProcess, given: str) -> None:
    answer = hub_process.call("GET", "/nowhere", headers={"x-request-id": given})
    assert answer.header("x-request-id") == given
    assert answer.json["requestId"] == given


@pytest.mark.parametrize("given", ["x" * 81, "a b", "a/b", "a:b", "ä"])
def test_a_request_id_of_another_shape_is_replaced(hub_process: HubProcess, given: str) -> None:
    answer = hub_process.call("GET", "/health", headers={"x-request-id": given})
    assert REQUEST_ID.fullmatch(answer.header("x-request-id") or "")


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "text/json"])
def test_a_post_that_is_not_json_is_415(hub_process: HubProcess, kind: str) -> None:
    answer = register(hub_process, {"name": "a", "project": "p"}, **{"content-type": kind})
    assert (answer.status, answer.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "APPLICATION/JSON", "Application/Json;x=1"])
def test_the_content_type_is_compared_by_its_beginning_in_any_case(project: Project, kind: str) -> None:
    answer = register(project.hub, {"name": "a", "project": project.name}, **{"content-type": kind})
    assert answer.status == 201


@pytest.mark.parametrize("action", ["ack", "reply"])
def test_ack_and_reply_need_the_json_content_type(lead: Agent, reviewer: Agent, action: str) -> None:
    message = lead.send("reviewer")
    answer = reviewer.call("POST", f"/v1/messages/{message['id']}/{action}", {}, {"content-type": "text/plain"})
    assert answer.code == "unsupported_media_type"
    assert lead.get(message["id"])["status"] == "queued"


def test_a_heartbeat_needs_the_json_content_type_and_takes_an_empty_body(lead: Agent) -> None:
    path = f"/v1/agents/{lead.id}/heartbeat"
    assert lead.call("POST", path, b"", {"content-type": "text/plain"}).code == "unsupported_media_type"
    assert lead.call("POST", path, b"").status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"1",
        b'"text"',
        b"null",
        b"{",
        b"{'name': 'a'}",
        b'{"name": "a",}',
        b"\xff\xfe",
        b'{"name": "\xff"}',
        b'{"name": "a"} trailing',
        b'{"name": NaN}',
        b'{"name": Infinity}',
        b'{"name": "a", "name": "b"}',
        b'{"name": "\\ud800"}',
        b'{"name": "\\u0000"}',
        b'{"n": 9007199254740993}',
        b'{"n": ' + b"[" * 40 + b"]" * 40 + b"}",
        b'{"n": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    ],
)
def test_a_body_that_is_no_json_object_or_could_be_read_in_two_ways_is_refused(
    hub_process: HubProcess, body: bytes
) -> None:
    answer = register(hub_process, body)
    assert (answer.status, answer.code) == (400, "invalid_json")


def test_an_empty_body_counts_as_an_empty_object(hub_process: HubProcess) -> None:
    assert register(hub_process, b"").refusal == (400, "protocol_error", "name must be a string")


def test_unknown_fields_are_ignored_on_the_contracts_routes(project: Project) -> None:
    answer = project.try_register("lead", colour="red", __proto__={"admin": True})
    assert answer.status == 201
    assert "colour" not in answer.json["agent"]


@pytest.mark.requirement("MSG-LIMIT-BODY")
def test_a_body_of_256_kib_is_taken_and_one_byte_more_is_413(project: Project) -> None:
    def body_of(size: int) -> bytes:
        head = f'{{"name": "lead", "project": "{project.name}", "padding": "'.encode()
        return head + b"x" * (size - len(head) - 2) + b'"}'

    assert len(body_of(262_144)) == 262_144
    assert register(project.hub, body_of(262_144)).status == 201
    answer = register(project.hub, body_of(262_145))
    assert (answer.status, answer.code) == (413, "payload_too_large")


@pytest.mark.requirement("MSG-LIMIT-BODY")
def test_a_chunked_body_over_256_kib_is_413_as_well(project: Project) -> None:
    connection = Connection(project.hub.address)
    head = project.hub.raw(
        "POST", "/v1/agents/register", b"", {"content-length": "", "transfer-encoding": "chunked", **project.bearer}
    )
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    connection.write(head + chunk * 4 + b"1\r\n \r\n0\r\n\r\n")
    answer = connection.answer()
    connection.close()
    assert (answer.status, answer.code) == (413, "payload_too_large")


def test_two_requests_on_one_connection_are_answered_in_their_order(hub_process: HubProcess) -> None:
    connection = Connection(hub_process.address)
    keep = {"connection": "keep-alive"}
    connection.write(hub_process.raw("GET", "/health", headers=keep) + hub_process.raw("GET", "/nowhere", headers=keep))
    assert [connection.answer().status, connection.answer().status] == [200, 404]
    connection.close()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": 5}, "name must be a string"),
        ({"name": None}, "name must be a string"),
        ({"name": True}, "name must be a string"),
        ({"name": ""}, "name cannot be empty"),
        ({"name": "  \t\n "}, "name cannot be empty"),
        ({"name": "\ufeff\u00a0\u3000"}, "name cannot be empty"),
        ({"name": "n" * 65}, "name exceeds 64 characters"),
        ({"name": "a", "purpose": 1}, "purpose must be a string"),
        ({"name": "a", "purpose": "p" * 257}, "purpose exceeds 256 characters"),
        ({"name": "a", "project": "p" * 129}, "project exceeds 128 characters"),
        ({"name": "a", "project": " "}, "project cannot be empty"),
        ({"name": "a", "project": None}, "project must be a string"),
        ({"name": "a", "model": []}, "model must be a string"),
        ({"name": "a", "model": "m" * 129}, "model exceeds 128 characters"),
        ({"name": "a", "host": {}}, "host must be a string"),
        ({"name": "a", "host": "h" * 65}, "host exceeds 64 characters"),
    ],
)
def test_a_field_that_does_not_fit_is_named_with_its_rule(
    hub_process: HubProcess, fields: dict[str, object], text: str
) -> None:
    answer = register(hub_process, {"project": "never-made", **fields})
    assert answer.refusal == (400, "protocol_error", text)


def test_lengths_count_utf16_units_after_trimming(project: Project) -> None:
    assert project.try_register(f"  {EMOJI * 31}xy\n").status == 201
    assert project.try_register(EMOJI * 32 + "x").json["error"] == "name exceeds 64 characters"


def test_the_trim_set_is_that_of_ecmascript(project: Project) -> None:
    answer = project.try_register("lead", purpose="\ufeff\u2028 reads diffs \u00a0\u1680")
    assert answer.json["agent"]["purpose"] == "reads diffs"
    kept = project.try_register("other", purpose="\u0085reads\u001c").json["agent"]["purpose"]
    assert kept == "\u0085reads\u001c"


@pytest.mark.parametrize("absent", [None, "", "   "])
def test_an_optional_text_that_is_null_or_empty_counts_as_absent(project: Project, absent: object) -> None:
    answer = project.try_register("lead", purpose=absent, model=absent, host=absent)
    assert answer.status == 201
    assert answer.json["agent"]["purpose"] == "General-purpose Pi agent"
    assert not {"model", "host"} & set(answer.json["agent"])


@pytest.mark.parametrize("ttl", [None, "5000", 5000.5, True, [], 999, 604_800_001, -1, 1e300])
@pytest.mark.requirement("MSG-ERR-TTL", "MSG-LIMIT-TTL-RANGE")
def test_an_integer_out_of_range_or_of_another_kind_is_refused(lead: Agent, reviewer: Agent, ttl: object) -> None:
    answer = lead.try_send("reviewer", ttlMs=ttl)
    assert answer.refusal == (400, "protocol_error", "ttlMs must be an integer between 1000 and 604800000")
    assert reviewer.inbox() == []


def test_a_whole_number_written_with_a_point_is_an_integer(lead: Agent, reviewer: Agent) -> None:
    body = json.dumps({"target": "reviewer", "content": "x", "hops": 2}).replace("2}", "2.0}").encode()
    answer = lead.call("POST", "/v1/messages", body)
    assert answer.status == 202
    assert answer.json["message"]["hops"] == 2
    assert b'"hops":2,' in answer.body.replace(b" ", b"")


@pytest.mark.parametrize("value", [0, 1, "true", [], {}])
def test_a_boolean_takes_only_booleans(lead: Agent, reviewer: Agent, value: object) -> None:
    answer = lead.try_send("reviewer", allowOffline=value)
    assert answer.refusal == (400, "protocol_error", "allowOffline must be a boolean")


def test_a_boolean_that_is_null_is_false(lead: Agent, reviewer: Agent) -> None:
    reviewer.leave()
    assert lead.try_send("reviewer", allowOffline=None).code == "target_not_found"


@pytest.mark.parametrize("value", [None, "", "FOLLOWUP", "followup", 1, "later", True])
def test_a_delivery_falls_back_only_when_it_is_absent(lead: Agent, reviewer: Agent, value: object) -> None:
    answer = lead.try_send("reviewer", delivery=value)
    assert answer.refusal == (400, "protocol_error", "delivery must be steer, followUp, or nextTurn")


@pytest.mark.parametrize("path", ["/v1/messages/%", "/v1/messages/%zz", "/v1/messages/%ff", "/v1/messages/%00"])
def test_a_path_that_cannot_be_decoded_is_no_server_error(lead: Agent, path: str) -> None:
    assert lead.call("GET", path).status in (400, 404)


def test_an_answer_never_shows_a_traceback(hub_process: HubProcess) -> None:
    for body in (b'{"name": "' + b"\\u202e" * 9 + b'"}', b'{"project": {"a": [1, 2]}}'):
        answer = register(hub_process, body)
        assert answer.status == 400
        assert b"Traceback" not in answer.body
        assert b".py" not in answer.body
