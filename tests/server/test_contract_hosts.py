"""Who may call at all: Host, Origin and the user's own socket (decision 16; quality/reliability.md 3.4)."""

import stat
from pathlib import Path

import pytest

from tests.conftest import LISTED, fresh_project
from tests.hub_process import Agent, Answer, Connection, HubProcess, Project


def with_hosts(hub: HubProcess, *hosts: str, target: str = "/health", extra: str = "") -> Answer:
    connection = Connection(hub.address)
    lines = [f"GET {target} HTTP/1.1", *(f"Host: {host}" for host in hosts), "Connection: close"]
    connection.write(("\r\n".join(lines) + "\r\n" + extra + "\r\n").encode())
    answer = connection.answer()
    connection.close()
    return answer


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}"])
def test_a_bound_address_and_localhost_are_answered(hub_process: HubProcess, host: str) -> None:
    assert with_hosts(hub_process, host.format(port=hub_process.address[1])).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost", "localhost.evil.example:{port}",
     "127.0.0.1.nip.example:{port}", "0.0.0.0:{port}", "user@127.0.0.1:{port}"],
)  # fmt: skip
def test_any_other_host_is_misdirected_on_every_route(hub_process: HubProcess, host: str) -> None:
    for target in ("/health", "/nowhere", "/v1/agents", "/v1/events?agentId=a"):
        answer = with_hosts(hub_process, host.format(port=hub_process.address[1]), target=target)
        assert answer.status in (400, 421)
        assert answer.code in ("host_not_allowed", "invalid_request")
    if "@" not in host:
        assert answer.status == 421


def test_no_host_and_two_hosts_are_bad_requests(hub_process: HubProcess) -> None:
    own = f"127.0.0.1:{hub_process.address[1]}"
    assert with_hosts(hub_process).status == 400
    assert with_hosts(hub_process, own, own).status == 400
    assert with_hosts(hub_process, own, "evil.example").status == 400


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", "https://localhost", "http://127.0.0.1:1", "file://"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_foreign_origin_is_refused_before_anything_else(lead: Agent, origin: str, method: str) -> None:
    path = "/v1/agents" if method == "GET" else "/v1/messages"
    answer = lead.call(method, path, None if method == "GET" else {"target": "x"}, {"origin": origin})
    assert (answer.status, answer.code) == (403, "origin_not_allowed")
    assert answer.header("access-control-allow-origin") is None


def test_a_foreign_origin_opens_no_stream(lead: Agent) -> None:
    headers = {**lead.headers, "origin": "http://evil.example"}
    with lead.project.hub.stream(f"/v1/events?agentId={lead.id}", headers) as stream:
        assert (stream.status, stream.refused()["code"]) == (403, "origin_not_allowed")


def test_the_host_is_judged_before_the_token(hub_process: HubProcess) -> None:
    answer = with_hosts(hub_process, "evil.example:80", target="/v1/agents", extra="Authorization: Bearer wrong\r\n")
    assert answer.code == "host_not_allowed"


def socket_of(hub: HubProcess) -> str:
    (path,) = (hub.home / "state").glob("hub-*.sock")
    return str(path)


def test_the_users_socket_is_the_users_alone_and_checks_no_host(hub_process: HubProcess) -> None:
    path = socket_of(hub_process)
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    answer = hub_process.call("GET", "/health", headers={"host": "anything"}, address=path)
    assert answer.status == 200


def test_the_socket_is_no_credential(hub_process: HubProcess, lead: Agent) -> None:
    path = socket_of(hub_process)
    body = {"name": "other", "project": lead.project.name}
    assert hub_process.call("POST", "/v1/agents/register", body, address=path).code == "invalid_auth"
    assert hub_process.call("GET", "/metrics", address=path).code == "invalid_auth"
    assert hub_process.call("GET", "/v1/agents", headers=lead.headers, address=path).status == 200


@pytest.mark.parametrize("hub_process", ["asgi"], indirect=True)
def test_plain_asgi_cannot_know_the_callers_uid_and_mints_nothing(hub_process: HubProcess) -> None:
    answer = hub_process.call("POST", "/v1/local/token", {"project": "p"}, address=socket_of(hub_process))
    assert (answer.status, answer.code) == (403, "local_only")


@pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)
def test_over_the_socket_the_user_gets_a_token_for_a_project(hub_process: HubProcess) -> None:
    project = fresh_project(hub_process)
    answer = hub_process.call("POST", "/v1/local/token", {"project": project.name}, address=socket_of(hub_process))
    assert answer.status == 201
    assert answer.json["project"] == project.name
    assert Project(hub_process, project.name, answer.json["token"]).try_register("lead").status == 201
    assert project.try_register("second").status == 201  # minting does not close the project to the admin token
    other = Project(hub_process, f"{project.name}-too", answer.json["token"])
    assert other.try_register("lead").code == "invalid_auth"
    assert (
        hub_process.call(
            "GET", "/metrics", headers=project.bearer | {"authorization": f"Bearer {answer.json['token']}"}
        ).status
        == 401
    )


@pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)
def test_a_listed_project_gets_its_local_token_beside_its_own(hub_process: HubProcess) -> None:
    answer = hub_process.call("POST", "/v1/local/token", {"project": "listed-b"}, address=socket_of(hub_process))
    assert answer.status == 201
    for token in (answer.json["token"], LISTED["listed-b"]):
        agent = Project(hub_process, "listed-b", token).register("local-check")
        agent.leave()
    assert Project(hub_process, "listed-b", hub_process.admin).try_register("no").code == "invalid_auth"


def test_over_tcp_nobody_mints_a_token(hub_process: HubProcess) -> None:
    answer = hub_process.call(
        "POST", "/v1/local/token", {"project": "p"}, {"authorization": f"Bearer {hub_process.admin}"}
    )
    assert (answer.status, answer.code) == (403, "local_only")
