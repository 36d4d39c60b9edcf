"""What a client takes from the world: time, chance, a way to connect. Tests and simulations bring their own."""

import asyncio
import os
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from peerline.client.connection import Dial, dial


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    entropy: Callable[[int], bytes] = os.urandom
    dial: Dial = dial
