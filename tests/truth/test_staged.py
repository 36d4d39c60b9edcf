"""Messages that do not arrive, each staged on a real hub: the trail, `kxm peer trace` and `peerline why` name the same
cause and the same next step, and both are the right ones."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from peerline.cli.hot_hook import ASKS
from peerline.cli.hot_paths import key_path
from peerline.mcp_stdio.codex_thread import EXEC
from peerline.mcp_stdio.silence import silence
from tests.acceptance.shell import Shell
from tests.cli.person_shell import Shell as PersonShell
from tests.conftest import fresh_project
from tests.hub_process import Agent, Answer, HubProcess, Project

PAIR_LIMIT, QUEUE_LIMIT = 2, 6
LOOKS = 100
NO_MONITOR = silence("claude-code", headless=False, watched=False)
HEADLESS = silence("claude-code", headless=True, watched=False)
SHORT: dict[str, Any] = {"ttlMs": 1_000}

Staging = Callable[[Agent, Agent], str]
"""Brings a request from `lead` to `reviewer` to a stand; its id."""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    found = HubProcess(tmp_path_factory.mktemp("hub"), KXM_PAIR_LIMIT=str(PAIR_LIMIT), KXM_QUEUE_LIMIT=str(QUEUE_LIMIT))
    yield found.start()
    found.stop()


@pytest.fixture
def place(hub: HubProcess) -> Project:
    return fresh_project(hub)


def sent(lead: Agent, reviewer: Agent, **fields: Any) -> str:
    return str(lead.send(reviewer.name, **fields)["id"])


def taken(lead: Agent, reviewer: Agent) -> str:
    message_id = sent(lead, reviewer)
    assert reviewer.acknowledge(message_id).status == 200
    return message_id


def replied(lead: Agent, reviewer: Agent) -> str:
    message_id = sent(lead, reviewer)
    assert reviewer.reply(message_id).status == 200
    return message_id


def held(lead: Agent, reviewer: Agent, **fields: Any) -> str:
    for _ in range(PAIR_LIMIT):
        sent(lead, reviewer)
    return sent(lead, reviewer, **fields)


def told(agent: Agent, message_id: str, fact: str, adapter: str, reason: str | None = None) -> str:
    """What an adapter at that end reports."""
    body = {"fact": fact, "adapter": adapter} | ({"reason": reason} if reason else {})
    assert agent.call("POST", f"/v1/messages/{message_id}/facts", body).status == 201
    return message_id


def offline(lead: Agent, reviewer: Agent) -> str:
    reviewer.leave()
    return sent(lead, reviewer, allowOffline=True)


def pushed_not_taken(lead: Agent, reviewer: Agent) -> str:
    stream = reviewer.stream()
    message_id = sent(lead, reviewer)
    stream.messages_until(message_id)
    return message_id


def taken_then_gone(lead: Agent, reviewer: Agent) -> str:
    message_id = taken(lead, reviewer)
    reviewer.leave()
    return message_id


def announced_then_gone(lead: Agent, reviewer: Agent) -> str:
    message_id = told(reviewer, sent(lead, reviewer), "announced", "monitor")
    reviewer.leave()
    return message_id


def in_turn_then_gone(lead: Agent, reviewer: Agent) -> str:
    message_id = told(reviewer, taken(lead, reviewer), "in turn", "claude-code")
    reviewer.leave()
    return message_id


def unheard_then_gone(lead: Agent, reviewer: Agent) -> str:
    message_id = told(reviewer, sent(lead, reviewer), "not announced", "codex", EXEC)
    reviewer.leave()
    return message_id


def fetched_not_answered(lead: Agent, reviewer: Agent) -> str:
    message_id = sent(lead, reviewer)
    assert [one["id"] for one in reviewer.inbox()] == [message_id]
    return message_id


def expired(lead: Agent, reviewer: Agent) -> str:
    message_id = sent(lead, reviewer, **SHORT)
    lead.until_expired(message_id)
    return message_id


def expired_while_held(lead: Agent, reviewer: Agent) -> str:
    message_id = held(lead, reviewer, **SHORT)
    lead.until_expired(message_id)
    return message_id


def cancelled(lead: Agent, reviewer: Agent) -> str:
    message_id = taken(lead, reviewer)
    assert lead.cancel(message_id).status == 200
    return message_id


def reply_pushed_not_read(lead: Agent, reviewer: Agent) -> str:
    stream = lead.stream()
    message_id = replied(lead, reviewer)
    assert stream.next("reply").message["id"] == message_id
    return message_id


@dataclass(frozen=True, slots=True)
class Stage:
    """A request that stands still, why it does, and what its sender is to do; `ID` is its id."""

    name: str
    bring: Staging
    why: str
    next: str

    def __str__(self) -> str:
        return self.name


BUSY = "wait: it may be busy with earlier work"
RUNNING = "wait: its turn may still be running"
FETCH = "kxm peer get ID"
AGAIN = "send it again under a new idempotency key if it still matters"
GONE = "wait for reviewer to come back, or cancel it and send it again under a new idempotency key"
LATER = "reviewer sees it in its next session, or when it reads its inbox"

STAGES = [
    Stage(
        "offline",
        offline,
        "stored; reviewer is offline",
        "it goes out when reviewer connects; do not send it again",
    ),
    Stage(
        "no stream",
        sent,
        "stored; reviewer is online but has no open stream",
        "reviewer sees it when it reads its inbox",
    ),
    Stage("stream, no ack", pushed_not_taken, "pushed to reviewer, which has not taken it yet", BUSY),
    Stage("taken", taken, "taken by reviewer, which has not replied yet", RUNNING),
    Stage("taken, then died", taken_then_gone, "taken by reviewer, which went offline before it replied", GONE),
    Stage(
        "announced, no turn",
        lambda lead, reviewer: told(reviewer, taken(lead, reviewer), "announced", "monitor"),
        "taken; announced to reviewer by monitor, not yet in a turn",
        BUSY,
    ),
    Stage(
        "announced, then died",
        announced_then_gone,
        "announced to reviewer by monitor, not yet in a turn, and is offline now",
        "it goes out again when reviewer connects",
    ),
    Stage(
        "in a turn, then died", in_turn_then_gone, "in a turn of reviewer, which went offline before it replied", GONE
    ),
    Stage(
        "a turn that asks its user",
        lambda lead, reviewer: told(reviewer, taken(lead, reviewer), "in turn", "claude-code hook", ASKS),
        f"in a turn of reviewer (claude-code hook) that does not go on by itself: {ASKS}",
        "somebody has to answer it in reviewer's terminal",
    ),
    Stage(
        "read by the model",
        lambda lead, reviewer: told(reviewer, taken(lead, reviewer), "read", "claude-code"),
        "read by reviewer (claude-code), which has not replied yet",
        RUNNING,
    ),
    Stage(
        "fetched, not answered",
        fetched_not_answered,
        "read by reviewer, which has not replied yet",
        "wait; do not send it again",
    ),
    Stage(
        "no monitor",
        lambda lead, reviewer: told(reviewer, taken(lead, reviewer), "not announced", "claude-code", NO_MONITOR),
        f"taken; claude-code could not announce it to reviewer: {NO_MONITOR}",
        LATER,
    ),
    Stage(
        "a headless session",
        lambda lead, reviewer: told(reviewer, taken(lead, reviewer), "not announced", "claude-code", HEADLESS),
        f"taken; claude-code could not announce it to reviewer: {HEADLESS}",
        LATER,
    ),
    Stage(
        "exec thread refused",
        lambda lead, reviewer: told(reviewer, taken(lead, reviewer), "not announced", "codex", EXEC),
        f"taken; codex could not announce it to reviewer: {EXEC}",
        LATER,
    ),
    Stage(
        "exec thread refused, and it ended",
        unheard_then_gone,
        "stored; reviewer is offline",
        "it goes out when reviewer connects; do not send it again",
    ),
    Stage(
        "held pair",
        held,
        "held: too many requests between lead and reviewer without a person's turn",
        "a person continues with: peerline continue lead reviewer",
    ),
    Stage("expired", expired, "expired before reviewer replied", AGAIN),
    Stage(
        "expired while held",
        expired_while_held,
        "expired while it was held: nobody let the two agents go on",
        AGAIN,
    ),
    Stage("cancelled", cancelled, "cancelled by lead", "nothing to do; work that was already done is not undone"),
    Stage("reply not read", replied, "replied by reviewer; lead has not fetched the reply", FETCH),
    Stage(
        "reply pushed, not read",
        reply_pushed_not_read,
        "replied by reviewer; the reply was pushed to lead, and nothing says that it was read",
        FETCH,
    ),
    Stage(
        "reply announced, no turn",
        lambda lead, reviewer: told(lead, replied(lead, reviewer), "announced", "monitor"),
        "replied by reviewer; the reply was announced to lead by monitor, not yet in a turn",
        "wait: it may be busy with other work; kxm peer get ID shows it",
    ),
    Stage(
        "reply that could not be announced",
        lambda lead, reviewer: told(lead, replied(lead, reviewer), "not announced", "claude-code", HEADLESS),
        f"replied by reviewer; claude-code could not announce the reply to lead: {HEADLESS}",
        FETCH,
    ),
]


def trail(agent: Agent, message_id: str, why: str) -> tuple[str, str]:
    """What the hub tells; what it writes to a stream it notes behind it, so it is asked until that is there."""
    for _ in range(LOOKS):
        answer = agent.call("GET", f"/v1/messages/{message_id}/trail").json
        if answer["standing"] == why:
            break
    return answer["standing"], answer["next"]


def keyed(home: Path, agent: Agent) -> None:
    """Let commands of that home be this agent, as its session does."""
    hub = agent.project.hub
    env = {"KXM_STATE_HOME": str(home / "state")}
    path = Path(key_path(env, hub.url, agent.project.name, agent.name))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_text(json.dumps({"schema": "kxm.agent-key.v1", "agentId": agent.id, "agentKey": agent.key}))
    path.chmod(0o600)


@pytest.mark.parametrize("stage", STAGES, ids=str)
def test_what_stands_still_is_explained_by_its_cause_and_its_next_step(
    tmp_path: Path, place: Project, stage: Stage
) -> None:
    lead, reviewer = place.register("lead"), place.register("reviewer")
    message_id = stage.bring(lead, reviewer)
    right = (stage.why, stage.next.replace("ID", message_id))
    assert trail(lead, message_id, stage.why) == right

    keyed(tmp_path, lead)
    traced = Shell(tmp_path, place, "lead").peer("trace", message_id).json
    assert (traced["standing"], traced["next"]) == right
    token: dict[str, Any] = {"KXM_SERVER_URL": place.hub.url, "KXM_AUTH_TOKEN": place.token, "KXM_AGENT_NAME": "lead"}
    why = json.loads(PersonShell(tmp_path, project=place.name, **token).says("why", message_id, "--json"))
    assert (why["standing"], why["next"]) == right


def ring(lead: Agent, reviewer: Agent) -> Answer:
    return reviewer.try_send("lead", path=[lead.id, reviewer.id])


def full_queue(lead: Agent, reviewer: Agent) -> Answer:
    for number in range(QUEUE_LIMIT):
        lead.project.register(f"other-{number}").send("reviewer")
    return lead.try_send("reviewer")


def full_pair(lead: Agent, reviewer: Agent) -> Answer:
    for _ in range(2 * PAIR_LIMIT):
        lead.send("reviewer")
    return lead.try_send("reviewer")


def wrong_project(lead: Agent, reviewer: Agent) -> Answer:
    fresh_project(lead.project.hub).register("stranger")
    return lead.try_send("stranger")


def not_there(lead: Agent, reviewer: Agent) -> Answer:
    reviewer.leave()
    return lead.try_send("reviewer")


def stale_lease(lead: Agent, reviewer: Agent) -> Answer:
    first = lead.call("POST", "/v1/leases/file/acquire", {}).json["lease"]["fencingToken"]
    assert lead.call("POST", "/v1/leases/file/release", {"fencingToken": first}).status == 200
    assert reviewer.call("POST", "/v1/leases/file/acquire", {}).status == 200
    return lead.call("POST", "/v1/leases/file/renew", {"fencingToken": first})


def foreign_lease(lead: Agent, reviewer: Agent) -> Answer:
    assert reviewer.call("POST", "/v1/leases/file/acquire", {}).status == 200
    return lead.call("POST", "/v1/leases/file/acquire", {})


REFUSALS: list[tuple[Callable[[Agent, Agent], Answer], str, str, str]] = [
    (ring, "ring_detected", "ring detected (lead -> reviewer -> lead)", "answer_inbound"),
    (full_queue, "recipient_queue_full", f"recipient has {QUEUE_LIMIT} open requests", "wait_for_the_recipient"),
    (full_pair, "pair_held", "are held until a person lets them go", "ask_a_person_to_continue"),
    (wrong_project, "target_not_found", "online target not found: stranger", "list_agents_or_allow_offline"),
    (not_there, "target_not_found", "online target not found: reviewer", "list_agents_or_allow_offline"),
    (
        stale_lease,
        "lease_superseded",
        "lease was taken over; stop using what it protects",
        "stop_the_work_it_protected",
    ),
    (foreign_lease, "lease_held", "lease is held by reviewer", "wait_until_it_expires"),
]


@pytest.mark.parametrize(("stage", "code", "why", "step"), REFUSALS, ids=lambda one: getattr(one, "__name__", ""))
def test_what_is_refused_is_refused_with_its_cause_and_its_next_step(
    place: Project, stage: Callable[[Agent, Agent], Answer], code: str, why: str, step: str
) -> None:
    answer: Any = stage(place.register("lead"), place.register("reviewer")).json
    assert (answer["code"], answer["nextAction"]) == (code, step)
    assert why in answer["error"]
