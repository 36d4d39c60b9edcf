"""An MCP server in a process of its own, spoken to over stdin and stdout, line by line, as an agent's client does."""

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bench.run import Failed

LINE_BYTES: Final = 1 << 20
ANSWER_WITHIN_S: Final = 60.0
LEAVE_WITHIN_S: Final = 5.0
HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "1"},
}


class Conversation:
    """`pid` is the server's. Notifications are kept until they are asked for.

    Raises:
        Failed: from each call, when the server ended, refused, or said nothing for a minute.
    """

    def __init__(self, process: Process, log: Path) -> None:
        self._process, self._log = process, log
        self._number = 0
        self._unasked: deque[dict[str, Any]] = deque()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one request."""
        self._number += 1
        self._write({"id": self._number, "method": method, "params": params})
        while (line := await self._line()).get("id") != self._number:
            self._unasked.append(line)
        if "result" not in line or line["result"].get("isError"):
            raise Failed(f"{method}: {json.dumps(line)[:400]}")
        result: dict[str, Any] = line["result"]
        return result

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.ask("tools/call", name=tool, arguments=arguments)

    def notify(self, method: str) -> None:
        self._write({"method": method})

    async def told(self, method: str) -> dict[str, Any]:
        """The parameters of the next notification of that method."""
        while True:
            line = self._unasked.popleft() if self._unasked else await self._line()
            if line.get("method") == method:
                params: dict[str, Any] = line["params"]
                return params

    def _write(self, fields: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n")

    async def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise Failed(f"no line from the MCP server within {ANSWER_WITHIN_S:.0f} s") from None
        if not line:
            raise Failed(f"the MCP server ended: {self._log.read_text(errors='replace')[-400:]}")
        said: dict[str, Any] = json.loads(line)
        return said


@asynccontextmanager
async def started(command: Sequence[str | Path], env: Mapping[str, str], folder: Path) -> AsyncIterator[Conversation]:
    """It is left as a client leaves it: its stdin is closed; if it stays, it is killed."""
    log = folder / "mcp.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=errors, env=env, cwd=folder, limit=LINE_BYTES
        )
    try:
        yield Conversation(process, log)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(LEAVE_WITHIN_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
