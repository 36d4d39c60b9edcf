"""Health, readiness, metrics and what operators see (spec/hub.md 3.6, 3.12)."""

from tests.conftest import fresh_project
from tests.hub_process import Agent, HubProcess


def test_health_counts_the_online_agents_of_all_projects(hub_process: HubProcess) -> None:
    def online() -> int:
        answer = hub_process.call("GET", "/health").json
        assert answer["ok"] is True
        return int(answer["agents"])

    def counted() -> tuple[int, int]:
        """By how much the number rises with an agent, and falls when it leaves."""
        before = online()
        agent = fresh_project(hub_process).register("lead")
        among = online()
        agent.leave()
        return among - before, among - online()

    # Other tests' agents are on this hub: the leases of many may run out between two looks, but not between all.
    assert (1, 1) in [counted() for _ in range(5)]


def test_ready_names_the_storage(hub_process: HubProcess) -> None:
    answer = hub_process.call("GET", "/ready")
    assert answer.status == 200
    assert answer.json["ok"] is True
    assert answer.json["storage"] == "sqlite"


def test_health_and_ready_need_no_proof_and_tell_no_names(hub_process: HubProcess, lead: Agent) -> None:
    for path in ("/health", "/ready"):
        answer = hub_process.call("GET", path, headers={"authorization": "Bearer wrong"})
        assert answer.status == 200
        assert lead.project.name not in answer.body.decode()


def test_metrics_are_the_administrators_text(hub_process: HubProcess, lead: Agent, reviewer: Agent) -> None:
    lead.send("reviewer", "a body that no metric shows")
    answer = hub_process.admin_call("GET", "/metrics")
    assert answer.status == 200
    assert (answer.header("content-type") or "").startswith("text/plain; version=0.0.4; charset=utf-8")
    assert answer.header("cache-control") == "no-store"
    assert "# TYPE " in answer.body.decode()
    assert "a body" not in answer.body.decode()


def test_the_snapshot_shows_agents_and_open_messages_without_bodies(
    hub_process: HubProcess, lead: Agent, reviewer: Agent
) -> None:
    message = lead.send("reviewer", "a body that no operator sees", correlationId="corr")
    lead.cancel(lead.send("reviewer")["id"])
    answer = hub_process.admin_call("GET", f"/v1/ops/snapshot?project={lead.project.name}")
    assert answer.status == 200
    assert "a body" not in answer.body.decode()
    assert answer.json["project"] == lead.project.name
    assert [agent["name"] for agent in answer.json["agents"]] == ["lead", "reviewer"]
    assert answer.json["openMessageTotal"] == 1
    (shown,) = answer.json["openMessages"]
    assert shown == {
        name: message[name] for name in ("id", "status", "fromName", "toName", "delivery", "createdAt", "correlationId")
    }
    assert (answer.json["runs"], answer.json["runTotal"], answer.json["plans"]) == ([], 0, [])


def test_the_operators_stream_says_what_changed_and_nothing_else(hub_process: HubProcess, lead: Agent) -> None:
    path = f"/v1/ops/events?project={lead.project.name}"
    with hub_process.stream(path, {"authorization": f"Bearer {hub_process.admin}"}) as stream:
        assert stream.status == 200
        assert stream.frame().kind == "ready"
        reviewer = lead.project.register("reviewer")
        change = stream.next("ops").data
        assert {name: change[name] for name in ("type", "project", "topic")} == {
            "type": "ops", "project": lead.project.name, "topic": "agents",
        }  # fmt: skip
        reviewer.send("lead", "secret words")
        while (change := stream.next("ops").data)["topic"] != "messages":
            pass
        assert set(change) == {"type", "project", "topic", "at"}


def test_operators_must_name_a_project(hub_process: HubProcess) -> None:
    assert hub_process.admin_call("GET", "/v1/ops/snapshot").code == "protocol_error"
