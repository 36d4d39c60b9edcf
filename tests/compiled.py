"""`python -m tests.compiled [pytest's arguments]`: the tests against the compiled wheel instead of the sources.

The wheel goes into an environment of its own in `.cache/compiled`, which borrows the other packages from this one.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

from tests.house.tracked import ROOT

CACHE: Final = ROOT / ".cache" / "compiled"
ASKED: Final = "PEERLINE_TEST_COMPILED"  # tests/test_compiled.py then insists


def main() -> int:
    for old in CACHE.glob("dist/*"):
        old.unlink()
    _run(ROOT / "wheel", CACHE / "dist")
    environment = CACHE / "environment"
    _run(sys.executable, "-m", "venv", "--clear", "--without-pip", environment)
    python = environment / "bin" / "python"
    # A path file of ours, and not their own: theirs would bring the sources along.
    ours = next(environment.glob("lib/*/site-packages"))
    (ours / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (wheel,) = CACHE.glob("dist/*.whl")
    _run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--force-reinstall", wheel)
    command = [str(python), "-m", "pytest", *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {ASKED: "1"}, check=False).returncode


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
