"""Replies that their asker has, by every way to read one."""

import signal
import subprocess
from typing import Final

from tests.hub_process import KXM, Agent
from tests.mcp_stdio.session import AgentSession
from tests.truth.arrivals_of_requests import restarted
from tests.truth.case import Arrival
from tests.truth.scene import Scene, asked, sent
from tests.truth.stops_in_a_session import THREAD

HAS: Final = "replied by reviewer, and lead has the reply"


def answered(reviewer: Agent, message_id: str) -> str:
    assert reviewer.reply(message_id).status == 200
    return message_id


def fetched(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    message_id = answered(reviewer, sent(lead))
    lead.get(message_id)
    return message_id


def taken_then_answered(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    stream = reviewer.stream()
    message_id = sent(lead)
    stream.messages_until(message_id)
    assert reviewer.acknowledge(message_id).json["first"] is True
    answered(reviewer, message_id)
    lead.get(message_id)
    return message_id


def long_polled(scene: Scene) -> str:
    """Who waits gets it with the wait's answer."""
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    stream = reviewer.stream()
    message_id = sent(lead)
    stream.messages_until(message_id)
    answered(reviewer, message_id)
    assert lead.wait(message_id)["reply"]["content"] == "done"
    return message_id


def with_notes(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    message_id = sent(lead)
    assert reviewer.call("POST", f"/v1/messages/{message_id}/notes", {"content": "half way"}).status == 201
    answered(reviewer, message_id)
    lead.get(message_id)
    return message_id


def awaited_by_command(scene: Scene) -> str:
    reviewer = scene.agent("reviewer")
    (scene.home / "lead").mkdir()
    words = ("send", "--target", "reviewer", "--content", "look at this")
    message_id = str(scene.peer("lead", *words)["messageId"])
    waiting = subprocess.Popen(
        [*KXM, "peer", "await", message_id], env=scene.shell("lead").env, stdout=subprocess.PIPE, text=True
    )
    answered(reviewer, message_id)
    assert "done" in waiting.communicate(timeout=60)[0]
    return message_id


def got_by_command(scene: Scene) -> str:
    reviewer = scene.agent("reviewer")
    (scene.home / "lead").mkdir()
    words = ("send", "--target", "reviewer", "--content", "look at this")
    message_id = answered(reviewer, str(scene.peer("lead", *words)["messageId"]))
    assert scene.peer("lead", "get", message_id)["reply"]["content"] == "done"
    return message_id


def a_person_waited(scene: Scene) -> str:
    reviewer = scene.agent("reviewer")
    stream = reviewer.stream()
    with scene.shell("lead").started("ask", "reviewer", "look at this", "--wait", "40") as asking:
        message_id = str(stream.next("message").message["id"])
        answered(reviewer, message_id)
        assert "done" in asking.communicate(timeout=60)[0]
    return message_id


def a_person_looked(scene: Scene) -> str:
    reviewer, shell = scene.agent("reviewer"), scene.shell("lead")
    message_id = answered(reviewer, str(shell.told("ask", "reviewer", "look at this")["message"]["id"]))
    assert "done" in shell.says("why", message_id)
    return message_id


def a_person_answered(scene: Scene) -> str:
    lead, shell = scene.agent("lead"), scene.shell("reviewer")
    shell.says("list")
    message_id = sent(lead, allowOffline=True)
    shell.says("reply", message_id, "done")
    lead.get(message_id)
    return message_id


def answered_by_command(scene: Scene) -> str:
    lead = scene.agent("lead")
    scene.shell("reviewer").says("list")
    message_id = sent(lead, allowOffline=True)
    scene.peer("reviewer", "reply", message_id, "done")
    lead.get(message_id)
    return message_id


def got_by_its_model(scene: Scene) -> str:
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = answered(reviewer, asked(session))
    session.call("kxm_get", messageId=message_id)
    return message_id


def awaited_by_its_model(scene: Scene) -> str:
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = asked(session)
    waiting = session.begin_call("kxm_await", messageId=message_id)
    answered(reviewer, message_id)
    session.answer(waiting)
    return message_id


def after_a_line(scene: Scene) -> str:
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    watching = scene.watched(session)
    message_id = answered(reviewer, asked(session))
    assert watching.line() == f"KXM reply to {message_id} from reviewer: read it with kxm_get"
    session.call("kxm_get", messageId=message_id)
    return message_id


def as_a_prompt(scene: Scene) -> str:
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    watching = scene.watched(session)
    message_id = answered(reviewer, asked(session))
    scene.hook(session, "prompt", prompt=watching.line())
    return scene.until_told(reviewer, message_id, "in turn")


def with_a_prompt(scene: Scene) -> str:
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = answered(reviewer, asked(session))
    assert message_id in scene.hook(session, "prompt", prompt="go on")
    return scene.until_told(reviewer, message_id, "in turn")


def in_the_next_session(scene: Scene) -> str:
    """Its asker was closed when it came; the next session is told of it and reads it."""
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = asked(session)
    session.close()
    answered(reviewer, message_id)
    again = scene.session("lead")
    assert message_id in scene.hook(again, "session-start")
    again.call("kxm_get", messageId=message_id)
    return message_id


def queued_for_codex(scene: Scene) -> str:
    session, reviewer = scene.codex("lead", turn=THREAD), scene.agent("reviewer")
    message_id = scene.until_told(reviewer, answered(reviewer, asked(session)), "announced", "by codex queue")
    session.call("kxm_get", messageId=message_id)
    return message_id


def fanned_out(scene: Scene) -> str:
    session, reviewer, other = scene.session("lead"), scene.agent("reviewer"), scene.agent("other")
    streams = reviewer.stream(), other.stream()
    asking = session.begin_call("kxm_fanout", targets=["reviewer", "other"], content="?", timeoutMs=30_000)
    for agent, stream in zip((other, reviewer), reversed(streams), strict=True):
        message_id = answered(agent, str(stream.next("message").message["id"]))
    session.answer(asking)
    return message_id


def fanned_out_by_command(scene: Scene) -> str:
    (scene.home / "lead").mkdir()
    reviewer = scene.agent("reviewer")
    stream = reviewer.stream()
    words = ("fanout", "--targets", "reviewer", "--content", "?", "--timeout-ms", "30000")
    asking = subprocess.Popen([*KXM, "peer", *words], env=scene.shell("lead").env, stdout=subprocess.PIPE, text=True)
    message_id = answered(reviewer, str(stream.next("message").message["id"]))
    assert "done" in asking.communicate(timeout=60)[0]
    return message_id


def by_python(scene: Scene) -> str:
    reviewer = scene.agent("reviewer")
    stream = reviewer.stream()
    hub = scene.program("lead")
    message_id = str(hub.send("reviewer", "look at this").id)
    stream.messages_until(message_id)
    answered(reviewer, message_id)
    assert hub.wait(message_id).reply is not None
    return message_id


def between_sessions(scene: Scene) -> str:
    """Both ends are models with the real server, from the request to the reading of its reply."""
    lead, reviewer = scene.session("lead"), scene.session("reviewer", "gemini-cli-mcp-client")
    message_id = asked(lead)
    reviewer.push()
    reviewer.call("kxm_reply", messageId=message_id, content="done")
    while not lead.call("kxm_inbox")["unreadReplies"]:
        pass
    lead.call("kxm_get", messageId=message_id)
    return message_id


def repeated_send(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    message_id = sent(lead, idempotencyKey="k")
    answered(reviewer, message_id)
    again = lead.try_send("reviewer", idempotencyKey="k").json
    assert (again["message"]["id"], again["idempotent"]) == (message_id, True)
    lead.get(message_id)
    return message_id


def hub_killed_before_it_was_read(scene: Scene) -> str:
    scene.own_hub()
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = answered(reviewer, asked(session))
    restarted(scene, signal.SIGKILL)
    return read_after_all(session, message_id)


def hub_restarted_before_the_reply(scene: Scene) -> str:
    scene.own_hub()
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = asked(session)
    restarted(scene, signal.SIGTERM)
    answered(reviewer, message_id)
    return read_after_all(session, message_id)


def read_after_all(session: AgentSession, message_id: str) -> str:
    """The session connects by itself; until then its tools say that the hub is away."""
    while session.result("kxm_get", messageId=message_id).get("isError"):
        pass
    return message_id


def asker_killed(scene: Scene) -> str:
    session, reviewer = scene.session("lead"), scene.agent("reviewer")
    message_id = asked(session)
    session.signal(signal.SIGKILL)
    answered(reviewer, message_id)
    again = scene.session("lead")
    assert message_id in str(again.call("kxm_inbox")["unreadReplies"])
    again.call("kxm_get", messageId=message_id)
    return message_id


ARRIVALS = [
    Arrival("fetched", fetched, HAS),
    Arrival("taken, answered and fetched", taken_then_answered, HAS),
    Arrival("a long poll", long_polled, HAS),
    Arrival("after notes", with_notes, HAS),
    Arrival("a command waited", awaited_by_command, HAS),
    Arrival("a command fetched it", got_by_command, HAS),
    Arrival("a person waited", a_person_waited, HAS),
    Arrival("a person looked", a_person_looked, HAS),
    Arrival("a person answered", a_person_answered, HAS),
    Arrival("a command answered", answered_by_command, HAS),
    Arrival("its model fetched it", got_by_its_model, HAS),
    Arrival("its model waited", awaited_by_its_model, HAS),
    Arrival("its model fetched it after a line", after_a_line, HAS),
    Arrival(
        "a monitor's line as a prompt",
        as_a_prompt,
        "replied by reviewer, and lead has the reply in a turn (claude-code hook)",
    ),
    Arrival(
        "named with a prompt",
        with_a_prompt,
        "replied by reviewer, and lead has the reply in a turn (claude-code hook)",
    ),
    Arrival("read in the next session", in_the_next_session, HAS),
    Arrival("queued for Codex and fetched", queued_for_codex, HAS),
    Arrival("a fan-out", fanned_out, HAS),
    Arrival("a command's fan-out", fanned_out_by_command, HAS),
    Arrival("a program waited", by_python, HAS),
    Arrival("between two sessions", between_sessions, HAS),
    Arrival("an exact retry", repeated_send, HAS),
    Arrival("the hub was killed before it was read", hub_killed_before_it_was_read, HAS),
    Arrival("the hub was restarted before the reply", hub_restarted_before_the_reply, HAS),
    Arrival("its asker was killed", asker_killed, HAS),
]
