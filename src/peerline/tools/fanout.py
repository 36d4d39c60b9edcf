"""A fan-out as this session sends it: one hop past the request it works on, its replies not announced once more."""

import asyncio

from peerline.client import fanout as scatter
from peerline.client.async_hub import AsyncHub
from peerline.client.refusals import TimedOut
from peerline.core.errors import PeerlineError
from peerline.tools.chain import Chain
from peerline.tools.inbox import Outcomes


async def fanned_out(
    hub: AsyncHub,
    outcomes: Outcomes,
    targets: list[str],
    content: str,
    *,
    key_prefix: str | None,
    correlation_id: str | None,
    ttl_ms: int | None,
    needs: str | None,
    chain: Chain,
    timeout_s: float,
) -> list[scatter.Response]:
    """What each target answered within the time; one failure fails no other.

    Raises:
        Invalid: not one to three different targets.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s

    async def one(target: str) -> scatter.Response:
        key = scatter.key(key_prefix, target, correlation_id) if key_prefix else None
        try:
            message = await hub.send(
                target,
                content,
                idempotency_key=key,
                correlation_id=correlation_id,
                ttl_ms=ttl_ms,
                needs=needs,
                hops=chain.hops,
                max_hops=chain.max_hops,
                path=chain.path,
            )
        except PeerlineError as error:
            return scatter.failed(target, error)
        with outcomes.waiting(message.id):
            wait_status: scatter.WaitStatus = "timed_out"
            try:
                message = await hub.wait(message.id, max(0.0, deadline - loop.time()))
            except TimedOut:
                pass
            except PeerlineError:
                wait_status = "aborted"
            if not message.final:
                try:
                    message = await hub.get(message.id)
                except PeerlineError:
                    pass
            if not message.final:
                return scatter.pending(target, message, wait_status)
            outcomes.read(message.id)
            return scatter.answered(target, message)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(target)) for target in scatter.targets(targets)]
    return [task.result() for task in tasks]
