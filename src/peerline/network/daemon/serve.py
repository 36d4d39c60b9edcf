"""The daemon of one agent: its networks' loops, the socket, what is told when mail comes (spec/network.md 6)."""

import asyncio
import functools
import os
import random
import signal
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Final

from peerline.core.errors import PeerlineError
from peerline.core.ids import Entropy, Millis
from peerline.network.config import load_config
from peerline.network.daemon.loop import Looked, NetworkLoop
from peerline.network.daemon.nearby import watch_local_remote
from peerline.network.daemon.server import SocketServer
from peerline.network.direct import DirectCalls
from peerline.network.home import Home
from peerline.network.notify.notice import Arrival, arrival
from peerline.network.notify.notifier import Notifier
from peerline.network.notify.settings import notify_settings
from peerline.network.operations.table import SLOW

SENDING: Final = frozenset(("send", "answer"))
SETTLED_S: Final = 3.0
PUSH_S: Final = 10.0  # how long a send waits for the push before it says "queued"
QUIET: Final = frozenset(("ping", "sessionOpen", "sessionClose", "shutdown"))


class Daemon:
    """Quick operations and looks at the remote run in threads of their own, so that no read waits for the remote."""

    def __init__(
        self,
        home: Home,
        *,
        now: Callable[[], Millis],
        entropy: Entropy,
        environ: Mapping[str, str],
        log: Callable[[str], None],
    ) -> None:
        """Raises: NotConfigured, BrokenConfig."""
        self._home, self._now, self._log = home, now, log
        self._make = functools.partial(
            DirectCalls, home, now=now, entropy=entropy, environ=environ, refreshing=False, pushing=False
        )
        self._quick_calls = self._make()
        self._slow_calls: dict[str, DirectCalls] = {}
        self._quick = ThreadPoolExecutor(1, "quick")
        self._slow: dict[str, ThreadPoolExecutor] = {}
        self._loops: dict[str, NetworkLoop] = {}
        self._sessions: set[str] = set()
        self._notifier = Notifier(home.inbox, now=now, environ=environ)
        self._telling = ThreadPoolExecutor(1, "telling")
        self._told_faults: tuple[str, ...] = ()
        self._ended = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._server = SocketServer(home.socket, self._answer, self._say)

    async def run(self, ready: Callable[[str], None]) -> None:
        """Serve until a signal or `shutdown`.

        Raises:
            Taken: another daemon serves this home.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ended.set)
        await self._server.start()
        self._follow_config()
        self._say(f"daemon ready on {self._home.socket} ({len(self._loops)} network(s))")
        ready(f"komnet daemon ready on {self._home.socket}")
        try:
            await self._ended.wait()
        finally:
            await self._server.stop()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for pool in (self._quick, self._telling, *self._slow.values()):
                pool.shutdown(wait=False, cancel_futures=True)
            self._say("daemon stopped")

    def _follow_config(self) -> None:
        """A loop for each network that the config names now."""
        for network, joined in load_config(self._home).networks.items():
            if network in self._loops:
                continue
            self._slow_calls[network], self._slow[network] = self._make(), ThreadPoolExecutor(1, f"slow-{network}")
            loop = NetworkLoop(
                lambda network=network: self._look(network),  # type: ignore[misc]
                now=self._now,
                chance=random.random,
                sessions=lambda: len(self._sessions),
            )
            self._loops[network] = loop
            self._tasks.append(asyncio.create_task(loop.run()))
            self._tasks.append(asyncio.create_task(watch_local_remote(joined.remote, loop.wake)))

    async def _look(self, network: str) -> Looked:
        try:
            report = await self._slowly(network, "sync", {})
        except PeerlineError as error:
            self._say(f"[{network}] sync failed: {error.code}")
            report = {"changed": [], "drained": [], "deliveredMessages": [], "unreadable": [], "unverified": []}
            failed = True
        else:
            failed = False
        for one in report["unreadable"]:
            self._say(f"[{network}] unreadable: {one['path']}")
        delivered = [one["header"] for one in report["deliveredMessages"]]
        if delivered:
            self._server.tell(network, "delivered", ids=[header["id"] for header in delivered])
            unproven = {one["id"] for one in report["unverified"]}
            self._keep(self._notify(network, [arrival(header, unproven) for header in delivered]))
        if report["drained"]:
            self._server.tell(network, "pushed", rooms=[one["roomId"] for one in report["drained"]])
        status = await self._quickly("status", {}, network)
        active = bool(report["changed"] or report["drained"])
        return Looked(failed=failed or status["health"]["degraded"], active=active, waiting=status["pendingHuman"] > 0)

    async def _notify(self, network: str, arrived: list[Arrival]) -> None:
        """Tell the person at this machine, by the sinks that `config.yaml` names now."""
        try:
            config = load_config(self._home)
        except PeerlineError as error:
            self._say(f"[{network}] nobody was told: {error.code}")
            return
        settings = notify_settings(config.rest.get("notify"))
        near = self._loops[network].agent_near
        tell = functools.partial(self._notifier.tell, arrived, config.agent.id, settings, agent_near=near)
        for line in await asyncio.get_running_loop().run_in_executor(self._telling, tell):
            self._say(f"[{network}] {line}")
        if settings.faults != self._told_faults:
            self._told_faults = settings.faults
            for fault in settings.faults:
                self._say(f"config.yaml: {fault}")

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.append(task)
        task.add_done_callback(self._tasks.remove)

    async def _answer(self, method: str, params: dict[str, Any], network: str | None) -> Any:
        if method == "ping":
            config = load_config(self._home)
            return {
                "pong": True,
                "pid": os.getpid(),
                "agent": config.agent.id,
                "networks": list(config.networks),
                "defaultNetwork": config.default,
            }
        if method == "shutdown":
            self._ended.set()
            return {"stopping": True}
        self._follow_config()
        if method in ("sessionOpen", "sessionClose"):
            return self._session(method, params)
        name = load_config(self._home).network(network).id
        loop = self._loops[name]
        loop.asked()
        if method == "sync":
            await loop.looked()
            return await self._slowly(name, "lastReport", {})
        if method in SENDING:
            return await self._sent(method, params, name, loop)
        if method in SLOW:
            return await self._slowly(name, method, params)
        result = await self._quickly(method, params, name)
        return {**result, **self._about(loop)} if method == "status" else result

    async def _sent(self, method: str, params: dict[str, Any], network: str, loop: NetworkLoop) -> Any:
        """Durable first; then the push, for as long as a caller may be kept waiting."""
        result = await self._quickly(method, params, network)
        try:
            async with asyncio.timeout(PUSH_S):
                await loop.looked()
        except TimeoutError:
            pass
        return await self._quickly("delivery", {"result": result}, network)

    def _session(self, method: str, params: dict[str, Any]) -> Any:
        session = str(params.get("session") or "")[:64]
        if method == "sessionOpen":
            session = session or os.urandom(8).hex()
            self._sessions.add(session)
            for network, loop in self._loops.items():
                loop.wake()
                self._tasks.append(asyncio.create_task(self._announce(network, session)))
        else:
            self._sessions.discard(session)
        return {"session": session, "sessions": len(self._sessions)}

    async def _announce(self, network: str, session: str) -> None:
        """Stamp the card for a session that stays: one that only looks in writes nothing."""
        await asyncio.sleep(SETTLED_S)
        if session in self._sessions:
            try:
                await self._slowly(network, "announce", {"status": "live", "session": session})
            except PeerlineError as error:
                self._say(f"[{network}] presence was not published: {error.code}")

    def _about(self, loop: NetworkLoop) -> dict[str, Any]:
        return {
            "mode": "daemon",
            "daemon": {
                "pid": os.getpid(),
                "socket": str(self._home.socket),
                "sessionLive": bool(self._sessions),
                "sessions": len(self._sessions),
                "cadence": loop.cadence,
                "loopRunning": True,
                "lastLoopSyncAt": loop.looked_at,  # in milliseconds since 1970, as the reference gives it
            },
        }

    async def _quickly(self, method: str, params: dict[str, Any], network: str | None) -> Any:
        return await asyncio.get_running_loop().run_in_executor(
            self._quick, self._quick_calls.call, method, params, network
        )

    async def _slowly(self, network: str, method: str, params: dict[str, Any]) -> Any:
        calls = self._slow_calls[network]
        return await asyncio.get_running_loop().run_in_executor(
            self._slow[network], calls.call, method, params, network
        )

    def _say(self, text: str) -> None:
        self._log(
            f"{datetime.fromtimestamp(self._now() / 1000, UTC).isoformat(timespec='milliseconds')} {text}".replace(
                "+00:00", "Z"
            )
        )
