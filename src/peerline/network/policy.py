"""`policy.yaml`: what the machine's owner allows; a person writes it, nothing here ever does (spec/network.md 5)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from peerline.core.errors import Conflict, Invalid
from peerline.network.home import Home
from peerline.wire import yaml_core

INBOUND_WORK: Final = ("never", "remote", "always")
MODES: Final = ("off", "command")
SIZE_AT_MOST: Final = 64 * 1024

COMMENTED: Final = """\
# What this machine's owner allows its agents. komnet reads this file and never rewrites it.
v: 1

approvals:
  # Which claims of work that somebody else asked for need your approval first:
  # never, remote (what agents not listed below asked for) or always.
  inboundWork: remote
  # Agents whose requests count as your own.
  localAgents: []

activation:
  # off: nothing is ever started. command: run one program when mail comes and no agent is near.
  mode: off
  # The program and its arguments; no shell reads them.
  command: []
  # At most so often an hour (1 to 60).
  maxPerHour: 4
"""


class BrokenPolicy(Invalid):
    """The file says something that can't be honoured, so nothing that needs it goes on."""

    code = "BROKEN_POLICY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    inbound_work: str = "remote"
    local_agents: tuple[str, ...] = ()
    mode: str = "off"
    command: tuple[str, ...] = ()
    max_per_hour: int = 4
    sources: tuple[str, ...] = ()

    def shape(self) -> dict[str, Any]:
        """As `komnet policy --json` prints it."""
        return {
            "v": 1,
            "approvals": {"inboundWork": self.inbound_work, "localAgents": list(self.local_agents)},
            "activation": {"mode": self.mode, "command": list(self.command), "maxPerHour": self.max_per_hour},
        }


def load_policy(home: Home) -> Policy:
    """The defaults, then the machine's file where this home is a further agent's, then the home's own.

    Raises:
        BrokenPolicy
    """
    policy = Policy()
    for place in (home.root, home):
        if place is None:
            continue
        try:
            with place.policy.open("rb") as file:
                data = file.read(SIZE_AT_MOST + 1)
        except FileNotFoundError:
            continue
        try:
            if len(data) > SIZE_AT_MOST:
                raise ValueError("it is larger than 64 KiB")
            policy = _over(policy, yaml_core.load(data.decode()))
        except (ValueError, Invalid) as error:
            raise BrokenPolicy(f"{place.policy}: {error}; mend the file, or move it away to use the defaults") from None
        policy = replace(policy, sources=(*policy.sources, str(place.policy)))
    return policy


def write_commented(home: Home) -> None:
    """Write the file with its defaults and what they mean.

    Raises:
        Conflict: there is one already.
    """
    home.make()
    try:
        file = os.open(home.policy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise Conflict(f"{home.policy} already exists\n  edit it directly; komnet never rewrites this file") from None
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(COMMENTED)


def _over(policy: Policy, value: object) -> Policy:
    top = _mapping(value, "the file", ("v", "approvals", "activation"))
    if top.get("v") != 1:
        raise ValueError("v must be 1")
    approvals = _mapping(top.get("approvals") or {}, "approvals", ("inboundWork", "localAgents"))
    activation = _mapping(top.get("activation") or {}, "activation", ("mode", "command", "maxPerHour"))
    per_hour = activation.get("maxPerHour", policy.max_per_hour)
    if type(per_hour) is not int or not 1 <= per_hour <= 60:
        raise ValueError("activation.maxPerHour must be a whole number from 1 to 60")
    mode = _one_of(activation.get("mode", policy.mode), "activation.mode", MODES)
    command = _texts(activation.get("command", list(policy.command)), "activation.command")
    if mode == "command" and not command:
        raise ValueError("activation.command must name a program when activation.mode is command")
    return replace(
        policy,
        inbound_work=_one_of(approvals.get("inboundWork", policy.inbound_work), "approvals.inboundWork", INBOUND_WORK),
        local_agents=_texts(approvals.get("localAgents", list(policy.local_agents)), "approvals.localAgents"),
        mode=mode,
        command=command,
        max_per_hour=per_hour,
    )


def _mapping(value: object, where: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a mapping")
    for key in value:
        if key not in known:
            raise ValueError(f"{where} has no {key!r}; known are {', '.join(known)}")
    return value


def _one_of(value: object, where: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{where} must be one of {', '.join(allowed)}")
    return str(value)


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise ValueError(f"{where} must be a list of texts")
    return tuple(value)
