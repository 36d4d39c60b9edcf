"""C shims loaded before libc: compiled with `cc` when a test asks for one."""

import shutil
import struct
import subprocess
import sys
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
    """Calls on files whose path contains `path` (`…$`: ends so): off until `on`, for every process of `environment`.

    `calls` are of write, fsync, ftruncate, open, unlink; `kind` is EIO, ENOSPC, EROFS, EINTR or SHORT.
    """

    library: Path
    panel: Path
    path: str
    calls: str
    kind: str
    sticky: bool = False

    def __post_init__(self) -> None:
        self.panel.write_bytes(bytes(24))

    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self.library),
            "FAULT_CALLS": self.calls,
            "FAULT_KIND": self.kind,
            "FAULT_PATH": self.path,
            "FAULT_STICKY": "1" if self.sticky else "0",
            "FAULT_PANEL": str(self.panel),
        }

    def _set(self, *values: int) -> None:
        # Written in place, never truncated: the other process has the file mapped.
        with self.panel.open("r+b") as file:
            file.write(struct.pack(f"{len(values)}Q", *values))

    def on(self, nth: int = 1) -> None:
        """From now on the `nth` call fails, when sticky all later ones too; the counts begin anew."""
        self._set(0, 0, 0)
        self._set(nth)

    def off(self) -> None:
        self._set(0)

    @property
    def seen(self) -> int:
        """Calls counted since `on`."""
        return self._counts()[1]

    @property
    def failed(self) -> int:
        return self._counts()[2]

    def _counts(self) -> tuple[int, int, int]:
        nth, seen, failed = struct.unpack("3Q", self.panel.read_bytes())
        return nth, seen, failed
