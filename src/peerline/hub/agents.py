"""Agents: register, resume, heartbeat, presence; identity is durable, sessions come and go (decision 6)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from peerline.core.access import digest
from peerline.core.agent import GATEWAY, Agent, Presence, check_name
from peerline.core.errors import DuplicateAgentName, TargetNotFound
from peerline.core.ids import AgentId, Entropy, Millis, random_id
from peerline.core.limits import FALLBACK, SESSIONS_PER_AGENT
from peerline.core.text import lower, skeleton
from peerline.core.trail import Observed
from peerline.database.later import Later, ready
from peerline.hub.clock import HubClock
from peerline.hub.directory import Directory
from peerline.hub.journal import Journal
from peerline.hub.roster import Member, Roster, Session
from peerline.hub.wakeups import Wakeups
from peerline.store.api import Store, Tx
from peerline.store.tables.agents import StoredSession
from peerline.wire.agents import record
from peerline.wire.directory import listed
from peerline.wire.json_body import encode

STEP = 100  # agents that are dealt with in one turn of the loop
PRESENCE_STREAMS = 256  # in larger projects presence frames would grow with the square; the list stays true


class Registration(NamedTuple):
    """What an agent asks to be; `resume` is a key it already holds."""

    name: str
    purpose: str
    project: str
    model: str | None
    host: str | None
    resume: str | None
    branch: str | None = None


class Registered(NamedTuple):
    agent: Agent
    key: str
    resumed: bool
    lookalike: str | None


class Proven:
    """A member and the session whose key was shown; it holds while that session does."""

    __slots__ = ("key", "member", "session")

    def __init__(self, member: Member, session: Session, key: bytes) -> None:
        self.member, self.session, self.key = member, session, key

    @property
    def holds(self) -> bool:
        return self.member.sessions.get(self.key) is self.session


class Agents:
    """Presence lives here and is flushed by the sweeper; only a registration waits for the disk."""

    def __init__(
        self,
        store: Store,
        wakeups: Wakeups,
        journal: Journal,
        clock: HubClock,
        entropy: Entropy,
        lease_ms: Millis,
        roster: Roster | None = None,
    ) -> None:
        self._store, self._wakeups, self._journal, self._clock = store, wakeups, journal, clock
        self._entropy, self.lease_ms = entropy, lease_ms
        self._roster = roster or Roster()
        self.directory = Directory()
        self._heard: dict[bytes, AgentId] = {}  # sessions heard since the last flush

    def load(self, agents: list[Agent], sessions: list[StoredSession]) -> None:
        """Start from what is stored: online is whose lease has not run out."""
        now, monotonic = self._clock.now(), self._clock.monotonic()
        for agent in agents:
            self._roster.put(agent)
        for stored in sessions:
            member = self._roster.by_id(stored.agent)
            if member is not None:
                left = min(stored.lease_until - now, self.lease_ms)
                member.sessions[stored.key_digest] = Session(monotonic + left, left > 0)
                member.settle()

    def register(self, asked: Registration, *, gateway: bool = False) -> Later[Registered]:
        """Open a session for a name; `gateway`: a gateway's token was shown.

        A new name is a new agent. An offline one comes back with the same id, and its old keys die. An online one is
        refused, unless `resume` is one of its keys: then this is one more session of the same agent.

        Raises:
            Invalid, NameReserved, DuplicateAgentName
        """
        check_name(asked.name, gateway=gateway)
        now = self._clock.now()
        member = self._roster.by_name(asked.project, asked.name)
        old = digest(asked.resume) if asked.resume is not None else b""
        kept = member is not None and old in member.sessions
        if member is not None and member.online and not kept:
            raise DuplicateAgentName(f"agent name already active in project: {asked.name}")
        before = member.agent if member is not None else None
        if before is not None and member is not None and member.online:
            agent = before._replace(last_seen_at=now)  # a further session does not describe the agent anew
        else:
            agent = Agent(
                id=before.id if before else AgentId(random_id("agt", self._entropy)),
                project=asked.project,
                name=asked.name,
                purpose=asked.purpose,
                model=asked.model,
                host=asked.host,
                branch=asked.branch,
                connected_at=now,
                last_seen_at=now,
            )
        key = random_id("key", self._entropy)
        session = StoredSession(digest(key), agent.id, now, now + self.lease_ms)
        was_online = member.online if member else False
        member, died = self._admit(agent, session, kept)
        resumed = before is not None

        def work(tx: Tx) -> None:
            tx.agents.save(agent)
            if not kept:
                tx.agents.close_sessions(agent.id)
                if resumed:
                    where = f"on {agent.host}" if agent.host else "without a host label"
                    tx.agents.note_resumption(agent.id, now, Observed.RESUMED, agent.id, f"new key, {where}")
            for key_digest in died:
                tx.agents.close_session(key_digest)
            tx.agents.open_session(session)

        def settled(stored: Later[None]) -> None:
            if stored.failed:
                self._withdraw(member, session, before)
                return
            if not kept:
                for feed in self._wakeups.feeds(agent.id):
                    feed.end()  # its key is dead
            self._journal.event(
                "agent_resumed" if resumed else "agent_registered",
                agent=agent.id,
                name=agent.name,
                project=agent.project,
            )
            if not was_online:
                self._announce(member)

        later = self._store.write(work)
        later.then(settled)
        return later.map(lambda _: Registered(agent, key, resumed, self._lookalike(agent)))

    def _admit(self, agent: Agent, session: StoredSession, kept: bool) -> tuple[Member, list[bytes]]:
        """Take the session into the roster at once, so that of two at the same name one is refused."""
        member = self._roster.put(agent)
        died: list[bytes] = []
        if not kept:
            member.sessions.clear()
        elif len(member.sessions) >= SESSIONS_PER_AGENT // 4:
            dead = [d for d, s in member.sessions.items() if not s.online]
            died = dead[: len(member.sessions) - SESSIONS_PER_AGENT // 4 + 1]
            for key_digest in died:
                del member.sessions[key_digest]
        member.sessions[session.key_digest] = Session(self._clock.monotonic() + self.lease_ms, True)
        member.settle()
        return member, died

    def _withdraw(self, member: Member, session: StoredSession, before: Agent | None) -> None:
        member.sessions.pop(session.key_digest, None)
        member.settle()
        if before is None:
            self._roster.drop(member)
        else:
            member.agent = before

    def _lookalike(self, agent: Agent) -> str | None:
        looks = skeleton(agent.name)
        for other in self._roster.in_project(agent.project):
            if other.agent.id != agent.id and other.online and skeleton(other.agent.name) == looks:
                return other.agent.name
        return None

    def proven(self, agent: str, key: str) -> Proven | None:
        """Whom `key` proves, or None; changes nothing."""
        member = self._roster.by_id(agent)
        if member is None:
            return None
        key_digest = digest(key)
        session = member.sessions.get(key_digest)
        return None if session is None else Proven(member, session, key_digest)

    def heard(self, proven: Proven, monotonic: Millis | None = None) -> None:
        """An authenticated call: the session's lease runs anew, without a disk write."""
        if monotonic is None:
            monotonic = self._clock.monotonic()
        member, session = proven.member, proven.session
        session.lease_until = monotonic + self.lease_ms
        member.last_seen_at = self._clock.at(monotonic)
        self._heard[proven.key] = member.agent.id
        if not session.online:
            session.online = True
            if member.settle():
                self._announce(member)

    def unregister(self, agent: Agent, key_digest: bytes) -> Later[None]:
        """End one session. Its key still proves the agent (an authenticated call brings it back), and its streams stay
        open until their client closes them."""
        member = self._roster.by_id(agent.id)
        session = member.sessions.get(key_digest) if member is not None else None
        if member is None or session is None:
            return ready(None)
        session.online = False
        session.lease_until = self._clock.monotonic()
        self._heard.pop(key_digest, None)
        if member.settle():
            self._announce(member)
            self._journal.event("agent_unregistered", agent=agent.id, name=agent.name, project=agent.project)
        now = self._clock.now()
        return self._store.write(lambda tx: tx.agents.renew_sessions([(key_digest, now)]))

    def target(self, project: str, target: str, allow_offline: bool) -> Agent:
        """The agent that `target` names: an id first, then a name; for an address in a room the project's gateway.

        Raises: TargetNotFound
        """
        member = self._roster.by_id(target)
        if member is None or member.agent.project != project:
            # No agent's name has an @: such a target is in a room, and the gateway knows the way.
            member = self._roster.by_name(project, GATEWAY if "@" in target else target)
        if member is None or not (member.online or allow_offline):
            step = "start_the_gateway" if "@" in target else "list_agents_or_allow_offline"
            raise TargetNotFound(f"online target not found: {target}", project=project, nextAction=step)
        return member.agent

    def addressed(self, project: str, target: str) -> str:
        """`target`, or the address in a room that it stands for: a name that no agent here has, and one room has.

        Raises: TargetAmbiguous
        """
        if "@" in target or self._roster.by_name(project, target) is not None:
            return target
        member = self._roster.by_id(target)
        if member is not None and member.agent.project == project:
            return target
        return self.directory.lone(project, target) or target

    def remote(self, project: str) -> list[dict[str, object]]:
        """Who can be reached by way of the project's gateway, while that is there."""
        gateway = self._roster.by_name(project, GATEWAY)
        if gateway is None or not gateway.online:
            return []
        return [listed(remote, project) for remote in self.directory.of(project)]

    def projects(self) -> list[str]:
        """Every project that an agent was ever in."""
        return sorted(self._roster.projects())

    def known(self, project: str, name: str) -> bool:
        """Whether an agent of that name has been in the project."""
        return self._roster.by_name(project, name) is not None

    def name(self, agent: str) -> str:
        """The agent's name; for an id that nobody has, the id."""
        member = self._roster.by_id(agent)
        return agent if member is None else member.agent.name

    def twin(self, agent: AgentId) -> str | None:
        """Who is here under that agent's name and a number: a session of ours that could not have the name."""
        member = self._roster.by_id(agent)
        if member is None:
            return None
        name = re.compile(re.escape(lower(member.agent.name)[:FALLBACK]) + r"-[0-9]+")
        others = [m.agent for m in self._roster.in_project(member.agent.project) if m.online]
        return next((other.name for other in others if name.fullmatch(lower(other.name))), None)

    def presence(self, agent: AgentId) -> Presence:
        member = self._roster.by_id(agent)
        if member is None:
            return Presence.OFFLINE
        return member.current().presence(member.online, self._clock.now(), self.lease_ms)

    def record(self, agent: AgentId) -> dict[str, object]:
        """The public record, as it is now."""
        member = self._roster.by_id(agent)
        assert member is not None, "an agent is never deleted"
        return record(member.current(), self.presence(agent), self.lease_ms)

    def listed(self, project: str, include_offline: bool) -> list[dict[str, object]]:
        """Records of the project's agents, by name."""
        members = [m for m in self._roster.in_project(project) if m.online or include_offline]
        members.sort(key=lambda m: lower(m.agent.name))
        return [self.record(m.agent.id) for m in members]

    def online_count(self) -> int:
        return sum(1 for member in self._roster.all() if member.online)

    def sweep(self) -> None:
        """Mark offline whose leases have run out."""
        for _ in self.sweeping():
            pass

    def sweeping(self) -> Iterator[None]:
        """`sweep` in steps: telling projects that thousands have gone takes longer than a caller should wait."""
        monotonic, told = self._clock.monotonic(), 0
        for member in self._roster.all():
            if not member.online:
                continue
            for session in member.sessions.values():
                if session.online and session.lease_until <= monotonic:
                    session.online = False
            if member.settle():
                agent = member.agent
                self._journal.event("agent_stale", agent=agent.id, name=agent.name, project=agent.project)
                self._announce(member)
                told += 1
                if told % STEP == 0:
                    yield

    def flush(self) -> Later[None]:
        """Store who was heard since the last flush."""
        return ([*self.flushing()] or [ready(None)])[-1]

    def flushing(self) -> Iterator[Later[None]]:
        """`flush` in steps, each to be awaited before the next: statements for thousands take their time too."""
        heard, self._heard = list(self._heard.items()), {}
        for start in range(0, len(heard), STEP):
            yield self._store_heard(heard[start : start + STEP])

    def _store_heard(self, heard: list[tuple[bytes, AgentId]]) -> Later[None]:
        now, monotonic = self._clock.now(), self._clock.monotonic()
        leases: list[tuple[bytes, Millis]] = []
        seen: dict[AgentId, Millis] = {}
        for key_digest, agent in heard:
            member = self._roster.by_id(agent)
            session = member.sessions.get(key_digest) if member is not None else None
            if member is not None and session is not None:
                leases.append((key_digest, now + session.lease_until - monotonic))
                seen[agent] = member.last_seen_at

        def work(tx: Tx) -> None:
            tx.agents.renew_sessions(leases)
            tx.agents.seen(seen.items())

        return self._store.write(work)

    def _announce(self, member: Member) -> None:
        """Tell the project's other open streams who came or went."""
        agent = member.agent
        self._wakeups.changed(agent.project, "agents")
        if not 0 < self._wakeups.in_project(agent.project) <= PRESENCE_STREAMS:
            return
        data = encode({"type": "presence", "agent": self.record(agent.id)})
        for other in self._roster.in_project(agent.project):
            if other.agent.id != agent.id:
                for feed in self._wakeups.feeds(other.agent.id):
                    feed.presence(data)
