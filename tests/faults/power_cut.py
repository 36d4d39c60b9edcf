"""Power cuts on a loop device: what the page cache had not written is gone, as when the plug is pulled.

A host file system with reflinks (xfs) holds the image of a second one (ext4), on which the store is written. A cut is
an atomic copy of the image; mounting the copy replays its journal, as a reboot would.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HOST_SIZE = "1400M"
DISK_SIZE = "160M"
RELEASED_WITHIN_S = 10.0


def skip_unless_possible() -> None:
    """Skips the test, saying why, where loop mounts or the tools for them are missing."""
    if sys.platform != "linux":
        pytest.skip("power cuts need Linux")
    if os.geteuid() != 0:
        pytest.skip("power cuts need root: they mount loop devices")
    missing = [tool for tool in ("mkfs.xfs", "mkfs.ext4", "mount", "losetup") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"power cuts need {', '.join(missing)}: apt-get install xfsprogs e2fsprogs")
    if not Path("/dev/loop-control").exists():
        pytest.skip("power cuts need loop devices: /dev/loop-control is missing")
    if subprocess.run(["losetup", "--find"], check=False, capture_output=True).returncode != 0:
        pytest.skip("power cuts need a free loop device")


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


@contextmanager
def _mounted(image: Path, at: Path) -> Iterator[Path]:
    at.mkdir(exist_ok=True)
    _run("mount", "-o", "loop", image, at)
    try:
        yield at
    finally:
        _unmount(at)


def _unmount(at: Path) -> None:
    """The kernel lets a loop device's image go a moment after its mount; until then the place below is busy."""
    end = time.monotonic() + RELEASED_WITHIN_S
    while True:
        try:
            _run("umount", at)
        except RuntimeError:
            if time.monotonic() > end:
                _run("umount", "--lazy", at)
                raise
            _run("sync", "--file-system", at)
        else:
            return


@dataclass(slots=True)
class Plug:
    """`disk` is where the system under test writes."""

    folder: Path
    disk: Path
    _image: Path
    _cuts: int = field(default=0, init=False)

    def pull(self) -> Path:
        """Take the copy, in a few milliseconds; what was answered before the call must be in it."""
        self._cuts += 1
        copy = self.folder / f"cut-{self._cuts}.img"
        _run("cp", "--reflink=always", self._image, copy)
        return copy

    @contextmanager
    def rebooted(self, copy: Path) -> Iterator[Path]:
        """The disk as it is after the power has come back."""
        try:
            with _mounted(copy, self.folder.parent / "after") as at:
                yield at
        finally:
            copy.unlink()


@contextmanager
def plug(folder: Path) -> Iterator[Plug]:
    """Both file systems below `folder`; unmounted at the end whatever happened."""
    with ExitStack() as stack:
        host_image = folder / "host.img"
        _run("truncate", "-s", HOST_SIZE, host_image)
        stack.callback(host_image.unlink, missing_ok=True)
        _run("mkfs.xfs", "-q", "-m", "reflink=1", host_image)
        host = stack.enter_context(_mounted(host_image, folder / "host"))
        image = host / "disk.img"
        _run("truncate", "-s", DISK_SIZE, image)
        _run("mkfs.ext4", "-q", "-F", image)
        disk = stack.enter_context(_mounted(image, folder / "disk"))
        yield Plug(folder=host, disk=disk, _image=image)
