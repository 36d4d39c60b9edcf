"""P13: the wheel and its base dependencies into a fresh environment, from a warm cache, with compiled files."""

import platform
import shutil
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

from bench.environment import CACHE, REPOSITORY, environment, pip, run, uv, version
from bench.run import Run
from bench.targets import Reading

WHEEL: Final = CACHE / "wheel"


class Installation:
    """Time and size of one more installation, now that the first has warmed the cache."""

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        pass

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        with run.folder() as folder:
            began = perf_counter()
            made = install(next(WHEEL.glob("*.whl")), folder / "environment", offline=True)
            took = perf_counter() - began
            size = sum(path.lstat().st_size for path in made.rglob("*"))
        return {Reading("install", "wheel", "s"): took, Reading("install", "wheel", "mb"): size / 1e6}


def installed() -> Path:
    """Build this tree's wheel, compiled where that can be done, and install it; the `bin` folder. All hubs and commands
    of a run come from there."""
    shutil.rmtree(WHEEL, ignore_errors=True)
    same = version().split(".")[:2] == list(platform.python_version_tuple()[:2])  # else it would not install
    run(REPOSITORY / "wheel", *([] if same else ["--plain"]), WHEEL)
    return install(next(WHEEL.glob("*.whl")), CACHE / "installed", offline=False) / "bin"


def form() -> str:
    """How the wheel of this run was built."""
    return "plain Python" if next(WHEEL.glob("*.whl")).stem.endswith("-none-any") else "compiled"


def install(wheel: Path, folder: Path, *, offline: bool) -> Path:
    """By uv where it is at hand, else by our pip."""
    python = environment(folder)
    if tool := uv():
        cached = ["--offline"] if offline else []
        run(tool, "pip", "install", "-q", *cached, "--compile-bytecode", "--python", python, wheel)
    else:
        run(*pip(python), "-q", wheel)
    return folder
