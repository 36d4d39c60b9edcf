"""`python -m tests.compiled [pytest's arguments]`: the tests against the compiled wheel instead of the sources.

The wheel goes into an environment of its own in `.cache/compiled`, which borrows the other packages from this one.
"""

import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any, Final

from tests.house.tracked import ROOT

CACHE: Final = ROOT / ".cache" / "compiled"
# What of the modules in its arguments the interpreter takes from a source.
PLAIN: Final = """
import importlib, sys
print(*(name for name in sys.argv[1:] if not importlib.import_module(name).__file__.endswith(".so")))
"""


def wanted() -> list[Path]:
    """The modules that `pyproject.toml` has compiled, below `src`."""
    read: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    hooks = read["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]
    return [Path(path).relative_to("src") for path in hooks["mypyc"]["include"]]


def main() -> int:
    python = installed()
    names = [".".join(path.with_suffix("").parts) for path in wanted()]
    plain = subprocess.run([python, "-c", PLAIN, *names], check=True, capture_output=True, text=True).stdout.strip()
    if plain:
        print(f"not compiled, so there is nothing to test: {plain}", file=sys.stderr)
        return 1
    return subprocess.run([python, "-m", "pytest", *sys.argv[1:]], cwd=ROOT, check=False).returncode


def installed() -> Path:
    """The interpreter of an environment that has the wheel of this tree."""
    _run(ROOT / "wheel", CACHE / "dist")
    environment = CACHE / "environment"
    _run(sys.executable, "-m", "venv", "--clear", "--without-pip", environment)
    python = environment / "bin" / "python"
    # A path file of ours, and not their own: theirs would bring the sources along.
    ours = next(environment.glob("lib/*/site-packages"))
    (ours / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (wheel,) = CACHE.glob("dist/*.whl")
    _run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--force-reinstall", wheel)
    return python


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
