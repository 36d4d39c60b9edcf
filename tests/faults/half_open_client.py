"""Our own client library on a stream, for the half-open test: says on stdout what it hears and when it loses the hub.

Arguments: the hub's URL, the agent's name, its project's token.
"""

import asyncio
import sys

from peerline.client.async_hub import AsyncHub


def say(text: str) -> None:
    print(text, flush=True)


async def main() -> None:
    url, name, token = sys.argv[1:]
    async with AsyncHub(url, project="faults", name=name, token=token) as hub:
        say("here")
        async for event in hub.events(on_gap=lambda error: say(f"gap {error}")):
            if event.type == "message" and event.message is not None:
                say(f"message {event.message.id}")


if __name__ == "__main__":
    asyncio.run(main())
