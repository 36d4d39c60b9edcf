"""Codex's app-server, by what it writes."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from peerline.worker.codex import NOBODY, Codex
from peerline.worker.happenings import ABORTED, Began, Declined, Happening, Ready, Settled, ToolBegan, ToolEnded
from peerline.worker.happenings import Unresumable as Gone
from peerline.worker.plan import Launch, Plan

PLAN = Plan(harness="codex", name="builder", project="shop", folder=Path("/shop"), command=("codex",), kxm=("kxm",))
LAUNCH = Launch(session="new", resumes=False, model="m", label="b", sessions=Path(), start="a1")


class Talk:
    """The other end: it answers what was asked last."""

    def __init__(self, launch: Launch = LAUNCH) -> None:
        self.codex = Codex(PLAN, launch, "/state/seat.json")
        self.codex.open()

    @property
    def asked(self) -> dict[str, Any]:
        return next(frame for frame in reversed(self.codex.out) if "id" in frame and "method" in frame)

    def answer(self, **result: Any) -> list[Happening]:
        return self.codex.feed({"id": self.asked["id"], "result": result})

    def refuse(self, text: str) -> list[Happening]:
        return self.codex.feed({"id": self.asked["id"], "error": {"code": -32600, "message": text}})

    def notice(self, method: str, thread: str = "t-1", **params: Any) -> list[Happening]:
        return self.codex.feed({"method": method, "params": {"threadId": thread, **params}})

    def began(self) -> "Talk":
        """In a thread, at work on msg_1."""
        self.answer()
        assert self.answer(thread={"id": "t-1"}) == [Ready("t-1")]
        self.codex.turn("msg_1", "text")
        assert self.answer(turn={"id": "u-1"}) == [Began("msg_1")]
        return self


def test_it_is_started_with_our_tools_and_without_the_plugin() -> None:
    words = Codex(PLAN, LAUNCH, '/state/a "seat".json').command()
    assert words[:2] == ["codex", "app-server"]
    config = tomllib.loads("\n".join(words[at + 1] for at, word in enumerate(words) if word == "-c"))
    server = config["mcp_servers"]["kxm"]
    assert (server["command"], server["args"], server["env"]) == (
        "kxm", ["mcp"], {"KXM_WORKER_SEAT": '/state/a "seat".json'},
    )  # fmt: skip
    assert server["default_tools_approval_mode"] == "approve"
    assert "KXM_AUTH_TOKEN" in server["env_vars"], "by its name, never its value"
    assert config["plugins"]["kxm@kxm"]["enabled"] is False


def test_a_thread_is_begun_or_gone_on_with_and_nobody_is_asked_for_approval() -> None:
    talk = Talk()
    talk.answer(userAgent="codex")
    assert {"method": "initialized"} in talk.codex.out
    assert talk.asked["method"] == "thread/start"
    assert talk.asked["params"] == {"cwd": "/shop", "approvalPolicy": "never", "model": "m"}
    again = Talk(replace(LAUNCH, session="t-1", resumes=True, model=None))
    again.answer()
    assert (again.asked["method"], again.asked["params"]["threadId"]) == ("thread/resume", "t-1")
    assert again.refuse("no rollout found") == [Gone("no rollout found")]


def test_a_turn_settles_on_its_last_text_and_shows_its_tools() -> None:
    talk = Talk().began()
    tool = {"type": "mcpToolCall", "id": "call_1", "tool": "kxm_list"}
    assert talk.notice("item/started", item=tool) == [ToolBegan("call_1", "kxm_list")]
    assert talk.notice("item/completed", item=tool) == [ToolEnded("call_1")]
    command = {"type": "commandExecution", "id": "call_2"}
    assert talk.notice("item/started", item=command) == [ToolBegan("call_2", "commandExecution")]
    for text in ("let me look", "It is."):
        assert talk.notice("item/completed", item={"type": "agentMessage", "id": "m", "text": text}) == []
    assert talk.notice("turn/completed", turn={"id": "u-1", "status": "completed"}) == [Settled("It is.")]


def test_a_steer_names_the_turn_it_is_for_and_is_ours_again_when_that_has_ended() -> None:
    talk = Talk().began()
    talk.codex.steer("msg_2", "now")
    assert (talk.asked["method"], talk.asked["params"]["expectedTurnId"]) == ("turn/steer", "u-1")
    assert talk.answer(turnId="u-1") == [Began("msg_2")]
    talk.codex.steer("msg_3", "late")
    assert talk.refuse("no active turn to steer") == [Declined("msg_3", "no active turn to steer")]


def test_a_provider_that_fails_and_a_turn_that_is_interrupted_have_no_answer() -> None:
    talk = Talk().began()
    talk.codex.abort()
    assert (talk.asked["method"], talk.asked["params"]) == ("turn/interrupt", {"threadId": "t-1", "turnId": "u-1"})
    assert talk.answer() == []
    assert talk.notice("turn/completed", turn={"status": "interrupted"}) == [Settled("", ABORTED, "interrupted")]
    failed = {"status": "failed", "error": {"message": "usage limit reached"}}
    assert talk.notice("turn/completed", turn=failed) == [Settled("", "quota", "usage limit reached")]


def test_a_subagents_thread_says_nothing_about_ours() -> None:
    talk = Talk().began()
    assert talk.notice("turn/completed", thread="t-2", turn={"status": "completed"}) == []


def test_what_it_asks_us_is_refused_and_odd_frames_are_passed_over() -> None:
    talk = Talk().began()
    assert talk.codex.feed({"id": 0, "method": "item/commandExecution/requestApproval", "params": {}}) == []
    assert talk.codex.out[-1] == {"id": 0, "error": NOBODY}
    odd: list[dict[str, Any]] = [{}, {"id": 99, "result": {}}, {"id": "x"}, {"method": "warning", "params": []}]
    for frame in odd:
        assert talk.codex.feed(frame) == []
