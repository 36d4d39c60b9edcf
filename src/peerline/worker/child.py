"""One running harness: its process in a group of its own, its lines read as they come."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from peerline.worker.frames import Frames

CHUNK: Final = 65_536


class Child:
    """`stop` closes its input, which is how a harness is asked to end; what outlives that is killed with its group."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.frames = Frames()

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, env: Mapping[str, str], folder: Path, errors: Path, inherited: int
    ) -> Self:
        """Raises OSError: the program could not be started."""
        errors.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=env,
                cwd=folder,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=fd,
                start_new_session=True,
                pass_fds=(inherited,) if inherited >= 0 else (),
            )
        finally:
            os.close(fd)
        return cls(process)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def read(self) -> AsyncIterator[dict[str, Any]]:
        """What it writes, until it closes its output."""
        assert self._process.stdout is not None
        while chunk := await self._process.stdout.read(CHUNK):
            for frame in self.frames.feed(chunk):
                yield frame

    def write(self, frame: Mapping[str, Any]) -> None:
        """Put a frame on its way; what a dead process did not read shows as its end."""
        assert self._process.stdin is not None
        if not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(frame, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    async def ended(self) -> int:
        """Its exit code, once it has ended."""
        return await self._process.wait()

    async def stop(self, within_s: float) -> bool:
        """Ask it to end, and end it when it does not; True if it went by itself. Its group goes with it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(within_s):
                await self._process.wait()
            orderly = True
        except TimeoutError:
            orderly = False
        await self.kill()
        return orderly

    async def kill(self) -> None:
        """End the whole group at once; its end is waited for."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        await self._process.wait()
