"""Proof of who calls, without side effects (spec/hub.md 3.3)."""

from peerline.core.access import Access, digest
from peerline.core.agent import Agent
from peerline.core.errors import AdminAuthNotConfigured, InvalidAgentIdentity, Unproven
from peerline.hub.agents import Agents, Proven
from peerline.hub.clock import HubClock
from peerline.server.exchange import Head, Request


class Caller:
    """A proven agent; `key` and `token` are digests."""

    __slots__ = ("agent", "key", "proven", "token")

    def __init__(self, agent: Agent, key: bytes, token: bytes | None, proven: Proven) -> None:
        self.agent, self.key, self.token, self.proven = agent, key, token, proven


class Known:
    """A proof that was checked before: it holds while its session does and no token has changed."""

    __slots__ = ("caller", "generation")

    def __init__(self, caller: Caller, generation: int) -> None:
        self.caller, self.generation = caller, generation


class Auth:
    """Hashing the same key and token for each request would cost as much as the request: proofs are remembered, with
    the header block that showed them."""

    def __init__(self, access: Access, agents: Agents, clock: HubClock) -> None:
        self._access, self._agents, self._clock = access, agents, clock

    def agent(self, request: Request, agent_id: str | None = None) -> Caller:
        """The agent that the headers prove: its identity first, then its project's token.

        Raises: InvalidAgentIdentity, Unproven
        """
        head = request.head
        if head is not None and agent_id is None and (caller := self.known(head)) is not None:
            return caller
        headers = request.headers
        claimed = agent_id if agent_id is not None else headers.get("x-kxm-agent-id", "")
        found = self._agents.proven(claimed, headers.get("x-kxm-agent-key", ""))
        if found is None:
            raise InvalidAgentIdentity("invalid agent identity", nextAction="reconnect_with_current_agent_key")
        agent = found.member.agent
        opens = self.gateway if agent.gateway else self.project
        caller = Caller(agent, found.key, opens(request, agent.project), found)
        if head is not None and agent_id is None and self._access.lasting(agent.project):
            head.known = Known(caller, self._access.generation)
        return caller

    def known(self, head: Head) -> Caller | None:
        """Whom this header block proved before, if that still holds."""
        known = head.known
        if not isinstance(known, Known):
            return None
        caller = known.caller
        proven = caller.proven
        if known.generation != self._access.generation or not proven.holds:
            return None
        return caller if proven.member.agent is caller.agent else None

    def project(self, request: Request, project: str) -> bytes | None:
        """The digest of the token that opens `project`. Raises: Unproven."""
        presented = bearer(request)
        if not self._access.project(project, presented, self._clock.now()):
            raise Unproven("invalid project authentication token", operation="other", nextAction="check_project_token")
        return presented

    def gateway(self, request: Request, project: str) -> bytes:
        """The digest of the token that proves the project's gateway. Raises: Unproven."""
        presented = bearer(request)
        if presented is None or not self._access.gateway(project, presented, self._clock.now()):
            raise Unproven("invalid gateway token", operation="other", nextAction="mint_a_gateway_token")
        return presented

    def is_gateway(self, request: Request, project: str) -> bool:
        return self._access.gateway(project, bearer(request), self._clock.now())

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
