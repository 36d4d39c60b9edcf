"""Who acts: never guessed, since what is written under a name stays written under it (spec/network.md 5)."""

from collections.abc import Mapping
from typing import Final

from peerline.core.errors import Conflict
from peerline.core.identifiers import agent_id
from peerline.network.config import Config, load_config
from peerline.network.home import Home, machine_home

# Commands that write under an agent's name.
ATTRIBUTING: Final = frozenset(("send", "ask", "answer", "decide", "handshake", "task", "review", "claim"))


# Commands that set an agent up: what `--agent` names need not be here yet.
FOUNDING: Final = frozenset(("init", "agent", "setup"))


class IdentityMismatch(Conflict):
    """The asserted agent is not the one that this home holds."""

    code = "IDENTITY_MISMATCH"


class AmbiguousIdentity(Conflict):
    """Several agents live on this machine and nobody said which one speaks."""

    code = "AMBIGUOUS_IDENTITY"


def asserted_agent(agent: str | None, environ: Mapping[str, str]) -> str | None:
    """`--agent`, else `KOMNET_AGENT`."""
    return agent or environ.get("KOMNET_AGENT") or None


def acting_home(agent: str | None, environ: Mapping[str, str], command: str) -> Home:
    """The home that `command` acts from; `agent` is what `--agent` said.

    Raises:
        IdentityMismatch, AmbiguousIdentity: exit code 6.
        InvalidIdentifier: no agent can be called so.
    """
    home = machine_home(environ)
    if command in FOUNDING:
        return home
    named = asserted_agent(agent, environ)
    if named is not None:
        agent_id(named)  # what can be nobody's name is a mistake of the command line, and never a path
        nested = home.agent(named)
        if nested.provisioned:
            return nested
        config = load_config(home) if home.provisioned else None
        if config is None or config.agent.id != named:
            raise _mismatch(named, home, config)
        return home
    others = home.agents()
    if others and not environ.get("KOMNET_HOME") and command in ATTRIBUTING:
        config = load_config(home) if home.provisioned else None
        me = config.agent.id if config else "nobody yet"
        raise AmbiguousIdentity(
            f"refusing to '{command}' without an explicit identity: this machine holds {len(others)} further agent(s) "
            f"({', '.join(others)}) and KOMNET_HOME is not set, so this would be written as {me}. "
            f"Say who you are: komnet --agent <id> {command} …, or set KOMNET_AGENT"
        )
    return home


def _mismatch(named: str, home: Home, config: Config | None) -> IdentityMismatch:
    holder = f"belongs to {config.agent.id}" if config else "holds no agent yet"
    return IdentityMismatch(
        f"refusing to act as {config.agent.id if config else 'anybody'} when {named} was asserted: the home "
        f"{home.folder} {holder}, and what is written stays under that name. Set {named} up with "
        f"'komnet agent add {named} --repo <url>', or drop the assertion"
    )
