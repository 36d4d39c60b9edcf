"""Requests that stand still in the hub: nobody is there, nobody takes them, or they are held or over."""

import signal
from typing import Any

from tests.hub_process import Agent
from tests.truth.case import Stop
from tests.truth.scene import PAIR_LIMIT, SHORT, Scene, sent, trail

STAY = "it goes out when reviewer connects; do not send it again"
BUSY = "wait: it may be busy with earlier work"
RESEND = "if it still matters: kxm peer resend ID"
BIG = "€" * 32_000  # three bytes each
FILLS = 100


def ended_session(scene: Scene) -> str:
    scene.session("reviewer").close()
    return sent(scene.agent("lead"), allowOffline=True)


def person_away(scene: Scene) -> str:
    scene.shell("reviewer").says("inbox")
    return sent(scene.agent("lead"), allowOffline=True)


def no_stream(scene: Scene) -> str:
    scene.agent("reviewer")
    return sent(scene.agent("lead"))


def pushed_not_taken(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    stream = reviewer.stream()
    message_id = sent(lead)
    stream.messages_until(message_id)
    trail(lead, message_id)
    return message_id


def full_stream(scene: Scene) -> str:
    """A client that has stopped reading; what it was sent before fills all buffers on the way."""
    scene.own_hub()
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    reviewer.stream()
    for _ in range(FILLS):
        message_id = str(lead.send("reviewer", BIG)["id"])
        if "takes nothing more" in trail(lead, message_id)["standing"]:
            break
    return message_id


def killed_mid_push(scene: Scene) -> str:
    hub = scene.own_hub()
    message_id = pushed_not_taken(scene)
    hub.environment["KXM_PORT"] = str(hub.address[1])
    hub.stop(signal.SIGKILL)
    hub.start()
    return message_id


def stream_gone(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    with reviewer.stream() as stream:
        message_id = sent(lead)
        stream.messages_until(message_id)
    for _ in scene.pauses():
        if "gone" in trail(lead, message_id)["standing"]:
            break
    return message_id


def frozen(scene: Scene) -> str:
    """A client that was stopped, or a machine that sleeps: its connection stands, and nobody reads it."""
    lead, session = scene.agent("lead"), scene.session("reviewer")
    session.process.send_signal(signal.SIGSTOP)
    message_id = sent(lead)
    for _ in scene.pauses():
        if "being pushed" not in trail(lead, message_id)["standing"]:
            break
    return message_id


def one_too_many(lead: Agent, **fields: Any) -> str:
    for _ in range(PAIR_LIMIT):
        sent(lead)
    return sent(lead, **fields)


def held(scene: Scene) -> str:
    scene.agent("reviewer")
    return one_too_many(scene.agent("lead"))


def held_then_expired(scene: Scene) -> str:
    scene.agent("reviewer")
    lead = scene.agent("lead")
    message_id = one_too_many(lead, **SHORT)
    lead.until_expired(message_id)
    return message_id


def expired_untaken(scene: Scene) -> str:
    scene.session("reviewer").close()
    lead = scene.agent("lead")
    message_id = sent(lead, allowOffline=True, **SHORT)
    lead.until_expired(message_id)
    return message_id


def expired_taken(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    message_id = sent(lead, **SHORT)
    assert reviewer.acknowledge(message_id).status == 200
    lead.until_expired(message_id)
    return message_id


def cancelled(scene: Scene) -> str:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    message_id = sent(lead)
    assert reviewer.acknowledge(message_id).status == 200
    assert lead.cancel(message_id).status == 200
    return message_id


def fallen_back(scene: Scene) -> str:
    """Two windows in one folder: the second could not have the name, and the first is closed."""
    first = scene.session("reviewer")
    second = scene.session("reviewer", user="other", CLAUDE_CODE_SESSION_ID="second")
    first.close()
    scene.found["NUMBER"] = str(second.process.pid)
    return sent(scene.agent("lead"), allowOffline=True)


STOPS = [
    Stop("the session has ended", ended_session, "stored; reviewer is offline", STAY),
    Stop("a person who is away", person_away, "stored; reviewer is offline", STAY),
    Stop(
        "nothing listens",
        no_stream,
        "stored; reviewer is online but has no open stream",
        "reviewer sees it when it reads its inbox",
    ),
    Stop("pushed and not taken", pushed_not_taken, "pushed to reviewer, which has not taken it yet", BUSY),
    Stop(
        "the stream's buffers are full",
        full_stream,
        "stored; reviewer's stream takes nothing more: its client does not read on",
        "see whether its session hangs; it goes out when that reads on or connects again, do not send it again",
    ),
    Stop(
        "the hub was killed mid-push",
        killed_mid_push,
        "pushed to reviewer, which did not take it; its stream is gone",
        "it goes out again when reviewer connects; do not send it again",
    ),
    Stop(
        "the connection broke after the push",
        stream_gone,
        "pushed to reviewer, which did not take it; its stream is gone",
        "it goes out again when reviewer connects; do not send it again",
    ),
    Stop("the client is frozen", frozen, "pushed to reviewer, which has not taken it yet", BUSY),
    Stop(
        "held by the brake on a pair",
        held,
        "held: too many requests between lead and reviewer without a person's turn",
        "a person continues with: peerline continue lead reviewer",
    ),
    Stop(
        "expired while held",
        held_then_expired,
        "expired while it was held: nobody let the two agents go on",
        RESEND,
        "expired",
    ),
    Stop("expired untaken", expired_untaken, "expired; reviewer never took it", RESEND, "expired"),
    Stop(
        "expired after it was taken",
        expired_taken,
        "expired; reviewer took it and did not reply in time",
        RESEND,
        "expired",
    ),
    Stop(
        "cancelled",
        cancelled,
        "cancelled by lead",
        "nothing to do; work that was already done is not undone",
        "cancelled",
    ),
    Stop(
        "the name fell back",
        fallen_back,
        "stored; reviewer is offline; reviewer-NUMBER, a session that could not have that name, is here",
        "if that session was meant, cancel it and send it to reviewer-NUMBER; else it goes out when reviewer connects",
    ),
]
