"""Replies that their asker does not have: written, and not read."""

from typing import Final

from peerline.mcp_stdio.codex_thread import EXEC
from tests.hub_process import Agent
from tests.mcp_stdio.session import AgentSession
from tests.truth.case import Stop
from tests.truth.scene import Scene, asked, sent
from tests.truth.stops_in_a_session import HEADLESS, NO_MONITOR, NO_PUSH, QUEUE_FAILS, THREAD

FETCH: Final = "kxm peer get ID"


def answered(reviewer: Agent, message_id: str) -> str:
    assert reviewer.reply(message_id).status == 200
    return message_id


def nobody_listens(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    return answered(reviewer, sent(lead))


def a_command_asked(scene: Scene) -> str:
    reviewer = scene.agent("reviewer")
    (scene.home / "lead").mkdir()
    words = ("send", "--target", "reviewer", "--content", "look at this")
    return answered(reviewer, str(scene.peer("lead", *words)["messageId"]))


def pushed(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    stream = lead.stream()
    message_id = answered(reviewer, sent(lead))
    assert stream.next("reply").message["id"] == message_id
    return message_id


def to_session(scene: Scene, session: AgentSession, fact: str = "not announced") -> str:
    reviewer = scene.agent("reviewer")
    message_id = answered(reviewer, asked(session))
    return scene.until_told(reviewer, message_id, fact)


def to_headless(scene: Scene) -> str:
    return to_session(scene, scene.session("lead", CLAUDE_CODE_ENTRYPOINT="sdk-cli"))


def to_unwatched(scene: Scene) -> str:
    return to_session(scene, scene.session("lead"))


def to_no_push(scene: Scene) -> str:
    return to_session(scene, scene.session("lead", "gemini-cli-mcp-client"))


def to_codex_exec(scene: Scene) -> str:
    return to_session(scene, scene.codex("lead", turn=THREAD | {"turn_trigger": "exec"}))


def to_codex_that_refuses(scene: Scene) -> str:
    return to_session(scene, scene.codex("lead", QUEUE_FAILS, THREAD))


def announced(scene: Scene) -> str:
    session = scene.session("lead")
    scene.watched(session)
    return to_session(scene, session, "announced")


def wait_was_given_up(scene: Scene) -> str:
    """The call that waited was cancelled by its client; what came then was for nobody."""
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = asked(session)
    waiting = session.begin_call("kxm_await", messageId=message_id)
    session.notify("notifications/cancelled", {"requestId": waiting})
    session.call("kxm_list")  # by then the hub knows that nobody waits
    return scene.until_told(reviewer, answered(reviewer, message_id), "not announced")


def asker_closed(scene: Scene) -> str:
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = asked(session)
    session.close()
    return answered(reviewer, message_id)


def unsaid(adapter: str, reason: str | None) -> str:
    return f"replied by reviewer; {adapter} could not announce the reply to lead: {reason}"


STOPS = [
    Stop(
        "a reply and nobody listens",
        nobody_listens,
        "replied by reviewer; lead has not fetched the reply",
        FETCH,
        "replied",
    ),
    Stop(
        "a reply to a command", a_command_asked, "replied by reviewer; lead has not fetched the reply", FETCH, "replied"
    ),
    Stop(
        "a reply, the asker closed",
        asker_closed,
        "replied by reviewer; lead has not fetched the reply",
        FETCH,
        "replied",
    ),
    Stop(
        "a reply that was only pushed",
        pushed,
        "replied by reviewer; the reply was pushed to lead, and nothing says that it was read",
        FETCH,
        "replied",
    ),
    Stop("a reply to a headless session", to_headless, unsaid("mcp:claude-code", HEADLESS), FETCH, "replied"),
    Stop("a reply to a session without monitor", to_unwatched, unsaid("mcp:claude-code", NO_MONITOR), FETCH, "replied"),
    Stop("a reply whose wait was given up", wait_was_given_up, unsaid("mcp:claude-code", NO_MONITOR), FETCH, "replied"),
    Stop("a reply to a client without push", to_no_push, unsaid("mcp:gemini", NO_PUSH), FETCH, "replied"),
    Stop("a reply to a Codex exec", to_codex_exec, unsaid("codex queue", EXEC), FETCH, "replied"),
    Stop(
        "a reply that Codex's queue refuses",
        to_codex_that_refuses,
        unsaid("codex queue", "codex queue failed: Error: no such thread"),
        FETCH,
        "replied",
    ),
    Stop(
        "a reply announced, and no turn began",
        announced,
        "replied by reviewer; the reply was announced to lead by claude-code monitor, not yet in a turn",
        "wait: it may be busy with other work; kxm peer get ID shows it",
        "replied",
    ),
]
