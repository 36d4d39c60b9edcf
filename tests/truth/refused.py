"""Requests that never became a message, and senders to whom the hub says nothing any more."""

import os
from pathlib import Path

from tests.conftest import fresh_project
from tests.hub_process import Project
from tests.truth.case import Deaf, Refusal
from tests.truth.scene import PAIR_LIMIT, QUEUE_LIMIT, Scene, sent

PASS_ON = "answer the request at hand instead of passing it on"
SEE = "see who is here with `peerline list`, and correct the name"


def full_queue(scene: Scene) -> None:
    lead = scene.agent("lead")
    scene.agent("reviewer")
    for number in range(QUEUE_LIMIT):
        scene.project.register(f"other-{number}").send("reviewer")
    lead.try_send("reviewer")


def hop_limit(scene: Scene) -> None:
    scene.agent("reviewer")
    scene.agent("lead").try_send("reviewer", hops=5, maxHops=5)


def ring(scene: Scene) -> None:
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    lead.try_send("reviewer", path=[reviewer.id, lead.id])


def full_pair(scene: Scene) -> None:
    lead = scene.agent("lead")
    scene.agent("reviewer")
    for _ in range(2 * PAIR_LIMIT):
        sent(lead)
    lead.try_send("reviewer")


def other_project(scene: Scene) -> None:
    fresh_project(scene.project.hub).register("reviewer")
    scene.agent("lead").try_send("reviewer")


def never_registered(scene: Scene) -> None:
    scene.agent("lead").try_send("reviewer", allowOffline=True)


def away(scene: Scene) -> None:
    scene.session("reviewer").close()
    scene.agent("lead").try_send("reviewer")


def one_of_several(scene: Scene) -> None:
    """A fan-out from a session: one target is there, one is not."""
    session = scene.session("lead")
    scene.agent("other")
    session.result("kxm_fanout", targets=["other", "reviewer"], content="?", timeoutMs=100)


def key_used_before(scene: Scene) -> None:
    scene.agent("reviewer")
    lead = scene.agent("lead")
    scene.agent("other")
    sent(lead, "other", idempotencyKey="k")
    lead.try_send("reviewer", idempotencyKey="k")


def full_disk(scene: Scene) -> None:
    """A file that leaves less on the hub's disk than it keeps for what it has accepted."""
    scene.own_hub(KXM_STATE_DIR=scene.found["small disk"])
    scene.agent("reviewer")
    lead = scene.agent("lead")
    disk = Path(scene.found["small disk"])
    left = os.statvfs(disk)
    with (disk / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, left.f_bavail * left.f_frsize - (1 << 20))
    lead.try_send("reviewer")


REFUSALS = [
    Refusal(
        "the recipient's queue is full",
        full_queue,
        "recipient_queue_full",
        f"recipient has {QUEUE_LIMIT} open requests",
        "ask another agent, cancel what nobody needs any more, or wait until it has caught up",
    ),
    Refusal("the hop limit", hop_limit, "hop_limit_reached", "hop limit reached (5/5)", PASS_ON),
    Refusal("a ring", ring, "ring_detected", "ring detected (reviewer -> lead -> reviewer)", PASS_ON),
    Refusal(
        "too much is held between two",
        full_pair,
        "pair_held",
        f"{PAIR_LIMIT} requests between lead and reviewer are held until a person lets them go",
        "a person lets the two agents go on with `peerline continue`; `peerline why` names them",
    ),
    Refusal(
        "in another project",
        other_project,
        "target_not_found",
        "nobody named reviewer has been in project PROJECT",
        SEE,
    ),
    Refusal(
        "never registered",
        never_registered,
        "target_not_found",
        "nobody named reviewer has been in project PROJECT",
        SEE,
    ),
    Refusal(
        "offline, and not to be queued",
        away,
        "target_not_found",
        "reviewer is offline in project PROJECT",
        "send it with allowOffline (`kxm peer send --allow-offline`), and it goes out when that agent connects",
    ),
    Refusal(
        "one target of several",
        one_of_several,
        "target_not_found",
        "nobody named reviewer has been in project PROJECT",
        SEE,
    ),
    Refusal(
        "a key that was used before",
        key_used_before,
        "idempotency_conflict",
        "idempotency key was already used for another request",
        "repeat the first request exactly, or use a new idempotency key",
    ),
    Refusal(
        "the disk is full",
        full_disk,
        "storage_full",
        "the disk is almost full",
        "free space on the disk of the hub, then send it again",
        small_disk=True,
    ),
]


def revoked(scene: Scene) -> None:
    tokens = f"/v1/projects/{scene.project.name}/tokens"
    made = scene.project.hub.admin_call("POST", tokens, {"label": "lead's"}).json
    scene.project = Project(scene.project.hub, scene.project.name, made["secret"])
    lead = scene.agent("lead")
    assert scene.project.hub.admin_call("DELETE", f"{tokens}/{made['token']['id']}").status == 200
    assert lead.try_send("reviewer").code == "invalid_auth"


def rate_limited(scene: Scene) -> None:
    scene.own_hub(KXM_RATE_LIMIT_MAX="5")
    lead = scene.agent("lead")
    while lead.try_send("reviewer").code != "rate_limited":
        pass


def hub_gone(scene: Scene) -> None:
    hub = scene.own_hub()
    scene.agent("reviewer")
    sent(scene.agent("lead"))
    hub.stop()


DEAF = [
    Deaf(
        "the token was revoked",
        revoked,
        "invalid project authentication token",
        "on the hub's own machine unset KXM_AUTH_TOKEN, elsewhere set it to this project's token",
    ),
    Deaf("the rate limit", rate_limited, "request rate limit exceeded", "try again in "),
    Deaf("no hub runs", hub_gone, "hub not reachable at", "start it with: peerline up"),
]
