"""Requests that a client's session has, and its model has not: each adapter says why in the trail."""

from typing import Final

from peerline.cli.hot_hook import ASKS
from peerline.mcp_stdio.codex_queue import NO_TURN
from peerline.mcp_stdio.codex_thread import EXEC, SUBAGENT
from peerline.mcp_stdio.silence import silence
from tests.hub_process import Agent
from tests.mcp_stdio.session import AgentSession
from tests.truth.case import Stop
from tests.truth.scene import Scene, sent, trail

NO_MONITOR: Final = silence("claude-code", headless=False, watched=False)
HEADLESS: Final = silence("claude-code", headless=True, watched=False)
NO_PUSH: Final = silence("gemini", headless=False, watched=False)
LATER: Final = "reviewer sees it in its next session, or when it reads its inbox"
GONE: Final = "wait for reviewer to come back, or cancel it and send it again under a new idempotency key"
BUSY: Final = "wait: it may be busy with earlier work"
QUEUE_FAILS: Final = 'echo "Error: no such thread" >&2; exit 1'
THREAD: Final = {"thread_id": "0199-a"}


def unheard(scene: Scene) -> str:
    """Asked, and the session's adapter says that its model cannot know."""
    lead = scene.agent("lead")
    return scene.until_told(lead, sent(lead), "not announced")


def without_monitor(scene: Scene) -> str:
    """A channel without the client's flag is the same: the push goes out, and is dropped without a word."""
    session = scene.session("reviewer")
    message_id = unheard(scene)
    assert session.push()["meta"]["message_id"] == message_id
    return message_id


def headless(scene: Scene) -> str:
    scene.session("reviewer", CLAUDE_CODE_ENTRYPOINT="sdk-cli")
    return unheard(scene)


def no_push(scene: Scene) -> str:
    scene.session("reviewer", "gemini-cli-mcp-client")
    return unheard(scene)


def monitor_stopped(scene: Scene) -> str:
    session = scene.session("reviewer")
    scene.watched(session).end()
    return unheard(scene)


def announced(scene: Scene) -> str:
    lead, watching = scene.agent("lead"), scene.watched(scene.session("reviewer"))
    message_id = sent(lead)
    assert message_id in watching.line()
    return scene.until_told(lead, message_id, "announced")


def announced_then_closed(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    watching = scene.watched(session)
    message_id = sent(lead)
    watching.line()
    scene.until_told(lead, message_id, "announced")
    watching.end()
    session.close()
    return message_id


def killed_after_the_acknowledgement(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    watching = scene.watched(session)
    watching.process.send_signal(19)  # SIGSTOP: it dies before it has said anything
    message_id = sent(lead)
    scene.until_told(lead, message_id, "acknowledged")
    scene.kill(session, watching)
    return until_cut_off(scene, lead, message_id)


def killed_without_a_monitor(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    message_id = scene.until_told(lead, sent(lead), "not announced")
    scene.kill(session)
    return until_cut_off(scene, lead, message_id)


def killed_between_line_and_turn(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    watching = scene.watched(session)
    message_id = sent(lead)
    watching.line()
    scene.until_told(lead, message_id, "announced")
    scene.kill(session, watching)
    return until_cut_off(scene, lead, message_id)


def until_cut_off(scene: Scene, lead: Agent, message_id: str) -> str:
    """The hub notices that a connection is gone; that the session is, it knows only when its lease has run out."""
    for _ in scene.pauses():
        if "lost its connection" in trail(lead, message_id)["standing"]:
            break
    return message_id


def briefed(scene: Scene) -> str:
    """Named in the brief of a session's start, which begins no turn."""
    lead, session = scene.agent("lead"), scene.session("reviewer")
    message_id = scene.until_told(lead, sent(lead), "not announced")
    assert message_id in scene.hook(session, "session-start")
    return message_id


def in_a_turn(scene: Scene) -> tuple[Agent, AgentSession, str]:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    message_id = scene.until_told(lead, sent(lead), "not announced")
    assert message_id in scene.hook(session, "prompt", prompt="go on")
    return lead, session, message_id


def asks_permission(scene: Scene) -> str:
    _, session, message_id = in_a_turn(scene)
    scene.hook(session, "permission", tool_name="Bash")
    return message_id


def turn_cut_off(scene: Scene) -> str:
    _, session, message_id = in_a_turn(scene)
    session.close()
    return message_id


def codex_exec(scene: Scene) -> str:
    scene.codex("reviewer", turn=THREAD | {"turn_trigger": "exec"})
    return unheard(scene)


def codex_before_its_first_turn(scene: Scene) -> str:
    scene.codex("reviewer")
    return unheard(scene)


def codex_queue_fails(scene: Scene) -> str:
    scene.codex("reviewer", QUEUE_FAILS, THREAD)
    return unheard(scene)


def codex_subagent(scene: Scene) -> str:
    """The record of the thread says that it is a subagent's."""
    folder = scene.home / "reviewer" / ".codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    head = '{"type": "session_meta", "payload": {"id": "0199-a", "source": {"subagent": {"thread_spawn": {}}}}}\n'
    (folder / "rollout-2026-11-30T17-00-00-0199-a.jsonl").write_text(head)
    scene.codex("reviewer", turn=THREAD)
    return unheard(scene)


def codex_is_missing(scene: Scene) -> str:
    session = scene.codex("reviewer")
    (scene.home / "reviewer" / "bin" / "codex").unlink()
    session.result("kxm_list", {"x-codex-turn-metadata": THREAD})
    return unheard(scene)


def told(adapter: str, reason: str | None) -> str:
    return f"taken; {adapter} could not announce it to reviewer: {reason}"


STOPS = [
    Stop(
        "no monitor, or a channel without its flag",
        without_monitor,
        told("mcp:claude-code", NO_MONITOR),
        LATER,
        "delivered",
    ),
    Stop("a headless session", headless, told("mcp:claude-code", HEADLESS), LATER, "delivered"),
    Stop("a client that takes no push", no_push, told("mcp:gemini", NO_PUSH), LATER, "delivered"),
    Stop("the monitor was stopped", monitor_stopped, told("mcp:claude-code", NO_MONITOR), LATER, "delivered"),
    Stop(
        "announced, and no turn began",
        announced,
        "taken; announced to reviewer by claude-code monitor, not yet in a turn",
        BUSY,
        "delivered",
    ),
    Stop(
        "announced, and the session was closed",
        announced_then_closed,
        "taken by reviewer and announced by claude-code monitor; it went offline before a turn began with it",
        GONE,
        "delivered",
    ),
    Stop(
        "killed between acknowledgement and announcement",
        killed_after_the_acknowledgement,
        "taken by reviewer, which lost its connection before it replied",
        GONE,
        "delivered",
    ),
    Stop(
        "killed without a monitor",
        killed_without_a_monitor,
        f"taken by reviewer, which lost its connection; mcp:claude-code could not announce it: {NO_MONITOR}",
        GONE,
        "delivered",
    ),
    Stop(
        "killed between announcement and turn",
        killed_between_line_and_turn,
        "taken by reviewer and announced by claude-code monitor; it lost its connection before a turn began with it",
        GONE,
        "delivered",
    ),
    Stop(
        "only in a brief",
        briefed,
        "taken; announced to reviewer by claude-code hook, not yet in a turn",
        BUSY,
        "delivered",
    ),
    Stop(
        "held by the permission mode",
        asks_permission,
        f"in a turn of reviewer (claude-code hook) that does not go on by itself: {ASKS}",
        "somebody has to answer it in reviewer's terminal",
        "delivered",
    ),
    Stop(
        "the session was closed in the turn",
        turn_cut_off,
        "in a turn of reviewer, which went offline before it replied",
        GONE,
        "delivered",
    ),
    Stop("a Codex exec", codex_exec, told("codex queue", EXEC), LATER, "delivered"),
    Stop("Codex before its first turn", codex_before_its_first_turn, told("codex queue", NO_TURN), LATER, "delivered"),
    Stop(
        "Codex's queue refuses",
        codex_queue_fails,
        told("codex queue", "codex queue failed: Error: no such thread"),
        LATER,
        "delivered",
    ),
    Stop("a Codex subagent", codex_subagent, told("codex queue", SUBAGENT), LATER, "delivered"),
    Stop(
        "no codex to queue with",
        codex_is_missing,
        told("codex queue", "there is no codex in PATH to queue it with"),
        LATER,
        "delivered",
    ),
]
