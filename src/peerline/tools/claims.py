"""The files that this session said it works on: leases that only warn others, kept while it lives, then given back."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from peerline.client.async_hub import AsyncHub
from peerline.core.errors import LeaseHeld, PeerlineError
from peerline.core.fence import visible
from peerline.core.limits import LEASE_TTL_DEFAULT_MS

KEPT_EVERY_S: Final = LEASE_TTL_DEFAULT_MS / 3_000
LEAVING_S: Final = 1.0


class Claims:
    """`name_of` gives a path's name among leases; `say` is told of a claim that another agent has taken over."""

    def __init__(self, name_of: Callable[[str], str], say: Callable[[str], None]) -> None:
        self._name_of, self._say = name_of, say
        self._tokens: dict[str, int] = {}
        self._paths: dict[str, str] = {}

    async def claim(self, hub: AsyncHub, paths: Iterable[str]) -> dict[str, Any]:
        """Claim each one that is free; what another agent holds is refused with its name."""
        claimed, refused = [], []
        for path in dict.fromkeys(paths):
            name = self._name_of(path)
            try:
                lease = await hub.acquire(name, ttl_ms=LEASE_TTL_DEFAULT_MS)
            except LeaseHeld as error:
                refused.append({"path": path, "holder": _holder(error), "until": _until(error)})
            else:
                self._tokens[name], self._paths[name] = lease.fencing_token, path
                claimed.append(path)
        found: dict[str, Any] = {"claimed": claimed, "refused": refused}
        if refused:
            found["next"] = "work on something else, or ask the holder with kxm_send; nothing is locked"
        return found

    async def release(self, hub: AsyncHub, paths: Iterable[str] | None) -> dict[str, Any]:
        """Give these back, or all; what was not claimed, or is another's by now, is no failure."""
        names = list(self._tokens) if paths is None else [self._name_of(path) for path in paths]
        released = []
        for name in dict.fromkeys(names):
            if (token := self._tokens.pop(name, None)) is None:
                continue
            path = self._paths.pop(name)
            try:
                await hub.release(name, token)
            except PeerlineError:
                continue  # it is not ours any more, or runs out by itself
            released.append(path)
        return {"released": released, "claimed": list(self._paths.values())}

    async def keep(self, hub: AsyncHub) -> None:
        """Hold each for another while; one that another agent took meanwhile is given up and told."""
        for name in list(self._tokens):
            try:
                lease = await hub.acquire(name, ttl_ms=LEASE_TTL_DEFAULT_MS)
            except LeaseHeld as error:
                self._tokens.pop(name, None)
                path = self._paths.pop(name, name)
                self._say(f"kxm: the claim on {visible(path, 200)} is {_holder(error)}'s by now")
            else:
                if name in self._tokens:
                    self._tokens[name] = lease.fencing_token
                else:
                    await hub.release(name, lease.fencing_token)  # given back while this went on

    async def leave(self, hub: AsyncHub) -> None:
        """Give all back within a second; what a dying hub does not take back runs out."""
        try:
            async with asyncio.timeout(LEAVING_S):
                await self.release(hub, None)
        except TimeoutError:
            pass

    def __bool__(self) -> bool:
        return bool(self._tokens)


def _held(error: LeaseHeld) -> dict[str, Any]:
    lease = error.extras.get("lease")
    return lease if isinstance(lease, dict) else {}


def _holder(error: LeaseHeld) -> str:
    return visible(str(_held(error).get("holderAgentName", "another agent")), 80)


def _until(error: LeaseHeld) -> str:
    return visible(str(_held(error).get("expiresAt", "")), 40)
