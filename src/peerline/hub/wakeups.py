"""Who listens: the open feeds of each agent, and those who wait for one message to become final."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from peerline.core.agent import Agent
from peerline.core.ids import AgentId, MessageId
from peerline.core.message import Message
from peerline.store.api import Hint

if TYPE_CHECKING:
    from peerline.hub.overview import OpsFeed

Waiting = Callable[[Message | None], None]


class Listener(Protocol):
    """A stream of an agent, or a WebSocket that says what `kxm watch` says."""

    @property
    def agent(self) -> Agent: ...

    @property
    def token_digest(self) -> bytes | None:
        """Of the token that opened it, which may be revoked."""

    @property
    def full(self) -> bool:
        """Its reader takes nothing at the moment."""

    def hint(self, hint: Hint) -> None:
        """There is something new to look at."""

    def presence(self, data: bytes) -> None:
        """Another agent came or went."""

    def end(self) -> None:
        """What opened it is no longer valid."""


class Wakeups:
    """Lives on the event loop's thread. A hint is only ever "look again": whoever misses one finds the store right."""

    def __init__(self) -> None:
        self._feeds: dict[AgentId, list[Listener]] = {}
        self._waiting: dict[MessageId, list[Waiting]] = {}
        self._by_project: dict[str, int] = defaultdict(int)
        self.streams = 0
        self.watchers: set[OpsFeed] = set()

    def fire(self, hints: list[Hint]) -> None:
        if self.watchers:
            self.changed(hints[0].message.project, "messages")
        for hint in hints:
            for feed in self._feeds.get(hint.agent, ()):
                feed.hint(hint)
            if hint.message.status not in ("queued", "delivered") and hint.message.id in self._waiting:
                for waiting in self._waiting.pop(hint.message.id):
                    waiting(hint.message)

    def changed(self, project: str, topic: str) -> None:
        """Tell the operators who watch `project`."""
        for watcher in self.watchers:
            if watcher.project == project:
                watcher.changed(topic)

    def add(self, feed: Listener) -> None:
        self._feeds.setdefault(feed.agent.id, []).append(feed)
        self._by_project[feed.agent.project] += 1
        self.streams += 1

    def discard(self, feed: Listener) -> None:
        feeds = self._feeds.get(feed.agent.id, [])
        if feed in feeds:
            feeds.remove(feed)
            self.streams -= 1
            self._by_project[feed.agent.project] -= 1
            if not feeds:
                del self._feeds[feed.agent.id]

    def feeds(self, agent: AgentId) -> list[Listener]:
        return list(self._feeds.get(agent, ()))

    def all(self) -> Iterator[Listener]:
        for feeds in list(self._feeds.values()):
            yield from list(feeds)

    def in_project(self, project: str) -> int:
        """How many streams are open in `project`."""
        return self._by_project.get(project, 0)

    def wait(self, message_id: MessageId, waiting: Waiting) -> Callable[[], None]:
        """Call `waiting` once the message is final; returns how to give up."""
        self._waiting.setdefault(message_id, []).append(waiting)

        def leave() -> None:
            left = self._waiting.get(message_id)
            if left is not None and waiting in left:
                left.remove(waiting)
                if not left:
                    del self._waiting[message_id]

        return leave

    def release(self) -> None:
        """The hub is stopping: every wait ends now, answered as its message stands."""
        waiting, self._waiting = self._waiting, {}
        for each in [each for group in waiting.values() for each in group]:
            each(None)

    @property
    def waits(self) -> int:
        return sum(map(len, self._waiting.values()))
