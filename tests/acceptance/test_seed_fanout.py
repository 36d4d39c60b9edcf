"""«Ask up to three peers at once» of the seed, as printed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.acceptance.shell import Shell
from tests.hub_process import Agent, Project, Stream

PLAN = "Propose a bounded plan for PROD-123 with file ownership and risks."
SHORT = ("--timeout-ms", "100")
pytestmark = pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)  # one carrier of HTTP is enough


@pytest.fixture
def planner(project: Project) -> Agent:
    return project.register("planner")


@pytest.fixture
def reviewer(project: Project) -> Agent:
    return project.register("reviewer")


def by_target(stdout: str) -> dict[str, Any]:
    told = json.loads(stdout)
    assert list(told) == ["responses"]
    return {entry["target"]: entry for entry in told["responses"]}


@contextmanager
def listening(*agents: Agent) -> Iterator[list[Stream]]:
    streams = [agent.stream() for agent in agents]
    yield streams
    for stream in streams:
        stream.close()


@pytest.mark.requirement("MSG-CMD-FANOUT", "MSG-FANOUT-ENTRY", "MSG-FANOUT-FOLLOWUP", "MSG-FANOUT-INDEPENDENT")
def test_the_guides_fan_out_collects_both_replies(lead: Shell, planner: Agent, reviewer: Agent) -> None:
    with listening(planner, reviewer) as streams:
        running = lead.start(
            "fanout", "--targets", "planner", "reviewer", "--content", PLAN,
            "--idempotency-key-prefix", "prod-123-plan", "--timeout-ms", "600000",
        )  # fmt: skip
        for agent, stream in zip((planner, reviewer), streams, strict=True):
            message = stream.next("message").message
            assert (message["content"], message["delivery"], message["toName"]) == (PLAN, "followUp", agent.name)
            agent.reply(message["id"], f"the plan of {agent.name}")
        stdout, stderr = running.communicate(timeout=40)
    assert running.returncode == 0, stderr
    entries = by_target(stdout)
    assert list(entries) == ["planner", "reviewer"]
    for name, entry in entries.items():
        assert (entry["status"], entry["reply"]["content"]) == ("replied", f"the plan of {name}")


@pytest.mark.requirement("MSG-OUT-FANOUT", "MSG-FANOUT-WAIT", "MSG-TROUBLE-PENDING", "MSG-FANOUT-ONE-TO-THREE")
def test_a_pending_entry_has_the_printed_shape_and_its_id_works_later(lead: Shell, reviewer: Agent) -> None:
    printed = lead.peer("fanout", "--targets", "reviewer", "--content", PLAN, *SHORT)
    (message,) = reviewer.inbox()
    assert printed.code == 0
    assert printed.stdout == (
        '{\n  "responses": [\n    {\n'
        '      "target": "reviewer",\n'
        f'      "messageId": "{message["id"]}",\n'
        '      "status": "pending",\n'
        '      "messageStatus": "queued",\n'
        f'      "expiresAt": "{message["expiresAt"]}",\n'
        '      "waitStatus": "timed_out"\n'
        "    }\n  ]\n}\n"
    )
    reviewer.reply(message["id"], "late")
    assert lead.peer("get", message["id"]).json["reply"]["content"] == "late"


@pytest.mark.requirement("MSG-FANOUT-REPEAT", "MSG-TROUBLE-PENDING")
def test_the_exact_call_again_resolves_to_the_same_messages(lead: Shell, planner: Agent, reviewer: Agent) -> None:
    words = (
        "fanout", "--targets", "planner", "reviewer", "--content", PLAN,
        "--idempotency-key-prefix", "prod-123-plan", "--correlation-id", "PROD-123", *SHORT,
    )  # fmt: skip
    first = by_target(lead.peer(*words).stdout)
    planner.acknowledge(first["planner"]["messageId"])
    planner.reply(first["planner"]["messageId"], "meanwhile")
    again = by_target(lead.peer(*words).stdout)
    assert {name: entry["messageId"] for name, entry in again.items()} == {
        name: entry["messageId"] for name, entry in first.items()
    }
    assert (again["planner"]["status"], again["reviewer"]["status"]) == ("replied", "pending")
    assert len(reviewer.inbox()) == 1
    other = tuple("PROD-124" if word == "PROD-123" else word for word in words)
    assert by_target(lead.peer(*other).stdout)["reviewer"]["messageId"] != first["reviewer"]["messageId"]


@pytest.mark.requirement("MSG-FANOUT-MERGES-NAMES", "MSG-FANOUT-ONE-TO-THREE")
def test_duplicate_names_are_one(lead: Shell, project: Project, planner: Agent, reviewer: Agent) -> None:
    third = project.register("third")
    words = ("--targets", "planner", "PLANNER", "reviewer", " Reviewer ", "third")
    entries = by_target(lead.peer("fanout", *words, "--content", PLAN, *SHORT).stdout)
    assert list(entries) == ["planner", "reviewer", "third"]
    assert [len(agent.inbox()) for agent in (planner, reviewer, third)] == [1, 1, 1]


@pytest.mark.requirement("MSG-FANOUT-ONE-TO-THREE")
def test_four_targets_are_refused_and_nothing_is_sent(lead: Shell, planner: Agent) -> None:
    printed = lead.peer("fanout", "--targets", "planner", "b", "c", "d", "--content", PLAN, *SHORT)
    assert printed.code != 0
    assert "fanout requires between one and three unique targets" in printed.stderr
    assert planner.inbox() == []


@pytest.mark.requirement("MSG-FANOUT-ONLINE-ONLY", "MSG-FANOUT-INDEPENDENT", "MSG-FANOUT-ENTRY")
def test_an_offline_target_is_an_error_of_its_own_and_stops_no_other(
    lead: Shell, project: Project, planner: Agent, reviewer: Agent
) -> None:
    reviewer.leave()
    printed = lead.peer("fanout", "--targets", "planner", "reviewer", "nobody", "--content", PLAN, *SHORT)
    entries = by_target(printed.stdout)
    assert printed.code == 0
    assert entries["planner"]["status"] == "pending"
    for name in ("reviewer", "nobody"):
        assert entries[name] == {"target": name, "status": "error", "error": f"online target not found: {name}"}
    assert project.register("reviewer").inbox() == []


@pytest.mark.requirement("MSG-OFFLINE-NO-FANOUT")
def test_a_fan_out_has_no_offline_option(lead: Shell, planner: Agent) -> None:
    printed = lead.peer("fanout", "--targets", "planner", "--content", PLAN, "--allow-offline", *SHORT)
    assert printed.code == 2
    assert planner.inbox() == []


@pytest.mark.requirement("MSG-FANOUT-WAIT", "MSG-LIMIT-FANOUT")
def test_a_fan_out_waits_half_an_hour_at_most(lead: Shell, planner: Agent) -> None:
    for words in (("--timeout-ms", "1800001"), ("--timeout-ms", "99")):
        printed = lead.peer("fanout", "--targets", "planner", "--content", PLAN, *words)
        assert printed.code == 2
        assert "timeoutMs must be an integer between 100 and 1800000" in printed.stderr
    assert planner.inbox() == []
    most = ("fanout", "--targets", "planner", "--content", PLAN, "--timeout-ms", "1800000", "--dry-run")
    assert lead.peer(*most).json["args"]["timeoutMs"] == 1_800_000


@pytest.mark.requirement("MSG-FANOUT-ENTRY")
@pytest.mark.parametrize(("ending", "status"), [("cancel", "cancelled"), ("expire", "expired")])
def test_a_fan_out_reports_the_other_final_states(
    lead: Shell, project: Project, planner: Agent, ending: str, status: str
) -> None:
    ttl = ("--ttl-ms", "1000") if ending == "expire" else ()
    with planner.stream() as stream:
        running = lead.start("fanout", "--targets", "planner", "--content", PLAN, "--timeout-ms", "30000", *ttl)
        message = stream.next("message").message["id"]
        if ending == "cancel":
            assert lead.peer("cancel", message).json["status"] == "cancelled"
        stdout, stderr = running.communicate(timeout=40)
    assert running.returncode == 0, stderr
    entry = by_target(stdout)["planner"]
    assert (entry["messageId"], entry["status"]) == (message, status)
    assert entry["error"]
