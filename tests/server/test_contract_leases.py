"""Leases with fencing tokens (spec/hub.md 3.10)."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.conftest import fresh_project
from tests.hub_process import Agent, Answer, HubProcess, Project

MEMBERS = {"resource", "project", "name", "holderAgentId", "holderAgentName", "fencingToken", "acquiredAt", "expiresAt"}


def act(agent: Agent, what: str, **fields: object) -> Answer:
    return agent.call("POST", f"/v1/leases/deploy/{what}", fields)


def acquired(agent: Agent, **fields: object) -> Any:
    answer = act(agent, "acquire", **fields)
    assert answer.status == 200, answer.body
    return answer.json["lease"]


def lifetime(lease: Any) -> timedelta:
    return datetime.fromisoformat(lease["expiresAt"]) - datetime.fromisoformat(lease["acquiredAt"])


def test_a_free_lease_is_granted_with_token_one_for_five_minutes(project: Project, lead: Agent) -> None:
    answer = act(lead, "acquire")
    lease = answer.json["lease"]
    assert (answer.status, answer.json["renewed"]) == (200, False)
    assert set(lease) == MEMBERS
    assert (lease["resource"], lease["project"], lease["name"]) == (f"{project.name}/deploy", project.name, "deploy")
    assert (lease["holderAgentId"], lease["holderAgentName"], lease["fencingToken"]) == (lead.id, "lead", 1)
    assert lifetime(lease) == timedelta(minutes=5)


def test_ones_own_live_lease_is_extended_under_the_same_token(lead: Agent) -> None:
    first = acquired(lead, ttlMs=5_000)
    answer = act(lead, "acquire", ttlMs=600_000)
    assert answer.json["renewed"] is True
    assert answer.json["lease"]["fencingToken"] == first["fencingToken"]
    assert answer.json["lease"]["expiresAt"] > first["expiresAt"]


def test_anothers_lease_is_refused_with_its_record(lead: Agent, reviewer: Agent) -> None:
    lease = acquired(lead)
    answer = act(reviewer, "acquire")
    assert (answer.status, answer.code, answer.json["lease"]) == (409, "lease_held", lease)


def test_the_same_name_in_another_project_is_another_lease(hub_process: HubProcess, lead: Agent) -> None:
    acquired(lead)
    assert acquired(fresh_project(hub_process).register("lead"))["fencingToken"] == 1


def test_a_renewal_needs_the_holder_and_its_token(lead: Agent, reviewer: Agent) -> None:
    assert (act(lead, "renew", fencingToken=1).status, act(lead, "renew", fencingToken=1).code) == (
        404, "lease_not_found",
    )  # fmt: skip
    acquired(lead)
    missing = act(lead, "renew")
    assert (missing.status, missing.code) == (400, "lease_token_required")
    for agent, token in ((lead, 2), (reviewer, 1)):
        answer = act(agent, "renew", fencingToken=token)
        assert (answer.status, answer.code) == (409, "lease_superseded")
    answer = act(lead, "renew", fencingToken=1, ttlMs=600_000)
    assert (answer.status, answer.json["renewed"]) == (200, True)
    assert answer.json["lease"]["fencingToken"] == 1


def test_a_release_deletes_the_lease_and_the_next_starts_at_one(lead: Agent, reviewer: Agent) -> None:
    assert act(lead, "release", fencingToken=1).code == "lease_not_found"
    lease = acquired(lead)
    assert act(lead, "release").code == "lease_token_required"
    assert act(reviewer, "release", fencingToken=1).code == "lease_superseded"
    assert act(lead, "release", fencingToken=9).code == "lease_superseded"
    answer = act(lead, "release", fencingToken=1)
    assert (answer.status, answer.json) == (200, {"released": True, "lease": lease})
    assert acquired(reviewer)["fencingToken"] == 1


@pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)  # it costs five seconds
def test_a_lease_that_ran_out_goes_to_the_next_with_a_higher_token(lead: Agent, reviewer: Agent) -> None:
    acquired(lead, ttlMs=5_000)
    clock = reviewer.send("lead", ttlMs=5_050)["id"]
    reviewer.until_expired(clock)  # longer than the lease, by the same clock
    answer = act(lead, "renew", fencingToken=1)
    assert (answer.status, answer.code) == (409, "lease_expired")
    answer = act(reviewer, "acquire")
    assert (answer.json["lease"]["fencingToken"], answer.json["renewed"]) == (2, False)
    assert act(lead, "renew", fencingToken=1).code == "lease_superseded"
    assert act(lead, "release", fencingToken=1).code == "lease_superseded"


@pytest.mark.parametrize("ttl", [4_999, 600_001, None, "5000", True])
def test_a_lease_lasts_five_seconds_to_ten_minutes(lead: Agent, ttl: object) -> None:
    answer = act(lead, "acquire", ttlMs=ttl)
    assert answer.refusal == (400, "protocol_error", "ttlMs must be an integer between 5000 and 600000")


@pytest.mark.parametrize("name", ["x" * 201, "%20"])
def test_a_leases_name_has_the_rules_of_a_field(lead: Agent, name: str) -> None:
    answer = lead.call("POST", f"/v1/leases/{name}/acquire", {})
    assert (answer.status, answer.code) == (400, "protocol_error")


def test_an_unknown_act_on_a_lease_is_no_route(lead: Agent) -> None:
    assert act(lead, "steal").code == "route_not_found"
