"""`/metrics`: the contract's names, in a form that Prometheus' own parser reads, with figures that move."""

from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from peerline.core.histogram import DURATIONS_S
from peerline.server.metrics import COUNTERS
from tests.hub_process import HubProcess, Project

GAUGES = (
    "kxm_online_agents",
    "kxm_messages",
    "kxm_undelivered_messages",
    "kxm_oldest_unacknowledged_seconds",
    "kxm_open_streams",
    "kxm_waits",
    "kxm_wal_pages",
    "kxm_store_trouble",
)


@pytest.fixture
def hub(start_hub: Callable[..., HubProcess]) -> HubProcess:
    return start_hub()


def read(hub: HubProcess) -> dict[str, float]:
    """Sample name, with its labels behind it, to value."""
    answer = hub.admin_call("GET", "/metrics")
    assert answer.status == 200
    assert answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8"
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(answer.body.decode()):
        for sample in family.samples:
            found[sample.name + "".join(f" {value}" for _, value in sorted(sample.labels.items()))] = sample.value
    return found


def test_every_promised_name_is_there_from_the_start(hub: HubProcess) -> None:
    found = read(hub)
    assert [name for name in (*GAUGES, *COUNTERS) if name not in found] == []


def test_the_figures_follow_what_happens(hub: HubProcess) -> None:
    project = Project(hub, "shop", hub.admin)
    lead, reviewer = project.register("lead"), project.register("reviewer")
    with reviewer.stream():
        first = lead.send("reviewer")["id"]
        lead.send("reviewer")
        cancelled = lead.send("reviewer")["id"]
        lead.cancel(cancelled)
        before = read(hub)
        assert before["kxm_online_agents"] == 2
        assert before["kxm_registrations_total"] == 2
        assert before["kxm_messages"] == 3
        assert before["kxm_messages_sent_total"] == 3
        assert before["kxm_messages_cancelled_total"] == 1
        assert before["kxm_undelivered_messages"] == 2
        assert before["kxm_open_streams"] == 1
    reviewer.reply(first)
    after = read(hub)
    assert after["kxm_messages_replied_total"] == 1
    assert after["kxm_undelivered_messages"] == 1
    assert after["kxm_oldest_unacknowledged_seconds"] > 0
    assert after["kxm_requests_total"] > before["kxm_requests_total"]


def test_messages_are_counted_right_after_a_restart_and_on(hub: HubProcess) -> None:
    project = Project(hub, "shop", hub.admin)
    lead, _ = project.register("lead"), project.register("reviewer")
    for _ in range(3):
        lead.send("reviewer")
    hub.stop()
    hub.start()
    assert read(hub)["kxm_messages"] == 3
    lead.send("reviewer", allowOffline=True)
    found = read(hub)
    assert (found["kxm_messages"], found["kxm_messages_sent_total"]) == (4, 1)


def test_each_request_stands_in_its_routes_histogram_once(hub: HubProcess) -> None:
    project = Project(hub, "shop", hub.admin)
    lead, _ = project.register("lead"), project.register("reviewer")
    for _ in range(5):
        lead.send("reviewer")
    found = read(hub)
    name = "kxm_request_duration_seconds"
    assert found[f"{name}_count POST /v1/messages"] == 5
    assert found[f"{name}_count POST /v1/agents/register"] == 2
    buckets = [found[f"{name}_bucket {bound} POST /v1/messages"] for bound in (*map(str, DURATIONS_S), "+Inf")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 5
    assert 0 < found[f"{name}_sum POST /v1/messages"] < 60


def test_refusals_are_timed_and_counted_too(hub: HubProcess) -> None:
    hub.call("POST", "/v1/messages", {})
    found = read(hub)
    assert found["kxm_request_duration_seconds_count POST /v1/messages"] == 1
    assert found["kxm_errors_total"] == 1


def test_a_long_wait_is_no_latency(hub: HubProcess) -> None:
    project = Project(hub, "shop", hub.admin)
    lead, _ = project.register("lead"), project.register("reviewer")
    message = lead.send("reviewer")["id"]
    lead.wait(message, 50)
    lead.get(message)
    assert read(hub)["kxm_request_duration_seconds_count GET /v1/messages/{id}"] == 1


def test_commits_are_counted_by_duration_and_by_size(hub: HubProcess) -> None:
    project = Project(hub, "shop", hub.admin)
    lead, _ = project.register("lead"), project.register("reviewer")
    lead.send("reviewer")
    found = read(hub)
    assert found["kxm_commit_duration_seconds_count"] >= 3
    assert found["kxm_commit_group_size_count"] == found["kxm_commit_duration_seconds_count"]
    assert found["kxm_commit_group_size_sum"] >= found["kxm_commit_group_size_count"]


def test_metrics_are_the_administrators_business(project: Project) -> None:
    answer = project.hub.call("GET", "/metrics")
    assert answer.refusal == (401, "invalid_auth", "invalid administrative authentication token")


def test_no_figure_names_an_agent_a_project_or_a_message(hub: HubProcess) -> None:
    project = Project(hub, "shop-of-secrets", hub.admin)
    lead, _ = project.register("lead-of-secrets"), project.register("reviewer")
    message: Any = lead.send("reviewer", "text-of-secrets")
    text = hub.admin_call("GET", "/metrics").body.decode()
    assert "of-secrets" not in text
    assert message["id"] not in text
