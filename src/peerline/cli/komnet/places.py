"""`komnet init`, `agent …`, `network …`, `policy`: what lies on this machine."""

import os
import time
from typing import Any

from peerline.cli.komnet.desk import Desk
from peerline.core.errors import Conflict
from peerline.core.fence import visible
from peerline.core.identifiers import agent_id
from peerline.network.config import change_config, default_identity, load_config
from peerline.network.home import Home, machine_home
from peerline.network.identity import asserted_agent
from peerline.network.joining import Joining, enter, plain_user
from peerline.network.policy import load_policy, write_commented


def init(desk: Desk) -> int:
    call, env = desk.call, desk.env
    home, agent = machine_home(env), asserted_agent(call.text("--agent"), env)
    if agent and home.agent(agent_id(agent)).provisioned:
        home = home.agent(agent)
    done = _enter(desk, home, agent)
    shown = [
        f"✓ {'initialised a new network' if done.first else 'joined existing network'}",
        *(["  it exists but is empty — nobody has created a room yet"] if not done.first and not done.rooms else []),
        f"✓ agent card published as {done.agent}",
        f"✓ config written to {home.config}",
        "",
    ]
    if done.current != done.network:
        shown += [
            f"! commands still act on {done.current} — this added {done.network} without switching",
            f"  komnet network use {done.network}   · or --network on one command",
            "",
        ]
    shown += [
        "Say what you cover, or peers cannot route work to you:",
        "  komnet profile update --role '<what you do>' --responsibility '<repo you own>'",
        "",
        "Next:  komnet room list   ·   komnet daemon start   ·   komnet setup claude-code",
        "Someone may have written to you before you joined a room: komnet mentions finds it.",
    ]
    return desk.show(shown, _facts(done, home))


def agent_add(desk: Desk) -> int:
    agent = desk.call.words["ID"]
    home = machine_home(desk.env).agent(agent)
    if home.provisioned:
        raise Conflict(
            f"agent '{agent}' already exists at {home.folder}\n"
            f"  Use a distinct id for a second instance, e.g. {agent}-2"
        )
    done = _enter(desk, home, agent)
    shown = [
        f"✓ agent {agent} → {home.folder}",
        "",
        "point a tool at it:",
        f"  komnet setup <tool> --agent {agent}",
        "or run one command as this agent:",
        f"  komnet --agent {agent} <command>",
    ]
    return desk.show(shown, {"id": agent, "home": str(home.folder), "network": done.network, "remote": done.remote})


def agent_list(desk: Desk) -> int:
    home = machine_home(desk.env)
    found = []
    for agent in home.agents():
        config = load_config(home.agent(agent))
        network = config.default or next(iter(config.networks), None)
        found.append({"id": agent, "home": str(home.agent(agent).folder), "network": network})
    shown = [f"{one['id']:<20} {one['network'] or '-'} · {one['home']}" for one in found] or [
        "no per-agent homes on this machine",
        "",
        f"this machine's single shared identity is in {home.config}",
        "add a second agent with: komnet agent add <id> --repo <transport>",
    ]
    return desk.show(shown, found)


def agent_path(desk: Desk) -> int:
    path = str(machine_home(desk.env).agent(agent_id(desk.call.words["ID"])).folder)
    return desk.show([path], path)


def network_list(desk: Desk) -> int:
    config = load_config(desk.home)
    current = config.default or (next(iter(config.networks)) if len(config.networks) == 1 else None)
    found = [
        {"id": one.id, "remote": one.remote, "subscriptions": list(one.rooms), "current": one.id == current}
        for one in config.networks.values()
    ]
    shown = []
    for joined in config.networks.values():
        shown.append(
            f"{'→' if joined.id == current else ' '} {joined.id:<18} {', '.join(joined.rooms) or 'no rooms yet'}"
        )
        shown.append(f"  {joined.remote}")
    return desk.show(shown or ["no networks yet: komnet init --repo <url>"], found)


def network_use(desk: Desk) -> int:
    network = desk.call.words["ID"]

    def use(config: Any) -> Any:
        config.network(network)
        return type(config)(agent=config.agent, networks=config.networks, default=network, rest=config.rest)

    change_config(desk.home, use)
    return desk.show(
        [
            f"✓ default network is now {network}",
            "  running agent sessions pick this up on their next call — no restart needed",
        ],
        {"current": network},
    )


def policy(desk: Desk) -> int:
    if desk.call.flag("--init"):
        write_commented(desk.home)
        shown = [
            f"✓ wrote a commented policy file {desk.home.policy}",
            "  komnet reads it and never rewrites it, so your comments survive",
        ]
        return desk.show(shown, {"path": str(desk.home.policy)})
    found = load_policy(desk.home)
    local = ", ".join(found.local_agents) or "none — every other agent is remote"
    mode = (
        "off — komnet never starts an agent"
        if found.mode == "off"
        else f"command, at most {found.max_per_hour} an hour"
    )
    tail = (
        [f"read from {source}" for source in found.sources]
        if found.sources
        else ["all values are defaults; no policy file is present", "write a commented one:  komnet policy --init"]
    )
    shown = [
        "approvals",
        f"  inboundWork  {found.inbound_work}",
        f"  localAgents  {local}",
        "",
        "activation",
        f"  mode         {mode}",
        "",
        *tail,
    ]
    return desk.show(shown, {"policy": found.shape(), "sources": list(found.sources), "path": str(desk.home.policy)})


def _enter(desk: Desk, home: Home, agent: str | None) -> Joining:
    call, env = desk.call, desk.env
    me = default_identity(agent, plain_user(desk.env), _timezone(desk))
    if call.command == "init" and not call.as_json:
        acting = agent or (load_config(home).agent.id if home.provisioned else me.id)
        desk.aside([f"Connecting to {visible(str(call.text('--repo')), 500)} as {acting}…"])
    return enter(
        home,
        me if agent or not home.provisioned else load_config(home).agent,
        remote=str(call.text("--repo")),
        network=call.text("--network"),
        now=desk.now,
        entropy=os.urandom,
        environ=env,
    )


def _facts(done: Joining, home: Home) -> dict[str, Any]:
    return {
        "agent": done.agent,
        "network": done.network,
        "remote": done.remote,
        "created": done.first,
        "home": str(home.folder),
        "rooms": list(done.rooms),
    }


def _timezone(desk: Desk) -> str:
    return desk.env.get("TZ") or time.tzname[0] or "UTC"


RUN = {
    "init": init,
    "agent add": agent_add,
    "agent list": agent_list,
    "agent path": agent_path,
    "network list": network_list,
    "network use": network_use,
    "policy": policy,
}
