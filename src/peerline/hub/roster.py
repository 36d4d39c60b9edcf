"""Who is here, in memory: agents, their sessions, and when each was last heard (decision 6)."""

from collections.abc import Iterator

from peerline.core.agent import Agent
from peerline.core.ids import AgentId, Millis
from peerline.core.text import lower


class Session:
    """One registration. `lease_until` is monotonic; `online` stays true until the sweep notices that it ran out."""

    __slots__ = ("lease_until", "online")

    def __init__(self, lease_until: Millis, online: bool) -> None:
        self.lease_until, self.online = lease_until, online


class Member:
    """An agent with its sessions by the digest of their keys."""

    __slots__ = ("agent", "last_seen_at", "online", "sessions")

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.last_seen_at = agent.last_seen_at  # beside the agent: it changes with every call
        self.online = False  # any session is; kept beside them because every request looks
        self.sessions: dict[bytes, Session] = {}

    def current(self) -> Agent:
        """The agent as it was last heard."""
        return self.agent._replace(last_seen_at=self.last_seen_at)

    def settle(self) -> bool:
        """Work out `online` anew; True if it changed."""
        before = self.online
        self.online = any(session.online for session in self.sessions.values())
        return self.online != before


class Roster:
    def __init__(self) -> None:
        self._by_id: dict[AgentId, Member] = {}
        self._by_name: dict[tuple[str, str], Member] = {}
        self._by_project: dict[str, dict[AgentId, Member]] = {}

    def put(self, agent: Agent) -> Member:
        """Add an agent, or take its new name and description."""
        member = self._by_id.get(agent.id)
        if member is None:
            member = self._by_id[agent.id] = Member(agent)
            self._by_project.setdefault(agent.project, {})[agent.id] = member
        self._by_name[agent.project, lower(agent.name)] = member
        member.agent, member.last_seen_at = agent, agent.last_seen_at
        return member

    def drop(self, member: Member) -> None:
        """Take back a `put` whose agent could not be stored."""
        agent = member.agent
        self._by_id.pop(agent.id, None)
        self._by_name.pop((agent.project, lower(agent.name)), None)
        self._by_project.get(agent.project, {}).pop(agent.id, None)

    def by_id(self, agent: str) -> Member | None:
        return self._by_id.get(AgentId(agent))

    def by_name(self, project: str, name: str) -> Member | None:
        return self._by_name.get((project, lower(name)))

    def in_project(self, project: str) -> list[Member]:
        return list(self._by_project.get(project, {}).values())

    def all(self) -> Iterator[Member]:
        yield from list(self._by_id.values())

    def projects(self) -> list[str]:
        return list(self._by_project)
