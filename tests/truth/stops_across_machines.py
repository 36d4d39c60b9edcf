"""Requests to an address in a room that do not arrive: on this machine, in the repository, or on the other one."""

from collections.abc import Callable
from dataclasses import dataclass

from peerline.core.post import Needs
from peerline.gateway.journal import Journal
from peerline.gateway.resolving import dismiss
from tests.truth.far_scene import FarScene

LATER = "do not send it again"
DECIDES = f"the person at bob's machine decides; {LATER}"
GOES = f"it goes out by itself; {LATER}"
ASK = "cancel it, and ask where they are"
RESEND = "if it still matters: kxm peer resend ID"
REFUSED = "kxm peer get ID tells why"
SECRET = "is AKIAABCDEFGHIJKLMNOP still in use?"


@dataclass(frozen=True, slots=True)
class FarStop:
    """`bring` gives the request's id; `why` and `next` are word for word what the trail and `peerline why` say."""

    name: str
    bring: Callable[[FarScene], str]
    why: str
    next: str
    status: str = "delivered"

    def __str__(self) -> str:
        return self.name


def stopped_gateway(scene: FarScene) -> str:
    scene.leave()
    return scene.sent(allowOffline=True)


def killed_gateway(scene: FarScene) -> str:
    """It had taken nothing when it ended, and nothing is lost."""
    request = scene.asked()
    scene.leave()
    return request


def busy_gateway(scene: FarScene) -> str:
    return scene.asked()


def remote_away(scene: FarScene) -> str:
    scene.remote.path.rename(scene.remote.path.with_name("away.git"))
    return scene.stepped(scene.asked())


def refusing_remote(scene: FarScene) -> str:
    scene.remote.hook("pre-receive", "#!/bin/sh\nexit 1\n")
    return scene.stepped(scene.asked())


def expired_at_the_gateway(scene: FarScene) -> str:
    scene.remote.path.rename(scene.remote.path.with_name("away.git"))
    return scene.expired(scene.stepped(scene.asked(ttlMs=2_000)))


def expired_in_the_room(scene: FarScene) -> str:
    return scene.expired(scene.stepped(scene.asked(ttlMs=3_000)))


def room_not_followed_there(scene: FarScene) -> str:
    return scene.stepped(scene.asked("carol@build"))


def nobody_known(scene: FarScene) -> str:
    return scene.stepped(scene.asked("dave@build"))


def nobody_serves(scene: FarScene) -> str:
    return scene.there_and_back(scene.asked())


def no_default(scene: FarScene) -> str:
    for session in ("backend", "frontend"):
        scene.serves(session)
    return scene.there_and_back(scene.asked())


def session_away(scene: FarScene) -> str:
    scene.serves("backend")
    return scene.there_and_back(scene.asked())


def for_a_person(scene: FarScene) -> str:
    return scene.there_and_back(scene.asked(needs=str(Needs.HUMAN)))


def for_a_person_of_everybody(scene: FarScene) -> str:
    return scene.there_and_back(scene.asked("@build", needs=str(Needs.HUMAN)))


def put_aside(scene: FarScene) -> str:
    request = scene.there_and_back(scene.asked())
    journal: Journal = scene.there.journal()
    (item,) = journal.read(lambda tx: tx.items("held"))
    dismiss(journal, item.id, scene.now())
    return scene.there_and_back(request)


def pushed_there(scene: FarScene) -> str:
    scene.serves("backend")
    scene.there_sessions.here.add("backend")
    return scene.there_and_back(scene.asked())


def secret(scene: FarScene) -> str:
    return scene.stepped(scene.asked(content=SECRET))


def room_not_followed(scene: FarScene) -> str:
    return scene.stepped(scene.asked("bob@attic"))


def no_address(scene: FarScene) -> str:
    return scene.stepped(scene.asked("bob@Build Room"))


def unknown_network(scene: FarScene) -> str:
    return scene.stepped(scene.asked("bob@build.nowhere"))


def refused_to_another(scene: FarScene) -> str:
    scene.stepped(scene.asked(content=SECRET, by="other"))
    return scene.stepped(scene.asked(content=SECRET))


def cancelled(scene: FarScene) -> str:
    request = scene.stepped(scene.asked())
    scene.cancel(request)
    return scene.stepped(request)


OFF = "stored; this machine's gateway does not run"
START = "its person starts it: komnet gateway run"
CANT = "with the gateway, which can't send it yet: "
BY_GATEWAY = "refused by this machine's gateway (CODE); bob@build never got it"


def refused(code: str, target: str = "bob@build") -> str:
    return BY_GATEWAY.replace("CODE", code).replace("bob@build", target)


def held(why: str) -> str:
    return f"held by bob's gateway: «{why}»"


STOPS = [
    FarStop("a gateway that was stopped", stopped_gateway, OFF, START, "queued"),
    FarStop("a gateway that ended before it took it", killed_gateway, OFF, START, "queued"),
    FarStop(
        "a gateway that is busy",
        busy_gateway,
        "with the gateway; the room's remote has not got it yet",
        f"komnet gateway status; {LATER}",
        "queued",
    ),
    FarStop("a remote that is away", remote_away, CANT + "…", GOES, "queued"),
    FarStop("a remote that takes no push", refusing_remote, CANT + "…", GOES, "queued"),
    FarStop(
        "expired before the remote had it",
        expired_at_the_gateway,
        "expired; the room's remote never got it",
        RESEND,
        "expired",
    ),
    FarStop(
        "expired in the room",
        expired_in_the_room,
        "expired in the room's repository; bob@build did not reply in time",
        RESEND,
        "expired",
    ),
    FarStop(
        "an agent that does not follow the room",
        room_not_followed_there,
        "in the room's repository, and carol does not follow #build, as its card says",
        ASK,
    ),
    FarStop(
        "an agent that nobody knows",
        nobody_known,
        "in the room's repository, and no card of dave is known here: it is new, or the name is wrong",
        ASK,
    ),
    FarStop(
        "a room that no session serves there",
        nobody_serves,
        held("no session here asked in this thread or serves #build"),
        DECIDES,
    ),
    FarStop(
        "a room that two sessions serve there, none by default",
        no_default,
        held("2 sessions serve #build and none is its default"),
        DECIDES,
    ),
    FarStop("a session that is not there", session_away, held("its session can't be reached"), DECIDES),
    FarStop("a person who is asked", for_a_person, held("it needs a human, and waits for them"), DECIDES),
    FarStop("any person of the room", for_a_person_of_everybody, held("it needs a human, and waits for them"), DECIDES),
    FarStop("put aside by its person", put_aside, held("its person has put it aside"), DECIDES),
    FarStop(
        "pushed there and not taken up",
        pushed_there,
        "taken by bob's gateway, not yet in a turn",
        "wait: its agent may be busy with earlier work",
    ),
    FarStop("a secret", secret, refused("SECRET_DETECTED"), REFUSED, "replied"),
    FarStop(
        "a room that is not followed here",
        room_not_followed,
        refused("NOT_SUBSCRIBED", "bob@attic"),
        REFUSED,
        "replied",
    ),
    FarStop("no room's name", no_address, refused("INVALID_IDENTIFIER", "bob@Build Room"), REFUSED, "replied"),
    FarStop(
        "a network that this machine is not in",
        unknown_network,
        refused("UNKNOWN_NETWORK", "bob@build.nowhere"),
        REFUSED,
        "replied",
    ),
    FarStop("refused to another session before", refused_to_another, refused("REFUSED_BEFORE"), REFUSED, "replied"),
    FarStop(
        "cancelled",
        cancelled,
        "cancelled by lead",
        "nothing to do; work that was already done is not undone",
        "cancelled",
    ),
]
