"""Project tokens over HTTP: the secret once, two valid at once while rotating, and an end that is felt at once."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.conftest import fresh_project
from tests.hub_process import Answer, HubProcess, Project

_names = count(1)


@pytest.fixture
def shop(hub_process: HubProcess) -> Project:
    """A project without a token of its own."""
    return fresh_project(hub_process)


def path(project: Project, rest: str = "") -> str:
    return f"/v1/projects/{project.name}/tokens{rest}"


def create(project: Project, **fields: object) -> Any:
    answer = project.hub.admin_call("POST", path(project), fields)
    assert answer.status == 201, answer.body
    return answer.json


def rotate(project: Project, token_id: str, **fields: object) -> Answer:
    return project.hub.admin_call("POST", path(project, f"/{token_id}/rotate"), fields)


def revoke(project: Project, token_id: str) -> Answer:
    return project.hub.admin_call("DELETE", path(project, f"/{token_id}"))


def listed(project: Project) -> dict[str, Any]:
    answer = project.hub.admin_call("GET", path(project))
    assert answer.status == 200, answer.body
    return {one["id"]: one for one in answer.json["tokens"]}


def opens(project: Project, token: str) -> bool:
    answer = Project(project.hub, project.name, token).try_register(f"agent-{next(_names)}")
    assert answer.status in (201, 401)
    return answer.status == 201


def test_the_secret_is_in_the_answer_that_creates_it_and_nowhere_else(shop: Project) -> None:
    made = create(shop, label="ci")
    assert opens(shop, made["secret"])
    assert made["token"]["label"] == "ci"
    again = shop.hub.admin_call("GET", path(shop)).body.decode()
    assert made["secret"] not in again
    assert "digest" not in again


def test_the_first_token_closes_the_project_to_the_admin_token_and_says_so(shop: Project) -> None:
    assert opens(shop, shop.hub.admin)
    first = create(shop)
    assert (first["closedToAdminNow"], first["adminTokenAccepted"]) == (True, False)
    assert not opens(shop, shop.hub.admin)
    assert create(shop)["closedToAdminNow"] is False


def test_what_the_admin_token_had_opened_ends_when_the_project_closes(shop: Project) -> None:
    stream = shop.register("watcher").stream()
    create(shop)
    with pytest.raises(EOFError):
        stream.next("message")


def test_while_a_token_is_rotated_two_are_valid(shop: Project) -> None:
    old = create(shop, label="ci")
    answer = rotate(shop, old["token"]["id"], graceMs=600_000)
    assert answer.status == 201
    assert opens(shop, old["secret"])
    assert opens(shop, answer.json["secret"])
    assert answer.json["token"]["label"] == "ci"
    assert answer.json["replaced"]["state"] == "rotated"


def test_without_grace_the_old_token_ends_with_the_rotation(shop: Project) -> None:
    old = create(shop)
    answer = rotate(shop, old["token"]["id"], graceMs=0)
    assert not opens(shop, old["secret"])
    assert opens(shop, answer.json["secret"])


def test_when_the_grace_is_over_the_old_tokens_streams_end(shop: Project) -> None:
    old = create(shop)
    stream = Project(shop.hub, shop.name, old["secret"]).register("watcher").stream()
    answer = rotate(shop, old["token"]["id"], graceMs=300)
    with pytest.raises(EOFError):  # ends by itself within the socket's patience
        stream.next("message")
    assert not opens(shop, old["secret"])
    assert opens(shop, answer.json["secret"])


def test_a_new_token_lives_as_long_as_the_old_one_was_meant_to(shop: Project) -> None:
    old = create(shop, ttlMs=3_600_000)["token"]
    new = rotate(shop, old["id"]).json["token"]
    assert new["expiresAt"] >= old["expiresAt"] > new["createdAt"]


def test_a_token_is_rotated_once(shop: Project) -> None:
    old = create(shop)["token"]["id"]
    assert rotate(shop, old).status == 201
    again = rotate(shop, old)
    assert (again.status, again.code) == (409, "token_ended")


def test_a_revoked_token_opens_nothing_and_its_streams_end(shop: Project) -> None:
    made = create(shop)
    agent = Project(shop.hub, shop.name, made["secret"]).register("watcher")
    stream = agent.stream()
    assert revoke(shop, made["token"]["id"]).json["token"]["state"] == "revoked"
    with pytest.raises(EOFError):
        stream.next("message")
    assert agent.call("GET", "/v1/agents").refusal[:2] == (401, "invalid_auth")


def test_revoking_twice_changes_nothing(shop: Project) -> None:
    made = create(shop)["token"]
    first = revoke(shop, made["id"]).json["token"]
    assert revoke(shop, made["id"]).json["token"] == first


def test_an_expired_token_opens_nothing(shop: Project) -> None:
    made = create(shop, ttlMs=1_000)
    stream = Project(shop.hub, shop.name, made["secret"]).register("watcher").stream()
    with pytest.raises(EOFError):
        stream.next("message")
    assert not opens(shop, made["secret"])
    assert listed(shop)[made["token"]["id"]]["state"] == "expired"
    assert rotate(shop, made["token"]["id"]).code == "token_ended"


def test_without_a_live_token_the_admin_token_opens_the_project_again_and_the_answer_says_so(shop: Project) -> None:
    made = create(shop)["token"]
    assert revoke(shop, made["id"]).json["adminTokenAccepted"] is True
    assert opens(shop, shop.hub.admin)


def test_tokens_survive_a_restart(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub()
    shop = Project(hub, "shop", hub.admin)
    kept, ended = create(shop), create(shop)
    revoke(shop, ended["token"]["id"])
    before = listed(shop)
    hub.stop()
    hub.start()
    assert listed(shop) == before
    assert opens(shop, kept["secret"])
    assert not opens(shop, ended["secret"])


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_tokens_are_the_administrators_business(shop: Project, method: str) -> None:
    secret = create(shop)["secret"]
    body: object = {} if method == "POST" else None
    for headers in ({}, {"authorization": f"Bearer {secret}"}):
        assert shop.hub.call(method, path(shop), body, headers).refusal[:2] == (401, "invalid_auth")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"label": "x" * 65}, "label exceeds 64 characters"),
        ({"label": "two\nlines"}, "label must not contain control or format characters"),
        ({"label": 5}, "label must be a string"),
        ({"ttlMs": 999}, "ttlMs must be an integer between 1000 and 31622400000"),
        ({"ttlMs": "1h"}, "ttlMs must be an integer between 1000 and 31622400000"),
        ({"secret": "mine"}, "unknown field; known are: label, ttlMs"),
    ],
)
def test_a_token_that_cannot_be_is_refused_and_not_stored(shop: Project, fields: dict[str, Any], text: str) -> None:
    answer = shop.hub.admin_call("POST", path(shop), fields)
    assert answer.refusal == (400, "protocol_error", text)
    assert listed(shop) == {}


@pytest.mark.parametrize("rest", ["/tok_0", "/tok_0/rotate"])
def test_an_unknown_token_is_not_found(shop: Project, rest: str) -> None:
    body: object = {} if rest.endswith("rotate") else None
    method = "DELETE" if body is None else "POST"
    assert shop.hub.admin_call(method, path(shop, rest), body).refusal[:2] == (404, "token_not_found")


def test_a_token_of_another_project_is_not_found(shop: Project, hub_process: HubProcess) -> None:
    other = create(fresh_project(hub_process))["token"]["id"]
    assert revoke(shop, other).code == "token_not_found"
