"""The rate limit (spec/hub.md 3.2; who is charged: decision 16), each against a hub of its own."""

from collections.abc import Callable

import pytest

from tests.conftest import fresh_project
from tests.hub_process import Agent, Answer, HubProcess

LIMIT = 20
HubStarter = Callable[..., HubProcess]


def limited(start_hub: HubStarter, most: int = LIMIT, window_ms: int = 3_600_000) -> HubProcess:
    return start_hub(KXM_RATE_LIMIT_MAX=str(most), KXM_RATE_LIMIT_WINDOW_MS=str(window_ms))


def listing(agent: Agent, **headers: str) -> Answer:
    return agent.call("GET", "/v1/agents", headers=headers)


@pytest.mark.requirement("MSG-LIMIT-RATE-VARIABLES", "MSG-LIMIT-RATE-WHO", "MSG-ERR-RATE-LIMITED")
def test_an_agent_is_stopped_at_its_limit_and_the_others_are_not(start_hub: HubStarter) -> None:
    hub = limited(start_hub)
    project = fresh_project(hub)
    lead, reviewer = project.register("lead"), project.register("reviewer")
    for left in range(LIMIT - 1, -1, -1):
        answer = listing(lead)
        assert answer.status == 200
        assert (answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-remaining")) == (str(LIMIT), str(left))
    answer = listing(lead)
    assert answer.refusal == (429, "rate_limited", "request rate limit exceeded")
    assert 1 <= int(answer.header("retry-after") or 0) <= 3_600
    assert (answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-remaining")) == (str(LIMIT), "0")
    assert listing(reviewer).status == 200
    assert lead.try_send("reviewer").code == "rate_limited"
    assert reviewer.inbox() == []


def test_an_identity_that_is_not_proved_is_charged_to_the_address(start_hub: HubStarter) -> None:
    hub = limited(start_hub)
    project = fresh_project(hub)
    lead = project.register("lead")
    statuses = [listing(lead, **{"x-kxm-agent-key": "wrong"}).status for _ in range(LIMIT + 1)]
    assert statuses[-1] == 429
    assert set(statuses) == {401, 429}
    invented = [hub.call("GET", "/v1/agents", headers={"x-kxm-agent-id": f"agt_{n}"}).status for n in range(3)]
    assert invented == [429, 429, 429]
    assert listing(lead).status == 200


def test_a_forwarded_address_is_not_believed(start_hub: HubStarter) -> None:
    hub = limited(start_hub)
    statuses = {
        hub.call(
            "GET", "/nowhere", headers={"x-forwarded-for": f"203.0.113.{n}", "forwarded": f"for=203.0.113.{n}"}
        ).status
        for n in range(LIMIT + 1)
    }
    assert statuses == {404, 429}


def test_health_and_ready_are_never_limited(start_hub: HubStarter) -> None:
    hub = limited(start_hub, most=1)
    assert hub.call("GET", "/nowhere").status == 404
    assert hub.call("GET", "/nowhere").status == 429
    for path in ("/health", "/ready") * 3:
        answer = hub.call("GET", path)
        assert answer.status == 200
        assert answer.header("x-ratelimit-limit") is None


def test_a_window_that_is_over_counts_from_nothing_again(start_hub: HubStarter) -> None:
    hub = limited(start_hub, most=4, window_ms=1_000)
    lead = fresh_project(hub).register("lead")
    assert {listing(lead).status for _ in range(12)} == {200, 429}
    other = lead.project.register("other")
    clock = other.send("lead", ttlMs=1_000)["id"]
    other.wait(clock, 1_050)  # a whole window has passed by the hub's clock
    assert listing(lead).status == 200


@pytest.mark.requirement("MSG-LIMIT-RATE")
def test_the_limit_is_600_in_60_seconds_by_default(start_hub: HubStarter) -> None:
    hub = start_hub(KXM_RATE_LIMIT_MAX="")
    answer = listing(fresh_project(hub).register("lead"))
    assert (answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-remaining")) == ("600", "599")
