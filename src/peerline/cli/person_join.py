"""`peerline join`: come to a network of rooms, and know who you are there and who reads what you send."""

import os
import time

import click

from peerline.cli.hot_output import Failure
from peerline.cli.person_self import Person
from peerline.core.errors import PeerlineError
from peerline.core.fence import visible
from peerline.network.config import default_identity, load_config
from peerline.network.direct import DirectCalls
from peerline.network.home import machine_home
from peerline.network.joining import enter, plain_user

NAMED = 12
NEXT = "`peerline up` keeps this machine in touch: the network's daemon and the gateway, beside the hub."


@click.command("join")
@click.argument("url")
@click.option("--agent", help="Your name there; <login>-cli without it.")
@click.option("--room", "rooms", multiple=True, help="Follow this room at once; repeat it for several.")
@click.pass_obj
def join(person: Person, url: str, agent: str | None, rooms: tuple[str, ...]) -> int:
    """Join the network of rooms in the Git repository URL, which you must be able to push to."""
    try:
        return _join(person, url, agent, rooms)
    except PeerlineError as error:
        raise Failure(error.text.replace("\n", ";"), error="join_failed", more={"code": error.code}) from None


def _join(person: Person, url: str, agent: str | None, rooms: tuple[str, ...]) -> int:
    env = person.env
    home = machine_home(env)
    me = default_identity(agent, plain_user(env), env.get("TZ") or time.tzname[0])
    if agent is None and home.provisioned:
        me = load_config(home).agent

    def now() -> int:
        return time.time_ns() // 1_000_000

    # Publishing the card is the check of push access: nothing is remembered here when it fails.
    done = enter(home, me, remote=url, network=None, now=now, entropy=os.urandom, environ=env)
    calls = DirectCalls(home, now=now, entropy=os.urandom, environ=env)
    for room in rooms:
        calls.call("roomJoin", {"room": room}, done.network)
    found = calls.call("rooms", {}, done.network)
    others = [card for card in calls.call("agents", {}, done.network) if card["id"] != me.id]
    verb = "made" if done.first else "joined"
    lines = [
        f"You have {verb} the network {done.network} as {me.id}, and can push to it.",
        f"Who can read what you send: everybody with access to {visible(url, 200)}, now and later.",
        _readers([visible(f"{card['id']} ({card['human']['name']})", 80) for card in others]),
        "What you send is permanent; every message stands under your name.",
        "",
        *_rooms(found),
    ]
    return person.voice.done(
        lines,
        agent=me.id,
        network=done.network,
        created=done.first,
        readers=[card["id"] for card in others],
        rooms=found,
    )


def _readers(names: list[str]) -> str:
    if not names:
        return "Nobody else has a card there yet."
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"There are: {', '.join(names[:NAMED])}{more}."


def _rooms(found: list[dict[str, object]]) -> list[str]:
    if not found:
        return ["There is no room yet; open one: komnet room create <name>", NEXT]
    shown = [f"  {visible(str(room['id']), 64)}" + (" (you follow it)" if room["subscribed"] else "") for room in found]
    return ["Rooms:", *shown, "Follow one with: komnet room join <name>", NEXT]
