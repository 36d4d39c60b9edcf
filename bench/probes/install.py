"""P13: the wheel and its base dependencies into a fresh environment, from a warm cache, with compiled files."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import ClassVar

from bench.environment import CACHE, REPOSITORY, run, uv
from bench.run import Run
from bench.targets import Reading


class Installation:
    """Time and size of an installation; the first one, untimed, warms the cache and serves P9 and P10."""

    _programs: ClassVar[Path | None] = None
    _wheel: ClassVar[Path]

    @classmethod
    def once(cls, _run: Run) -> Path:
        """The `bin` folder of an installation of this tree, made at the first call of a run."""
        if cls._programs is None:
            built = CACHE / "wheel"
            shutil.rmtree(built, ignore_errors=True)
            if tool := uv():
                run(tool, "build", "-q", "--wheel", "--out-dir", built, REPOSITORY)
            else:
                run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", built, REPOSITORY)
            cls._wheel = next(built.glob("*.whl"))
            cls._programs = install(cls._wheel, CACHE / "installed", offline=False) / "bin"
        return cls._programs

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        self.once(run)

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        with run.folder() as folder:
            began = perf_counter()
            made = install(self._wheel, folder / "environment", offline=True)
            took = perf_counter() - began
            size = sum(path.lstat().st_size for path in made.rglob("*"))
        return {Reading("install", "wheel", "s"): took, Reading("install", "wheel", "mb"): size / 1e6}


def install(wheel: Path, environment: Path, *, offline: bool) -> Path:
    """By uv where it is at hand, else by the environment's own pip (which then counts in the size)."""
    shutil.rmtree(environment, ignore_errors=True)
    python = environment / "bin" / "python"
    if tool := uv():
        run(tool, "venv", "-q", "--python", sys.executable, environment)
        cached = ["--offline"] if offline else []
        run(tool, "pip", "install", "-q", *cached, "--compile-bytecode", "--python", python, wheel)
    else:
        run(sys.executable, "-m", "venv", environment)
        run(python, "-m", "pip", "install", "-q", wheel)
    return environment
