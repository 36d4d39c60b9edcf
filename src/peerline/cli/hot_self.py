"""Which agent a hook speaks for: the one its session's `kxm mcp` registered, else the one it is about to register."""

from __future__ import annotations

from peerline.cli.hot_brief import named
from peerline.cli.hot_http import Connection
from peerline.cli.hot_identity import Caller, read_object
from peerline.cli.hot_name import session_name
from peerline.cli.hot_record import Sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FALLBACK_S = 0.2  # how long a session whose name is taken is waited for, to learn what it is called instead


class Myself:
    """`record` is None before the session has registered; then a saved key of the name it will take is used.

    Raises:
        Failure: the state folder, the hub's URL or the project's name is unusable.
    """

    def __init__(self, env: dict[str, str], sessions: Sessions, session_id: str) -> None:
        self._caller = Caller(env, {})
        if not self._caller.named:
            self._caller = Caller(env, {"--as": session_name(env)})
        self._hub: Connection | None = None
        self._holder: dict[str, Any] | None = None
        self.wanted = self._caller.name
        self.record = sessions.record(session_id)
        if self.record is None:
            self._holder = self._found_holder(sessions, session_id)
            if self._holder is not None:
                self.record = sessions.record(session_id, FALLBACK_S)
        self.name, self.project = self.wanted, self._caller.project
        self.agent_id = self._key = ""
        self._identify(env)

    def _identify(self, env: dict[str, str]) -> None:
        if self.record is not None:
            record = self.record
            self.name, self.project = record["name"], record["project"]
            self.agent_id, self._key = record["agentId"], record["agentKey"]
            asked = {"--server": record["url"], "--project": self.project, "--as": self.name}
            self._caller = Caller(env, asked)
        elif self._holder is None:
            saved = read_object(self._caller.key_file)
            agent_id, key = saved.get("agentId"), saved.get("agentKey")
            if isinstance(agent_id, str) and isinstance(key, str):
                self.agent_id, self._key = agent_id, key

    def _found_holder(self, sessions: Sessions, session_id: str) -> dict[str, Any] | None:
        """A living session that has our name."""
        mine = (self._caller.address.url, self._caller.project, self.wanted.lower())
        for one in sessions.others(session_id):
            if (one["url"].rstrip("/"), one["project"], one["name"].lower()) == mine:
                return one
        return None

    def hub(self) -> Connection | None:
        """A connection as this agent; None while there is no identity to show.

        Raises:
            Failure: there is no token, or the hub that could make one is away.
        """
        if self._hub is None and self.agent_id:
            identity = {"x-kxm-agent-id": self.agent_id, "x-kxm-agent-key": self._key}
            authorization = {"Authorization": f"Bearer {self._caller.token()}"}
            self._hub = Connection(self._caller.address, {**authorization, **identity})
        return self._hub

    def fallen_back(self) -> list[str]:
        """The line for a session that could not have the name it is configured with."""
        if self.record is None and self._holder is None:
            return []
        if self.record is not None and self.name.lower() == self.wanted.lower():
            return []
        instead = (
            f"peers reach this one as {named(self.name)}."
            if self.record is not None
            else f"this one is called {named(self.wanted)}-<number>: kxm_list shows it."
        )
        return [f"The name {named(self.wanted)} belongs to another session that is online; {instead}"]
