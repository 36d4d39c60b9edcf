"""Sends that were refused lately: of them there is no message, and so no trail, that could tell why."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from peerline.core.agent import Agent
from peerline.core.errors import PeerlineError, TargetNotFound
from peerline.core.ids import AgentId, Millis
from peerline.core.limits import REFUSAL_KEPT_MS, REFUSALS, TARGET_WITH_ROOM
from peerline.core.next_step import AWAY, NO_GATEWAY, next_step
from peerline.hub.agents import Agents

SENDERS: Final = 1_000


class RefusedSend(NamedTuple):
    """`target` is what the sender typed; `times` in a row, the last one `at`."""

    at: Millis
    target: str
    code: str
    why: str
    next: str
    times: int = 1


class Refused:
    """In memory, the last ones of each sender for an hour: a refusal was answered, so nothing is lost with them."""

    def __init__(self, agents: Agents, now: Callable[[], Millis]) -> None:
        self._agents, self._now = agents, now
        self._by_sender: OrderedDict[AgentId, OrderedDict[tuple[str, str], RefusedSend]] = OrderedDict()

    def note(self, sender: Agent, target: object, refused: PeerlineError) -> None:
        typed = target[:TARGET_WITH_ROOM] if isinstance(target, str) else ""
        sends = self._by_sender.setdefault(sender.id, OrderedDict())
        self._by_sender.move_to_end(sender.id)
        before = sends.pop((typed, refused.code), None)
        why, step = self._told(sender, typed, refused)
        times = 1 if before is None else before.times + 1
        sends[typed, refused.code] = RefusedSend(self._now(), typed, refused.code, why, step, times)
        if len(sends) > REFUSALS:
            sends.popitem(last=False)
        if len(self._by_sender) > SENDERS:
            self._by_sender.popitem(last=False)

    def of(self, sender: Agent) -> list[RefusedSend]:
        """Newest first."""
        since = self._now() - REFUSAL_KEPT_MS
        return [one for one in reversed(self._by_sender.get(sender.id, {}).values()) if one.at > since]

    def _told(self, sender: Agent, target: str, refused: PeerlineError) -> tuple[str, str]:
        if not isinstance(refused, TargetNotFound):
            return refused.text, next_step(refused)
        if "@" in target:
            return f"{target} is in a room, and no gateway of project {sender.project} is at work", NO_GATEWAY
        if self._agents.known(sender.project, target):
            return f"{target} is offline in project {sender.project}", AWAY
        return f"nobody named {target} has been in project {sender.project}", next_step(refused)
