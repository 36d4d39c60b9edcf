"""Pi's protocol, by what it writes."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

from peerline.worker.happenings import ABORTED, Began, Declined, Ready, Settled, ToolBegan, ToolEnded, Unresumable
from peerline.worker.pi import COMMAND, EXTENSION, LOOK, TYPE, Pi
from peerline.worker.plan import Launch, Plan

PLAN = Plan(harness="pi", name="builder", project="shop", folder=Path("/shop"), command=("node", "pi.js"), kxm=("kxm",))
LAUNCH = Launch(
    session="s-1", resumes=False, model="a/b", label="builder@default", sessions=Path("/state/s"), start="0"
)


def pi(**given: Any) -> Pi:
    from dataclasses import replace

    return Pi(replace(PLAN, **given), LAUNCH, "/state/seat.json")


def said(text: str, **members: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop", **members}
    return {"type": "message_end", "message": message}


INBOUND = {"type": "message_start", "message": {"role": "custom", "customType": TYPE, "details": {"key": "msg_1"}}}
SETTLED = {"type": "agent_settled", "aborted": False}


def test_it_is_started_in_its_session_with_our_extension() -> None:
    words = pi().command()
    assert words[:4] == ["node", "pi.js", "--mode", "rpc"]
    assert words[words.index("--session-id") + 1] == "s-1"
    assert words[words.index("--model") + 1] == "a/b"
    assert words[words.index("--extension") + 1] == str(EXTENSION)
    assert EXTENSION.is_file()
    assert "--no-extensions" not in words


def test_named_extensions_skills_tools_and_further_words_are_handed_on() -> None:
    words = pi(extensions=("/e.ts",), skills=("/s",), tools=("read", "bash"), arguments=("--thinking", "low")).command()
    assert "--no-extensions" in words
    assert "--no-skills" in words
    assert [words[at + 1] for at, word in enumerate(words) if word == "--extension"] == ["/e.ts", str(EXTENSION)]
    assert words[words.index("--tools") + 1] == "read,bash"
    assert words[-2:] == ["--thinking", "low"]


def test_it_is_ready_once_it_knows_our_command() -> None:
    session = pi()
    session.open()
    assert session.out == [{"id": LOOK, "type": "get_commands"}]
    answer = {"id": LOOK, "type": "response", "success": True}
    assert session.feed({**answer, "data": {"commands": [{"name": COMMAND}]}}) == [Ready("s-1")]
    (refused,) = session.feed({**answer, "data": {"commands": []}})
    assert isinstance(refused, Unresumable)


def test_a_text_goes_in_as_one_word_that_nothing_is_expanded_in() -> None:
    session = pi()
    session.turn("msg_1", "Say /skill:x and @file\nin two lines: ‡")
    (frame,) = session.out
    command, word = frame["message"].split(" ")
    assert (frame["type"], command) == ("prompt", f"/{COMMAND}")
    assert json.loads(b64decode(word)) == {"key": "msg_1", "content": "Say /skill:x and @file\nin two lines: ‡"}


def test_a_turn_begins_with_its_message_and_settles_on_the_last_text() -> None:
    session = pi()
    assert session.feed(INBOUND) == [Began("msg_1")]
    tool = {"toolCallId": "call_1", "toolName": "bash"}
    assert session.feed(said("let me look")) == []
    assert session.feed({"type": "tool_execution_start", **tool}) == [ToolBegan("call_1", "bash")]
    assert session.feed({"type": "tool_execution_end", **tool}) == [ToolEnded("call_1")]
    assert session.feed(said("It is.")) == []
    assert session.feed({"type": "agent_end", "messages": []}) == []
    assert session.feed(SETTLED) == [Settled("It is.")]


def test_a_failure_that_pi_got_over_by_itself_is_none() -> None:
    session = pi()
    session.feed(INBOUND)
    session.feed(said("", stopReason="error", errorMessage="overloaded"))
    session.feed(said("after all"))
    assert session.feed(SETTLED) == [Settled("after all")]


def test_a_provider_that_fails_and_a_turn_that_is_aborted_have_no_answer() -> None:
    session = pi()
    session.feed(INBOUND)
    session.feed(said("", stopReason="error", errorMessage="429 insufficient_quota"))
    assert session.feed(SETTLED) == [Settled("", "quota", "429 insufficient_quota")]
    session.feed(said("half", stopReason="error", errorMessage="fetch failed"))
    assert session.feed(SETTLED) == [Settled("half", "provider_error", "fetch failed")]
    session.feed(INBOUND)
    assert session.feed({"type": "agent_settled", "aborted": True}) == [Settled("", ABORTED)]


def test_a_text_that_pi_does_not_take_is_ours_again_and_odd_frames_are_passed_over() -> None:
    session = pi()
    refusal = {"id": "msg_1", "type": "response", "command": "prompt", "success": False, "error": "busy"}
    assert session.feed(refusal) == [Declined("msg_1", "busy")]
    for odd in ({}, {"type": "message_start"}, {"type": "message_end", "message": 7}, {"type": "new in 1.7"}):
        assert session.feed(odd) == []
