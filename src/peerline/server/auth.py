"""Proof of who calls, without side effects (spec/hub.md 3.3)."""

from typing import NamedTuple

from peerline.core.access import Access, digest
from peerline.core.agent import Agent
from peerline.core.errors import AdminAuthNotConfigured, InvalidAgentIdentity, Unproven
from peerline.hub.agents import Agents
from peerline.hub.clock import HubClock
from peerline.hub.roster import Member
from peerline.server.exchange import Request


class Caller(NamedTuple):
    """A proven agent; `key` and `token` are digests."""

    agent: Agent
    key: bytes
    token: bytes | None


class Known(NamedTuple):
    """A proof that was checked before: it holds while the session exists and no token has changed."""

    member: Member
    key: bytes
    token: bytes | None
    generation: int


KNOWN = 20_000


class Auth:
    """Hashing the same key and token for each request would cost as much as the request; proofs are remembered."""

    def __init__(self, access: Access, agents: Agents, clock: HubClock) -> None:
        self._known: dict[tuple[str, str, str], Known] = {}
        self._access, self._agents, self._clock = access, agents, clock

    def agent(self, request: Request, agent_id: str | None = None) -> Caller:
        """The agent that the headers prove: its identity first, then its project's token.

        Raises: InvalidAgentIdentity, Unproven
        """
        headers = request.headers
        claimed = agent_id if agent_id is not None else headers.get("x-kxm-agent-id", "")
        shown = (claimed, headers.get("x-kxm-agent-key", ""), headers.get("authorization", ""))
        known = self._known.get(shown)
        if known is not None and known.generation == self._access.generation and known.key in known.member.sessions:
            return Caller(known.member.agent, known.key, known.token)
        proven = self._agents.proven(claimed, shown[1])
        if proven is None:
            raise InvalidAgentIdentity("invalid agent identity", nextAction="reconnect_with_current_agent_key")
        member, key = proven
        token = self.project(request, member.agent.project)
        if self._access.lasting(member.agent.project):
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[shown] = Known(member, key, token, self._access.generation)
        return Caller(member.agent, key, token)

    def project(self, request: Request, project: str) -> bytes | None:
        """The digest of the token that opens `project`. Raises: Unproven."""
        presented = bearer(request)
        if not self._access.project(project, presented, self._clock.now()):
            raise Unproven("invalid project authentication token", operation="other", nextAction="check_project_token")
        return presented

    def admin(self, request: Request, *, configured: bool = False) -> None:
        """Raises: Unproven; AdminAuthNotConfigured where `configured` asks for a hub that has an admin token."""
        if configured and not self._access.admin_configured:
            raise AdminAuthNotConfigured("this hub has no admin token", nextAction="start_the_hub_with_KXM_AUTH_TOKEN")
        if not self._access.admin(bearer(request)):
            raise Unproven("invalid administrative authentication token", nextAction="use_the_admin_token")


def bearer(request: Request) -> bytes | None:
    """The digest of the token in `Authorization: Bearer`, if there is one."""
    value = request.headers.get("authorization")
    if value is None or value[:7].lower() != "bearer ":
        return None
    return digest(value[7:].strip())
