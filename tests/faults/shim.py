"""C shims loaded before libc: compiled with `cc` when a test asks for one."""

import mmap
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "shims"


def compiled(name: str, folder: Path) -> Path:
    """The shared object of `shims/<name>.c`, built into `folder`; skips the test where that cannot be."""
    if sys.platform != "linux":
        pytest.skip("LD_PRELOAD shims need Linux")
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    library = folder / f"{name}.so"
    if not library.exists():
        command = [cc, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(SOURCES / f"{name}.c")]
        subprocess.run([*command, "-ldl"], check=True)
    return library


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingCalls:
    """Calls of one kind on files below `path` that fail while switched on.

    `calls` are of write, fsync, ftruncate, open, unlink; `kind` is EIO, ENOSPC, EROFS, EINTR or SHORT.
    """

    library: Path
    folder: Path
    path: str
    calls: str
    kind: str
    nth: int = 1
    sticky: bool = False

    @property
    def _switch(self) -> Path:
        return self.folder / "fault-switch"

    @property
    def _counter(self) -> Path:
        return self.folder / "fault-counter"

    def environment(self) -> Mapping[str, str]:
        self._counter.write_bytes(bytes(16))
        return {
            "LD_PRELOAD": str(self.library),
            "FAULT_CALLS": self.calls,
            "FAULT_KIND": self.kind,
            "FAULT_PATH": self.path,
            "FAULT_SWITCH": str(self._switch),
            "FAULT_NTH": str(self.nth),
            "FAULT_STICKY": "1" if self.sticky else "0",
            "FAULT_COUNTER": str(self._counter),
        }

    def on(self) -> None:
        self._switch.touch()

    def off(self) -> None:
        self._switch.unlink(missing_ok=True)

    def counted(self) -> tuple[int, int]:
        """Calls seen while on, and how many of them failed."""
        with self._counter.open("rb") as file, mmap.mmap(file.fileno(), 16, access=mmap.ACCESS_READ) as shared:
            seen, failed = struct.unpack("QQ", shared[:16])
        return seen, failed
