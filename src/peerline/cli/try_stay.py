"""The demo's peer that stays online: takes what is pushed to it, says so in a note, and replies.

`python -m peerline.cli.try_stay`, with the agent's variables set. It prints one JSON line for each thing that it
does, and ends when its standard input does, so that it cannot outlive the demo.
"""

import asyncio
import json
import os
import sys

from peerline.cli.hot_identity import Caller
from peerline.client.async_hub import AsyncHub
from peerline.core.errors import PeerlineError


async def _stay() -> None:
    caller = Caller(dict(os.environ), {})
    hub = AsyncHub(
        caller.address.url,
        project=caller.project,
        name=caller.name,
        token=caller.token(),
        purpose=caller.purpose,
        unregister=False,
    )
    async with hub:
        _tell(did="online")
        async for event in hub.events(on_gap=lambda why: _tell(did="lost", why=str(why))):
            if event.type != "message" or event.message is None:
                continue
            request = event.message
            try:
                if not (await hub.acknowledge(request.id)).first:
                    continue  # another session of ours has the work
                _tell(did="took", id=request.id, sender=request.sender_name)
                words = len(request.content.split())
                await hub.note(request.id, f"reading {words} words")
                await hub.reply(request.id, f"I have read your {words} words. No objection.")
                _tell(did="replied", id=request.id)
            except PeerlineError as refused:
                _tell(did="refused", id=request.id, why=str(refused))


def _tell(**what: str) -> None:
    print(json.dumps(what), flush=True)


async def _until_input_ends() -> None:
    work = asyncio.ensure_future(_stay())
    end = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    await asyncio.wait([work, end], return_when=asyncio.FIRST_COMPLETED)
    if work.done():
        work.result()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


if __name__ == "__main__":
    try:
        asyncio.run(_until_input_ends())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
