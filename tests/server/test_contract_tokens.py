"""Project tokens over HTTP: created, listed, rotated with both valid, revoked live; secrets shown once, kept hashed."""

from pathlib import Path
from typing import Any

import pytest

from tests.hub_process import Agent, Answer, HubProcess, Project


def tokens(project: Project, method: str, path: str = "", body: object = None) -> Answer:
    return project.hub.admin_call(method, f"/v1/projects/{project.name}/tokens{path}", body)


def created(project: Project, **fields: object) -> Any:
    answer = tokens(project, "POST", body={"label": "ci", **fields})
    assert answer.status == 201, answer.body
    return answer.json


def opens(project: Project, secret: str) -> bool:
    """Whether `secret` opens the project: asked with a registration that fails only for its name."""
    answer = Project(project.hub, project.name, secret).try_register("human")
    assert answer.code in ("name_reserved", "invalid_auth")
    return answer.code == "name_reserved"


def test_a_created_token_opens_its_project_and_closes_it_to_the_admin_token(project: Project) -> None:
    assert opens(project, project.hub.admin)
    made = created(project)
    assert opens(project, made["secret"])
    assert not opens(project, project.hub.admin)
    assert made["token"]["label"] == "ci"
    assert "secret" not in made["token"]


def test_the_list_shows_tokens_without_their_secrets(project: Project) -> None:
    made = created(project)
    answer = tokens(project, "GET")
    assert [token["id"] for token in answer.json["tokens"]] == [made["token"]["id"]]
    assert made["secret"] not in answer.body.decode()


def test_a_rotated_token_and_its_successor_are_valid_side_by_side(project: Project) -> None:
    first = created(project)
    answer = tokens(project, "POST", f"/{first['token']['id']}/rotate", {})
    assert answer.status == 201
    assert opens(project, first["secret"])
    assert opens(project, answer.json["secret"])


def test_a_revoked_token_opens_nothing_and_ends_its_streams(project: Project) -> None:
    kept, made = created(project), created(project)
    agent = Project(project.hub, project.name, made["secret"]).register("lead")
    stream = agent.stream()
    assert tokens(project, "DELETE", f"/{made['token']['id']}").status == 200
    with pytest.raises((EOFError, ConnectionError)):
        stream.next("never")
    assert agent.call("GET", "/v1/agents").code == "invalid_auth"
    assert not opens(project, made["secret"])
    assert opens(project, kept["secret"])


def test_a_token_that_runs_out_ends_by_itself_with_its_streams(project: Project) -> None:
    created(project)
    made = created(project, ttlMs=1_000)
    stream = Project(project.hub, project.name, made["secret"]).register("lead").stream()
    with pytest.raises((EOFError, ConnectionError)):
        stream.next("never")
    assert not opens(project, made["secret"])


def test_only_the_administrator_handles_tokens(lead: Agent) -> None:
    path = f"/v1/projects/{lead.project.name}/tokens"
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Bearer token-of-listed-a"}):
        for method in ("GET", "POST"):
            answer = lead.project.hub.call(method, path, None if method == "GET" else {"label": "x"}, headers)
            assert (answer.status, answer.code) == (401, "invalid_auth")
    assert lead.call("GET", "/v1/agents").status == 200


def test_an_unknown_token_is_not_found(project: Project) -> None:
    assert (tokens(project, "DELETE", "/nothing").status, tokens(project, "DELETE", "/nothing").code) == (
        404, "token_not_found",
    )  # fmt: skip


def test_the_store_holds_neither_tokens_nor_keys(hub_process: HubProcess, project: Project) -> None:
    made = created(project)
    agent = Project(hub_process, project.name, made["secret"]).register("lead")
    files = sorted(Path(hub_process.storage).parent.glob(f"{Path(hub_process.storage).name}*"))
    stored = b"".join(path.read_bytes() for path in files)
    assert agent.id.encode() in stored
    for secret in (made["secret"], agent.key, hub_process.admin):
        assert secret.encode() not in stored
