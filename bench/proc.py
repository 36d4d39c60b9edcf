"""What the kernel counts about a process and its descendants; Linux only."""

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """`pid` and all that live below it; a process that ends meanwhile is left out."""
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found.extend(int(child) for child in children.read_text().split())
            except OSError:
                continue
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time of the whole tree, with what its ended and awaited children used."""
    return sum(_cpu_ticks(member) for member in tree(pid)) / _TICKS


def _cpu_ticks(pid: int) -> int:
    try:
        # The command name may hold spaces and brackets: fields count from its last bracket.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15])


def resident_bytes(pid: int) -> int:
    """Resident memory of the whole tree; a page that two of them share counts twice."""
    total = 0
    for member in tree(pid):
        try:
            status = Path(f"/proc/{member}/status").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS:"))
    return total


def on_real_disk(folder: Path) -> bool:
    """False for a folder in memory, where an fsync costs nothing and every figure would be a lie."""
    best, kind = "", ""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, point, filesystem = line.split()[:3]
        if (str(folder) + "/").startswith(point.rstrip("/") + "/") and len(point) > len(best):
            best, kind = point, filesystem
    return kind not in {"tmpfs", "ramfs", "devtmpfs"}
