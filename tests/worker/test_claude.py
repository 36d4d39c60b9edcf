"""Claude Code's stream-json, by what it writes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from peerline.worker.claude import HELLO, Claude
from peerline.worker.happenings import ABORTED, Began, Ready, Settled, ToolBegan, ToolEnded, Unresumable
from peerline.worker.plan import Launch, Plan

PLAN = Plan(harness="claude", name="builder", project="shop", folder=Path("/shop"), command=("claude",), kxm=("kxm",))
LAUNCH = Launch(
    session="11111111-1111-4111-8111-111111111111", resumes=False, model=None, label="b", sessions=Path(), start="a1"
)
HELLO_ANSWER = {"type": "control_response", "response": {"subtype": "success", "request_id": HELLO, "response": {}}}


def claude(launch: Launch = LAUNCH, **given: Any) -> Claude:
    return Claude(replace(PLAN, **given), launch, "/state/seat.json")


def after(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


def test_it_is_started_in_its_session_with_our_tools_and_without_the_plugin() -> None:
    words = claude().command()
    assert after(words, "--session-id") == LAUNCH.session
    server = json.loads(after(words, "--mcp-config"))["mcpServers"]["kxm"]
    assert (server["command"], server["args"]) == ("kxm", ["mcp"])
    assert server["env"] == {"KXM_WORKER_SEAT": "/state/seat.json"}
    assert json.loads(after(words, "--settings")) == {"enabledPlugins": {"kxm@kxm": False}}
    assert (after(words, "--permission-mode"), after(words, "--allowedTools")) == ("dontAsk", "mcp__kxm__*")
    assert after(claude(replace(LAUNCH, resumes=True)).command(), "--resume") == LAUNCH.session


def test_tools_are_allowed_by_name_and_a_permission_mode_of_the_users_own_stays() -> None:
    words = claude(tools=("Read", "Bash"), arguments=("--permission-mode", "acceptEdits")).command()
    assert (after(words, "--tools"), after(words, "--allowedTools")) == ("Read,Bash", "mcp__kxm__*,Read,Bash")
    assert [words[at + 1] for at, word in enumerate(words) if word == "--permission-mode"] == ["acceptEdits"]


def test_it_is_ready_when_it_answers_the_first_question() -> None:
    session = claude()
    session.open()
    assert session.out[0]["request"] == {"subtype": "initialize"}
    assert session.feed(HELLO_ANSWER) == [Ready(LAUNCH.session)]


def test_a_session_that_is_not_there_cannot_be_resumed() -> None:
    told = "No conversation found with session ID: 1"
    failed = {"type": "result", "subtype": "error_during_execution", "is_error": True, "errors": [told]}
    assert claude().feed(failed) == [Unresumable(told)]


def test_each_start_names_its_messages_anew_and_a_turn_begins_with_its_own() -> None:
    first, second = claude(), claude(replace(LAUNCH, start="b2"))
    for session in (first, second):
        session.turn("msg_1", "text")
        session.turn("msg_1", "text")
    names = {frame["uuid"] for session in (first, second) for frame in session.out}
    assert len(names) == 4
    name = first.out[0]["uuid"]
    assert first.feed({"type": "command_lifecycle", "command_uuid": name, "state": "queued"}) == []
    assert first.feed({"type": "command_lifecycle", "command_uuid": name, "state": "started"}) == [Began("msg_1")]
    assert second.feed({"type": "command_lifecycle", "command_uuid": name, "state": "started"}) == []


def test_tools_are_seen_to_begin_and_end_and_the_result_is_the_settled_text() -> None:
    session = claude()
    used = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
    frame = {"type": "assistant", "message": {"content": [{"type": "text", "text": "let me look"}, used]}}
    assert session.feed(frame) == [ToolBegan("toolu_1", "Bash")]
    came = {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "toolu_1"}]}}
    assert session.feed(came) == [ToolEnded("toolu_1")]
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "It is."}
    assert session.feed(result) == [Settled("It is.")]


def test_a_provider_that_fails_and_a_turn_that_is_aborted_have_no_answer() -> None:
    session = claude()
    session.feed(HELLO_ANSWER)
    failed = {"type": "result", "subtype": "success", "is_error": True, "terminal_reason": "api_error"}
    why = "API Error: 400 insufficient_quota"
    assert session.feed({**failed, "result": why}) == [Settled("", "quota", why)]
    assert session.feed({**failed, "result": "API Error: 500"}) == [Settled("", "provider_error", "API Error: 500")]
    stopped = {"type": "result", "subtype": "error_during_execution", "is_error": True, "errors": ["stopped"]}
    assert session.feed({**stopped, "terminal_reason": "aborted_streaming"}) == [Settled("", ABORTED, "stopped")]


def test_odd_frames_are_passed_over() -> None:
    session = claude()
    odd: list[dict[str, Any]] = [{}, {"type": "assistant"}, {"type": "user", "message": {"content": "text"}}]
    for frame in [*odd, {"type": "system", "subtype": "init"}, {"type": "control_response", "response": 7}]:
        assert session.feed(frame) == []
