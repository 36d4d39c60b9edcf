"""The gateway's agent: its name is had by whoever runs the hub, over the user's socket, and by nobody else."""

from collections.abc import Callable

import pytest

from tests.conftest import fresh_project
from tests.hub_process import Answer, HubProcess, Project
from tests.server.test_contract_hosts import socket_of

NAME = "komnet-gateway"
# Plain ASGI does not tell the caller's uid, so it mints nothing (test_contract_hosts.py).
pytestmark = pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)


@pytest.fixture
def shop(hub_process: HubProcess) -> Project:
    return fresh_project(hub_process)


def minted(project: Project, scope: str = "gateway") -> Project:
    """The project as the holder of a token of that scope sees it."""
    hub = project.hub
    answer = hub.call("POST", "/v1/local/token", {"project": project.name, "scope": scope}, address=socket_of(hub))
    assert answer.status == 201, answer.body
    return Project(hub, project.name, answer.json["token"])


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.code


@pytest.mark.requirement("RELAY-GATEWAY-IDENTITY")
def test_only_a_gateways_token_registers_the_gateways_name(shop: Project) -> None:
    admin = Project(shop.hub, shop.name, shop.hub.admin)
    for other in (shop, admin, minted(shop, "project")):
        assert refused(other.try_register(NAME)) == (403, "name_reserved")
    assert refused(Project(shop.hub, shop.name, "wrong").try_register(NAME)) == (401, "invalid_auth")
    assert minted(shop).register(NAME).name == NAME


def test_a_gateways_token_opens_nothing_else(shop: Project) -> None:
    gateway = minted(shop)
    assert refused(gateway.try_register("reviewer")) == (401, "invalid_auth")
    assert refused(gateway.try_register("Komnet-Gateway")) == (401, "invalid_auth")
    other = Project(shop.hub, fresh_project(shop.hub).name, gateway.token)
    assert refused(other.try_register(NAME)) == (401, "invalid_auth")
    reviewer = shop.register("reviewer")
    held = {"authorization": f"Bearer {gateway.token}"}
    assert refused(reviewer.call("GET", "/v1/agents", headers=held)) == (401, "invalid_auth")


def test_the_gateways_key_is_worth_nothing_with_another_token(shop: Project) -> None:
    gateway = minted(shop).register(NAME)
    assert gateway.call("GET", "/v1/agents").status == 200
    for token in (shop.token, shop.hub.admin):
        answer = gateway.call("GET", "/v1/agents", headers={"authorization": f"Bearer {token}"})
        assert refused(answer) == (401, "invalid_auth")


def test_a_gateways_token_is_minted_over_the_users_socket_only(shop: Project) -> None:
    body = {"project": shop.name, "scope": "gateway"}
    assert refused(shop.hub.admin_call("POST", "/v1/local/token", body)) == (403, "local_only")
    assert refused(shop.hub.admin_call("GET", "/v1/local/projects")) == (403, "local_only")


def test_a_scope_that_is_not_known_is_refused(shop: Project) -> None:
    answer = shop.hub.call(
        "POST", "/v1/local/token", {"project": shop.name, "scope": "admin"}, address=socket_of(shop.hub)
    )
    assert answer.refusal == (400, "protocol_error", "scope must be project or gateway")


def test_the_users_socket_tells_which_projects_there_are(shop: Project) -> None:
    shop.register("reviewer")
    listed = shop.hub.call("GET", "/v1/local/projects", address=socket_of(shop.hub)).json["projects"]
    assert shop.name in listed
    assert listed == sorted(listed)


def test_a_gateways_token_is_kept_over_a_restart_and_ends_when_it_is_revoked(
    hub_process: HubProcess, start_hub: Callable[..., HubProcess]
) -> None:
    hub = start_hub()
    shop = Project(hub, "shop", hub.admin)
    gateway = minted(shop)
    hub.stop()
    hub.start()
    agent = gateway.register(NAME)
    (token,) = hub.admin_call("GET", "/v1/projects/shop/tokens").json["tokens"]
    assert token["scope"] == "gateway"
    hub.admin_call("DELETE", f"/v1/projects/shop/tokens/{token['id']}")
    assert refused(agent.call("GET", "/v1/agents")) == (401, "invalid_auth")
