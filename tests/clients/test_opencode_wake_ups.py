"""OpenCode, idle: a request wakes its conversation, and so does the reply to what it asked."""

import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.model.conversation import Answer, Conversation, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.model.heard import Heard
from tests.clients.opencode import OpenCode
from tests.clients.terminal import Terminal
from tests.clients.wake_ups import ANSWER, KNOWN, REQUEST, WAKE_UPS, WakeUps, facts, named, script
from tests.hub_process import PATIENCE_S, Agent, HubProcess, Project

HEAD = "KXM, a notice of your MCP server and not your user's words:"
NOTICE = HEAD + ".*"
SCRIPT = script(NOTICE + r"- request (msg_[0-9a-f]{32}) from (lead[0-9]+)", NOTICE + r"- reply to (msg_[0-9a-f]{32})")


@pytest.fixture
def opencode(tmp_path: Path, hub: HubProcess, model: Endpoint, shop: Project) -> Iterator[OpenCode]:
    model.script, model.order = SCRIPT, Heard()
    client = OpenCode(tmp_path / "user", hub, model, project=shop.name)
    client.set_up()
    yield client
    assert model.faults == []


@pytest.fixture
def session(opencode: OpenCode, model: Endpoint) -> Iterator[Terminal]:
    """A conversation in a terminal that has had a first turn and has nothing to do."""
    with opencode.terminal("--prompt", KNOWN) as terminal:
        # Its first start in a home makes a database, and takes long on a loaded machine.
        model.asked(lambda conversation: conversation.answered == 1, patience_s=2 * PATIENCE_S)
        yield terminal


@pytest.fixture
def wake_ups(model: Endpoint, shop: Project) -> WakeUps:
    return WakeUps("OpenCode", model, shop)


@pytest.mark.timeout(120 + 20 * WAKE_UPS)
def test_a_request_wakes_an_idle_session_and_the_reply_wakes_the_asker(session: Terminal, wake_ups: WakeUps) -> None:
    for _ in range(WAKE_UPS):
        assert {"acknowledged", "announced", "in turn", "read", "replied"} <= wake_ups.round()


def test_what_comes_before_the_first_turn_is_named_in_it(
    opencode: OpenCode, model: Endpoint, shop: Project, wake_ups: WakeUps
) -> None:
    model.script = Rules(Rule(KNOWN, (call("kxm_list"), say("here I am"))))
    lead = wake_ups.peer()
    with lead.stream() as stream:
        opencode.headless(KNOWN)
        while (seen := stream.next("presence").data["agent"])["name"] != "builder" or seen["presence"] != "offline":
            pass
    sent = lead.send("builder", REQUEST, allowOffline=True)["id"]
    before = len(model.requests)
    with opencode.terminal("--prompt", KNOWN):
        first = model.asked(lambda conversation: sent in conversation.asked, after=0).conversation
    assert len(model.requests) > before
    assert REQUEST not in first.everything


def test_a_session_without_a_conversation_is_told_as_one_that_nothing_wakes(
    opencode: OpenCode, shop: Project, wake_ups: WakeUps
) -> None:
    lead = wake_ups.peer()
    with lead.stream() as stream, opencode.serve() as url:
        _ask(url, "GET", "/mcp")  # the first look at a folder starts its servers
        while stream.next("presence").data["agent"]["name"] != "builder":
            pass
        sent = lead.send("builder", REQUEST)["id"]
        trail = _trail_with(lead, sent, "not announced")
    assert "no conversation has begun in it" in json.dumps(trail)


def test_under_serve_the_conversation_that_was_written_in_last_is_woken(
    opencode: OpenCode, model: Endpoint, wake_ups: WakeUps
) -> None:
    with opencode.serve() as url:
        for text in ("the first one", KNOWN):
            conversation = _ask(url, "POST", "/session", {})["id"]
            mark = model.mark
            _ask(url, "POST", f"/session/{conversation}/message", {"parts": [{"type": "text", "text": text}]})
            model.asked(lambda one: text in one.asked, after=mark)  # noqa: B023
        lead = wake_ups.peer()
        with lead.stream() as stream:
            wake_ups.by_a_request(lead)
            assert stream.next("reply").message["reply"]["content"] == ANSWER
        said = _ask(url, "GET", f"/session/{conversation}/message")
    assert HEAD in json.dumps(said, ensure_ascii=False)


def test_it_is_woken_as_the_agent_that_its_user_chose(opencode: OpenCode, model: Endpoint, wake_ups: WakeUps) -> None:
    with opencode.serve() as url:
        conversation = _ask(url, "POST", "/session", {})["id"]
        begun = {"agent": "plan", "parts": [{"type": "text", "text": KNOWN}]}
        _ask(url, "POST", f"/session/{conversation}/message", begun)
        wake_ups.by_a_request(wake_ups.peer())
        said = _ask(url, "GET", f"/session/{conversation}/message")
    assert {one["info"]["agent"] for one in said if one["info"]["role"] == "user"} == {"plan"}


def test_a_request_that_was_announced_and_not_answered_is_named_once_more_when_the_turn_ends(
    session: Terminal, model: Endpoint, wake_ups: WakeUps
) -> None:
    reminder = r"KXM: 1 request you were told of has no answer yet.*(msg_[0-9a-f]{32})"
    model.script = Rules(
        Rule(reminder, (call("kxm_reply", messageId=named, content=ANSWER), say("answered"))),
        Rule(NOTICE, (say("not now"),)),
    )
    lead = wake_ups.peer()
    with lead.stream() as stream:
        lead.send("builder", REQUEST)
        assert stream.next("reply").message["reply"]["content"] == ANSWER


def test_a_busy_conversation_takes_a_request_into_the_turn_that_runs(
    opencode: OpenCode, model: Endpoint, wake_ups: WakeUps
) -> None:
    held, go = threading.Event(), threading.Event()

    def hold(conversation: Conversation) -> Answer:
        if HEAD not in conversation.asked:
            held.set()
            go.wait(PATIENCE_S)
        return SCRIPT(conversation)

    with opencode.serve() as url:
        conversation = _ask(url, "POST", "/session", {})["id"]
        model.script = hold
        _ask(url, "POST", f"/session/{conversation}/prompt_async", {"parts": [{"type": "text", "text": KNOWN}]})
        assert held.wait(PATIENCE_S)
        lead = wake_ups.peer()
        with lead.stream() as stream:
            while not any(one["name"] == "builder" for one in lead.call("GET", "/v1/agents").json["agents"]):
                stream.next("presence")
            sent = lead.send("builder", REQUEST)["id"]
            assert "in turn" in _trail_with(lead, sent, "announced")
            go.set()
            assert stream.next("reply").message["reply"]["content"] == ANSWER


def test_a_turn_that_its_user_ended_does_not_go_on_by_itself(
    opencode: OpenCode, model: Endpoint, wake_ups: WakeUps
) -> None:
    held, go = threading.Event(), threading.Event()

    def hold(conversation: Conversation) -> Answer:
        if HEAD in conversation.asked:
            held.set()
            go.wait(PATIENCE_S)
        return Answer("OK")

    with opencode.serve() as url:
        conversation = _ask(url, "POST", "/session", {})["id"]
        begun = {"parts": [{"type": "text", "text": KNOWN}]}
        _ask(url, "POST", f"/session/{conversation}/message", begun)
        model.script = hold
        lead = wake_ups.peer()
        sent = lead.send("builder", REQUEST)["id"]
        assert held.wait(PATIENCE_S)
        _ask(url, "POST", f"/session/{conversation}/abort")
        go.set()
        # Its user's next prompt is the barrier: what would have gone on by itself would stand before it.
        _ask(url, "POST", f"/session/{conversation}/message", begun)
        said = json.dumps(_ask(url, "GET", f"/session/{conversation}/message"))
    assert "has no answer yet" not in said.partition(KNOWN)[2].partition(KNOWN)[0]
    assert "in turn" in facts(lead, sent)


def test_a_run_is_told_with_its_prompt_and_nothing_is_put_into_it_later(
    opencode: OpenCode, model: Endpoint, wake_ups: WakeUps
) -> None:
    lead = wake_ups.peer()
    trail: list[str] = []

    def sent_in_the_turn(conversation: Conversation) -> Answer:
        if conversation.answered == 1:
            trail.extend(_trail_with(lead, lead.send("builder", REQUEST)["id"], "not announced"))
        return SCRIPT(conversation)

    model.script = sent_in_the_turn
    opencode.headless(KNOWN)
    assert "announced" not in trail


def _trail_with(lead: Agent, message_id: str, fact: str) -> list[str]:
    """The facts and details of the trail once `fact` is in it; each look comes after a wait of the hub's own."""
    for _ in range(200):
        trail = lead.call("GET", f"/v1/messages/{message_id}/trail").json["facts"]
        found = [word for one in trail for word in (one["fact"], one.get("detail", ""))]
        if fact in found:
            return found
        lead.wait(message_id, 200)
    raise AssertionError(f"there is no fact {fact!r}")


def _ask(url: str, method: str, path: str, body: object = None) -> Any:
    request = urllib.request.Request(
        url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.loads(answer.read() or b"null")
