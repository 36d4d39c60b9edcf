"""Three clients in a row, each forwarding what it was asked: the limit of hops ends the chain, the path ends a ring."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.model.conversation import Conversation, Now, Rule, Rules, Step, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.pi import Pi
from tests.clients.wake_ups import INTRODUCTION, KNOWN, named
from tests.hub_process import HubProcess, Project

# What the last one in the row is told instead.
HOPS, RING = "hop limit reached (3/3)", "ring detected (claude -> codex -> pi -> claude)"
LAST = re.compile(r"│ It ends at (\w+)\.")


def body(last: str) -> str:
    return f"It ends at {last}."


def read(now: Now) -> str:
    """The request as the session just read it: what it forwards."""
    found = LAST.search(now.result) or LAST.search(now.conversation.asked)
    assert found is not None, now.result
    return body(found[1])


def forward_to(target: str) -> tuple[Step, ...]:
    return (
        call("kxm_inbox"),
        call("kxm_send", target=target, content=read),
        call("kxm_reply", messageId=named, content="forwarded"),
        say("done"),
    )


def _end(now: Now) -> str:
    return now.found[1]


SCRIPT = Rules(
    Rule(r"<task-notification>.*KXM request (msg_[0-9a-f]{32}) from lead", forward_to("codex")),
    # Told by a hook instead, when the turn before has not quite ended.
    Rule(r"- (msg_[0-9a-f]{32}) from lead\b", forward_to("codex")),
    Rule(r"not your user's words:.*- request (msg_[0-9a-f]{32}) \(from: claude\)", forward_to("pi")),
    Rule(
        r"│ It ends at (\w+)\.",
        (call("kxm_send", target=_end, content="no further?"), say("that is as far as it goes")),
    ),
    INTRODUCTION,
)


@pytest.fixture
def row(hub: HubProcess, model: Endpoint, shop: Project, tmp_path: Path) -> Iterator[None]:
    """Claude Code, Codex and Pi, each idle and on the hub under its own name."""
    model.script = SCRIPT
    claude = Claude(tmp_path / "claude", hub, model, options={"agent_name": "claude", "project": shop.name})
    codex = Codex(tmp_path / "codex", hub, model, name="codex", project=shop.name)
    claude.set_up()
    codex.set_up()
    with ExitStack() as stack:
        watcher = stack.enter_context(shop.register("watcher").stream())
        stack.enter_context(claude.terminal())
        stack.enter_context(codex.terminal(KNOWN))
        stack.enter_context(Pi(tmp_path / "pi", hub, model, name="pi", project=shop.name))
        missing = {"claude", "codex", "pi"}
        while missing:
            agent = watcher.next("presence").data["agent"]
            if agent["online"]:
                missing.discard(agent["name"])
        model.asked(lambda conversation: conversation.answered == 1)
        yield
    assert model.faults == []


@pytest.mark.timeout(400)
@pytest.mark.usefixtures("row")
def test_the_limit_of_hops_ends_a_chain_and_the_path_ends_a_ring(shop: Project, model: Endpoint) -> None:
    lead, helper = shop.register("lead"), shop.register("helper")
    for last, hops, refusal in (("helper", 3, HOPS), ("claude", 5, RING)):
        sent = lead.send("claude", body(last), maxHops=hops)["id"]
        model.asked(partial(_holds, refusal))
        assert lead.wait(sent)["reply"]["content"] == "forwarded"
    assert helper.inbox() == []


def _holds(text: str, conversation: Conversation) -> bool:
    return text in conversation.result
