"""Requests that are with their recipient's model, by every adapter and route; not all are answered yet."""

import signal
from typing import Any, Final

from tests.hub_process import Agent, HubProcess
from tests.mcp_stdio.session import AgentSession
from tests.truth.case import Arrival
from tests.truth.scene import PAIR_LIMIT, Scene, sent
from tests.truth.stops_in_a_session import THREAD

READ: Final = "read by reviewer (claude-code), which has not replied yet"
RUNNING: Final = "wait: its turn may still be running"
WAIT: Final = "wait; do not send it again"


def reads(session: AgentSession, message_id: str) -> str:
    """The model calls its inbox and is given the text."""
    assert message_id in [message["id"] for message in session.call("kxm_inbox")["messages"]]
    return message_id


def read_by_itself(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    return scene.until_told(lead, reads(session, taken(scene, lead)), "read", "by claude-code")


def taken(scene: Scene, lead: Agent, **fields: Any) -> str:
    return scene.until_told(lead, sent(lead, **fields), "acknowledged")


def after_a_line(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    watching = scene.watched(session)
    message_id = sent(lead)
    assert message_id in watching.line()
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def steered(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    watching = scene.watched(session)
    message_id = sent(lead, delivery="steer")
    assert "steer: soon" in watching.line()
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def with_a_prompt(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    message_id = taken(scene, lead)
    assert message_id in scene.hook(session, "prompt", prompt="go on")
    return message_id


def as_a_prompt(scene: Scene) -> str:
    """A monitor's line that has become the prompt of a turn."""
    lead, session = scene.agent("lead"), scene.session("reviewer")
    line = scene.watched(session)
    message_id = sent(lead)
    assert scene.hook(session, "prompt", prompt=f"<event>{line.line()}</event>") == ""
    return message_id


def reminded_at_its_end(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer")
    message_id = taken(scene, lead)
    scene.hook(session, "session-start")
    assert message_id in scene.hook(session, "stop")
    return message_id


def permitted(scene: Scene) -> str:
    """Its user was asked, and has answered: the model goes on, and reads."""
    lead, session = scene.agent("lead"), scene.session("reviewer")
    message_id = taken(scene, lead)
    scene.hook(session, "prompt", prompt="go on")
    scene.hook(session, "permission", tool_name="Bash")
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def codex_prompted(scene: Scene) -> str:
    """What `codex queue` was given comes back as the prompt of a turn."""
    lead = scene.agent("lead")
    session = scene.codex("reviewer", f'printf "%s" "$5" >{scene.home}/queued', THREAD)
    message_id = scene.until_told(lead, sent(lead), "announced", "by codex queue")
    line = (scene.home / "queued").read_text()
    assert message_id in line
    scene.hook(session, "prompt", "codex", session_id=THREAD["thread_id"], prompt=line)
    return message_id


def codex_read(scene: Scene) -> str:
    lead = scene.agent("lead")
    session = scene.codex("reviewer", turn=THREAD)
    message_id = scene.until_told(lead, sent(lead), "announced", "by codex queue")
    return scene.until_told(lead, reads(session, message_id), "read", "by codex")


def codex_named_later(scene: Scene) -> str:
    """It came before the session's first turn; that turn names its thread, and the line goes out."""
    lead = scene.agent("lead")
    session = scene.codex("reviewer")
    message_id = scene.until_told(lead, sent(lead), "not announced")
    session.result("kxm_list", {"x-codex-turn-metadata": THREAD})
    scene.until_told(lead, message_id, "announced", "by codex queue")
    return scene.until_told(lead, reads(session, message_id), "read", "by codex")


def gemini_hooked(scene: Scene) -> str:
    lead, session = scene.agent("lead"), scene.session("reviewer", "gemini-cli-mcp-client")
    message_id = taken(scene, lead)
    assert message_id in scene.hook(session, "prompt", "gemini", prompt="go on")
    return message_id


def by_command(scene: Scene) -> str:
    """An agent that has only a shell."""
    lead = scene.agent("lead")
    scene.shell("reviewer").says("list")
    message_id = sent(lead, allowOffline=True)
    assert message_id in str(scene.peer("reviewer", "inbox"))
    return message_id


def by_person(scene: Scene) -> str:
    lead, shell = scene.agent("lead"), scene.shell("reviewer")
    shell.says("list")
    message_id = sent(lead, allowOffline=True)
    assert message_id in shell.says("inbox")
    return message_id


def by_python(scene: Scene) -> str:
    """The client library: the stream brings it, and the program takes it."""
    hub = scene.program("reviewer")
    lead = scene.agent("lead")
    message_id = sent(lead)
    for event in hub.events():
        if event.message is not None and event.message.id == message_id:
            break
    assert hub.acknowledge(message_id, adapter="a program of ours").first
    return scene.until_told(lead, message_id, "acknowledged", "by a program of ours")


def waited_for_its_agent(scene: Scene) -> str:
    """Sent to one who was away, and read when it came back."""
    lead, before = scene.agent("lead"), scene.session("reviewer")
    before.close()
    message_id = sent(lead, allowOffline=True)
    session = scene.session("reviewer")
    scene.until_told(lead, message_id, "acknowledged")
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def after_kill_9(scene: Scene) -> str:
    """Taken by a session that was killed, and read back by the next one."""
    lead, first = scene.agent("lead"), scene.session("reviewer")
    message_id = taken(scene, lead)
    first.signal(signal.SIGKILL)
    session = scene.session("reviewer")
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def restarted(scene: Scene, how: signal.Signals) -> HubProcess:
    hub = scene.project.hub
    hub.environment["KXM_PORT"] = str(hub.address[1])
    hub.stop(how)
    return hub.start()


def hub_killed_before_it_was_taken(scene: Scene) -> str:
    scene.own_hub()
    lead, first = scene.agent("lead"), scene.session("reviewer")
    first.close()
    message_id = sent(lead, allowOffline=True)
    restarted(scene, signal.SIGKILL)
    session = scene.session("reviewer")
    scene.until_told(lead, message_id, "acknowledged")
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def hub_restarted_under_the_session(scene: Scene) -> str:
    """The session finds back by itself, and nothing was lost."""
    scene.own_hub()
    lead, session = scene.agent("lead"), scene.session("reviewer")
    message_id = taken(scene, lead)
    restarted(scene, signal.SIGTERM)
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def let_go(scene: Scene) -> str:
    """Held by the brake, and continued by a person."""
    lead, session = scene.agent("lead"), scene.session("reviewer")
    for _ in range(PAIR_LIMIT + 1):
        message_id = sent(lead)
    assert scene.shell("ada").says("continue", "lead", "reviewer")
    scene.until_told(lead, message_id, "acknowledged")
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def sent_again(scene: Scene) -> str:
    """Withdrawn while its recipient was away, and sent again with the command that `why` names."""
    lead, before = scene.agent("lead"), scene.session("reviewer")
    before.close()
    message_id = str(scene.peer("lead", "resend", sent(lead, allowOffline=True))["messageId"])
    session = scene.session("reviewer")
    scene.until_told(lead, message_id, "acknowledged")
    return scene.until_told(lead, reads(session, message_id), "read", "by claude-code")


def told_twin(scene: Scene) -> str:
    """The session that could not have the name is asked under the one it has."""
    scene.session("reviewer")
    second = scene.session("reviewer", user="other", CLAUDE_CODE_SESSION_ID="second")
    lead, twin = scene.agent("lead"), f"reviewer-{second.process.pid}"
    scene.found["NUMBER"] = str(second.process.pid)
    message_id = scene.until_told(lead, sent(lead, twin), "acknowledged")
    return scene.until_told(lead, reads(second, message_id), "read", "by claude-code")


def in_turn(adapter: str) -> str:
    return f"in a turn of reviewer ({adapter}), which has not replied yet"


def open_case(name: str, bring: object, why: str = READ, step: str = RUNNING, status: str = "delivered") -> Arrival:
    return Arrival(name, bring, why, step, status)  # type: ignore[arg-type]


ARRIVALS = [
    open_case("read from the inbox", read_by_itself),
    open_case("read after a monitor's line", after_a_line),
    open_case("steered", steered),
    open_case("named with a prompt", with_a_prompt, in_turn("claude-code hook")),
    open_case("a monitor's line as a prompt", as_a_prompt, in_turn("claude-code hook")),
    open_case("reminded at the end of a turn", reminded_at_its_end, in_turn("claude-code hook")),
    open_case("its user has permitted it", permitted),
    open_case("queued for Codex and prompted", codex_prompted, in_turn("codex hook")),
    open_case("queued for Codex and read", codex_read, READ.replace("claude-code", "codex")),
    open_case("queued once Codex had a turn", codex_named_later, READ.replace("claude-code", "codex")),
    open_case("named by Gemini's hook", gemini_hooked, in_turn("gemini hook")),
    open_case(
        "read by a command",
        by_command,
        "read by reviewer, which has not replied yet, and is offline now",
        WAIT,
        "queued",
    ),
    open_case(
        "read by a person",
        by_person,
        "read by reviewer, which has not replied yet, and is offline now",
        WAIT,
        "queued",
    ),
    open_case("taken by a program", by_python, "taken by reviewer, which has not replied yet"),
    open_case("waited for its agent", waited_for_its_agent),
    open_case("taken again after kill -9", after_kill_9),
    open_case("the hub was killed before it was taken", hub_killed_before_it_was_taken),
    open_case("the hub was restarted under the session", hub_restarted_under_the_session),
    open_case("held, and let go", let_go),
    open_case("withdrawn, and sent again", sent_again),
    open_case("to the name that a session fell back to", told_twin, READ.replace("reviewer", "reviewer-NUMBER")),
]
