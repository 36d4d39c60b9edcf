"""`peerline list`: who is here, and who owes whom."""

from collections import Counter
from typing import Any

import click

from peerline.cli.person_self import Person, sent, waiting
from peerline.cli.person_voice import age
from peerline.core.fence import visible
from peerline.core.limits import AGENT_LEASE_MS
from peerline.network.home import machine_home


@click.command("list")
@click.pass_obj
def list_(person: Person) -> int:
    """Who is here, what each is for, and what is open between you."""
    voice = person.voice
    with person.session() as session:
        caller = session.caller
        agents = session.call("GET", "/v1/agents?includeOffline=true").get("agents", [])
        owe_you = Counter(str(message.get("to")) for message in sent(session, "open", 1_000))
        you_owe = Counter(str(message.get("from")) for message in waiting(session))
        me = session.agent_id
    agents = [agent for agent in agents if isinstance(agent, dict)]
    agents.sort(key=lambda agent: (agent.get("presence") == "offline", str(agent.get("name", "")).lower()))
    rows = [_row(agent, owe_you[str(agent.get("id"))], you_owe[str(agent.get("id"))], me) for agent in agents]
    others = [agent for agent in agents if agent.get("id") != me]
    why = " (your login name; KXM_AGENT_NAME changes it)" if person.by_login else ""
    lines = [f"You are {visible(caller.name)}{why} in project {visible(caller.project)} at {caller.address.url}."]
    if others:
        head = ("NAME", "STATE", "OWES YOU", "YOU OWE", "BRANCH", "HOST", "MODEL", "FOR")
        lines += [_who_is_here(others), "", *voice.table(head, rows)]
    else:
        lines.append("Nobody else has been in this project yet. An agent joins it with its first `kxm peer` command.")
    if runs := parts_here(person.env):
        lines += ["", runs]
    facts: dict[str, Any] = {
        "project": caller.project,
        "hub": caller.address.url,
        "you": caller.name,
        "agents": [
            {**agent, "owesYou": owe_you[str(agent.get("id"))], "youOwe": you_owe[str(agent.get("id"))]}
            for agent in agents
        ],
    }
    return voice.done(lines, **facts)


def parts_here(env: dict[str, str]) -> str | None:
    """What keeps this machine in its networks, if it is in any."""
    home = machine_home(env)
    if not home.provisioned and not home.agents():
        return None
    from peerline.cli.up.report import here  # here: most machines are in no network, and it loads much of one

    return here(env)


def _who_is_here(others: list[dict[str, Any]]) -> str:
    """An agent whose lease has lapsed is neither here nor gone: nobody can know yet."""
    count = Counter(str(agent.get("presence")) for agent in others)
    silent = f", {count['stale']} silent for more than {AGENT_LEASE_MS // 1000} s" if count["stale"] else ""
    return f"{count['online']} here{silent}, {count['offline']} away."


def _row(agent: dict[str, Any], owes_you: int, you_owe: int, me: str | None) -> tuple[str, ...]:
    presence = str(agent.get("presence", "?"))
    you = agent.get("id") == me
    state = "you" if you else presence if presence == "online" else f"{presence} {age(agent.get('lastSeenAt'))}"
    return (
        visible(str(agent.get("name", "?")), 32),
        state,
        str(owes_you or ""),
        str(you_owe or ""),
        visible(str(agent.get("branch") or ""), 24),
        visible(str(agent.get("host") or ""), 20),
        visible(str(agent.get("model") or ""), 20),
        visible(str(agent.get("purpose") or ""), 120),
    )
