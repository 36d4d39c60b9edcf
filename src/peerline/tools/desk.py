"""What each tool does, whichever way the agent is connected. The table in `wire.tools` says how it is called."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from peerline.client.async_hub import AsyncHub
from peerline.client.records import Message, Trail
from peerline.client.refusals import TimedOut
from peerline.client.surroundings import Surroundings
from peerline.core.errors import Conflict, Invalid, NotFound, PeerlineError
from peerline.core.fence import visible
from peerline.core.limits import AWAIT_MAX_MS, FANOUT_WAIT_MAX_MS
from peerline.tools import results
from peerline.tools.arguments import checked
from peerline.tools.chain import Chains
from peerline.tools.claims import Claims
from peerline.tools.fanout import fanned_out
from peerline.tools.inbox import Inbox, Outcomes
from peerline.tools.reports import Reports
from peerline.tools.results import Result
from peerline.tools.waits import UNWATCHED_S, Progress, showing
from peerline.wire.tools import Tool

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the tools of one session work with.

    `hub` gives the hub once the session is registered, or raises why not; `told` words a refusal for the model.
    `waker` offers a way to be woken, where the session has none.
    `denial` says why a tool may not be called so, if a token limits this session.
    `takes_as` is the adapter under which reading the inbox acknowledges; None where events tell what arrives and ends.
    `patient` says that a client which is shown progress waits as long as was asked.
    """

    hub: Callable[[], Awaitable[AsyncHub]]
    told: Callable[[PeerlineError], str]
    denial: Callable[[str, object], str | None] = lambda tool, arguments: None
    waker: Callable[[AsyncHub], Awaitable[dict[str, str] | None]] | None = None
    takes_as: str | None = None
    patient: bool = True
    inbox: Inbox
    outcomes: Outcomes
    reports: Reports
    claims: Claims
    chains: Chains = field(default_factory=Chains)
    world: Surroundings

    async def call(self, tool: Tool, given: object, progress: Progress | None) -> Result:
        """The tool's result; a refusal is a result too, since the model is to read it."""
        if (why := self.denial(tool.name, given)) is not None:
            return results.error(why)
        if tool.later:
            return results.error(
                f"not_built_yet: {tool.name} comes with {tool.later} in a later release; go on without"
            )
        try:
            return await ACTS[tool.name](self, checked(tool, given), progress)
        except PeerlineError as error:
            return results.error(self.told(error))

    async def furthest(self, hub: AsyncHub) -> Message | None:
        """The open request that what is sent now may be sent because of."""
        if self.takes_as is not None:
            self.inbox.renew(self.inbox.known(), await hub.inbox(peek=True))
        return self.inbox.furthest()

    def longest_s(self, asked_s: float, progress: Progress | None) -> float:
        """How long a call may take."""
        return asked_s if self.patient and progress is not None else min(asked_s, UNWATCHED_S)


async def _list(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    hub = await desk.hub()
    offline, remote = given.get("includeOffline", False), given.get("includeRemote", False)
    found = await hub.agents(include_offline=offline, include_remote=remote)
    return results.of_agents(found, hub.agent.id)


async def _send(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    _no_context(given)
    hub = await desk.hub()
    key = given.get("idempotencyKey") or f"mcp:{desk.world.entropy(16).hex()}"
    chain = desk.chains.of(key, await desk.furthest(hub), hub.agent.id)
    message = await hub.send(
        given["target"],
        given["content"],
        delivery=given.get("delivery", "followUp"),
        idempotency_key=key,
        correlation_id=given.get("correlationId"),
        ttl_ms=given.get("ttlMs"),
        allow_offline=given.get("allowOffline", False),
        needs=given.get("needs"),
        hops=chain.hops,
        max_hops=chain.max_hops,
        path=chain.path,
    )
    receipt: dict[str, Any] = {
        "messageId": message.id,
        "status": message.status,
        "target": visible(message.recipient_name, 80),
    }
    receipt |= {"remote": message.remote} if message.remote else {}
    return results.of(receipt | ({"held": visible(message.held, 300)} if message.held else {}))


async def _get(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    hub = await desk.hub()
    message = await hub.get(given["messageId"])
    if message.final:
        desk.outcomes.read(message.id)
    mine = message.sender == hub.agent.id and message.status != "replied"
    trail = await _trail(hub, message.id) if mine else None
    return results.of_message(message, hub.agent.id, desk.world.entropy, trail)


async def _trail(hub: AsyncHub, message_id: str) -> Trail | None:
    """None from a hub that has none; what was asked for is told all the same."""
    try:
        return await hub.trail(message_id)
    except PeerlineError:
        return None


async def _fanout(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    _no_context(given)
    hub = await desk.hub()
    prefix = given.get("idempotencyKeyPrefix")
    chain = desk.chains.of(prefix and f"fanout:{prefix}", await desk.furthest(hub), hub.agent.id)
    timeout_s = given.get("timeoutMs", FANOUT_WAIT_MAX_MS) / 1000
    asking = fanned_out(
        hub,
        desk.outcomes,
        given["targets"],
        given["content"],
        key_prefix=prefix,
        correlation_id=given.get("correlationId"),
        ttl_ms=given.get("ttlMs"),
        needs=given.get("needs"),
        timeout_s=desk.longest_s(timeout_s, progress),
        chain=chain,
    )
    return results.of_responses(await showing(asking, "waiting for replies", progress), desk.world.entropy)


async def _await(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    hub = await desk.hub()
    message_id = given["messageId"]
    asked_s = min(given.get("timeoutMs", AWAIT_MAX_MS), AWAIT_MAX_MS) / 1000
    timeout_s = desk.longest_s(asked_s, progress)
    with desk.outcomes.waiting(message_id):
        try:
            message = await showing(hub.wait(message_id, timeout_s), f"waiting for {message_id}", progress)
        except TimedOut:
            if timeout_s == asked_s:
                raise
            told = {"messageId": message_id, "waiting": True, "next": "still waiting; go on working, or call it again"}
            trail = await _trail(hub, message_id)
            return results.of(told if trail is None else told | {"standing": visible(trail.standing, 300)})
        desk.outcomes.read(message_id)
    return results.of_message(message, hub.agent.id, desk.world.entropy)


async def _cancel(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    hub = await desk.hub()
    message = await hub.cancel(given["messageId"])
    return results.of_message(message, hub.agent.id, desk.world.entropy)


async def _inbox(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    hub = await desk.hub()
    known = desk.inbox.known()
    found = await hub.inbox()
    if desk.takes_as is not None:
        found = tuple([await _taken(hub, message, desk.takes_as) for message in found])
    requests = desk.inbox.renew(known, found)
    try:
        unread = await hub.sent(state="unread", limit=20)
    except Invalid:
        unread = ()  # a hub that does not know the question
    desk.reports.read(requests)
    wake = await desk.waker(hub) if desk.waker is not None else None
    return results.of_inbox(requests, unread, hub.agent.id, desk.world.entropy, wake)


async def _taken(hub: AsyncHub, message: Message, adapter: str) -> Message:
    """The request, acknowledged; one that ended meanwhile is shown as it was listed."""
    if message.status != "queued":
        return message
    try:
        return (await hub.acknowledge(message.id, adapter=adapter)).of(message)
    except (Conflict, NotFound):
        return message


async def _reply(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    hub = await desk.hub()
    try:
        message = await hub.reply(given["messageId"], given["content"])
    except (Conflict, NotFound):
        desk.inbox.drop(given["messageId"])
        raise
    desk.inbox.drop(message.id)
    return results.of(
        {"messageId": message.id, "status": message.status, "recipient": visible(message.sender_name, 80)}
    )


async def _claim(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    return results.of(await desk.claims.claim(await desk.hub(), _paths(given)))


async def _release(desk: Desk, given: Arguments, progress: Progress | None) -> Result:
    paths = _paths(given) if "paths" in given else None
    return results.of(await desk.claims.release(await desk.hub(), paths))


def _paths(given: Arguments) -> list[str]:
    paths: list[str] = given["paths"]
    if any(not path.strip() or "\0" in path for path in paths):
        raise Invalid("paths must be paths of files")
    return paths


def _no_context(given: Arguments) -> None:
    if "workflowContext" in given:
        raise Invalid("not_built_yet: workflowContext comes with workflows in a later release; send without it")


ACTS: Final[Mapping[str, Callable[[Desk, Arguments, Progress | None], Awaitable[Result]]]] = {
    "kxm_list": _list,
    "kxm_send": _send,
    "kxm_get": _get,
    "kxm_fanout": _fanout,
    "kxm_await": _await,
    "kxm_cancel": _cancel,
    "kxm_inbox": _inbox,
    "kxm_reply": _reply,
    "kxm_claim": _claim,
    "kxm_release": _release,
}
