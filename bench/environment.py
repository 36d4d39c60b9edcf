"""What the bench needs on this machine and brings itself: client libraries, server packages, the slow-disk shim."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
CACHE: Final = REPOSITORY / ".cache" / "bench"
REQUIREMENTS: Final = Path(__file__).with_name("requirements.txt")
POLICY: Final = Path("/usr/sbin/policy-rc.d")


class Missing(Exception):
    """Something is not here and cannot be brought; the text says how a person gets it."""


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None, within_s: float = 600) -> str:
    """Run to the end; raises Missing with the last lines of its output when it fails."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=within_s,
            check=False,
        )
    except FileNotFoundError as error:
        raise Missing(f"{command[0]}: not found") from error
    if done.returncode:
        raise Missing(f"{command[0]}: exit {done.returncode}: {done.stdout.strip()[-400:]}")
    return done.stdout


def uv() -> str | None:
    """The one beside this interpreter, else the user's."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")


def interpreter() -> str:
    """The Python that runs hub, naive hub, A2A and load alike: the distribution's where it is new enough.

    The targets are stated for it. A Python that was built without profile-guided optimisation, as version managers
    build it, takes up to twice the time and would measure its own build.
    """
    if chosen := os.environ.get("BENCH_PYTHON"):
        return chosen
    program = "import sys, venv; sys.exit(sys.version_info < (3, 11))"
    for candidate in ("/usr/bin/python3", sys.executable):
        if subprocess.run([candidate, "-c", program], capture_output=True, check=False).returncode == 0:
            return candidate
    return sys.executable


def version() -> str:
    """Of that interpreter."""
    return run(interpreter(), "-c", "import platform; print(platform.python_version())").strip()


def environment(folder: Path) -> Path:
    """Make an empty one; its interpreter."""
    shutil.rmtree(folder, ignore_errors=True)
    if tool := uv():
        run(tool, "venv", "-q", "--python", interpreter(), folder)
    else:
        run(interpreter(), "-m", "venv", "--without-pip", folder)
    return folder / "bin" / "python"


def pip(python: Path) -> tuple[str | Path, ...]:
    """`pip install` into that interpreter's environment, which has no pip of its own to be counted in its size."""
    return (sys.executable, "-m", "pip", "--python", python, "install")


def clients() -> Path:
    """The `bin` folder of the environment with the client libraries; made anew when what it comes from has changed."""
    folder = CACHE / "clients"
    stamp, wanted = folder / "made-from", f"{interpreter()}\n{REQUIREMENTS.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted:
        return folder / "bin"
    print("bench: installing client libraries into .cache/bench", file=sys.stderr)
    python = environment(folder)
    if tool := uv():
        run(tool, "pip", "install", "-q", "--no-deps", "--compile-bytecode", "--python", python, "-r", REQUIREMENTS)
    else:
        run(*pip(python), "-q", "--no-deps", "-r", REQUIREMENTS)
    stamp.write_text(wanted)
    return folder / "bin"


def install(packages: Sequence[str]) -> None:
    """Install Debian packages without letting them start their services.

    Raises:
        Missing: not root, no apt, or apt failed.
    """
    line = f"missing, apt-get install {' '.join(packages)}"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Missing(line)
    print(f"bench: installing {' '.join(packages)}", file=sys.stderr)
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    command = ("apt-get", "install", "-y", "-q", "--no-install-recommends", *packages)
    with _services_stay_down():
        try:
            run(*command, env=quiet)
        except Missing:
            try:
                run("apt-get", "update", "-q", env=quiet)
                run(*command, env=quiet)
            except Missing as error:
                raise Missing(f"{line} ({error})") from None


@contextmanager
def _services_stay_down() -> Iterator[None]:
    if POLICY.exists():  # the machine has its own rule
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)


def slow_disk(delay_us: int) -> dict[str, str]:
    """The variables under which every sync of a process takes `delay_us` longer; tried out before it is believed.

    Raises:
        Missing: no C compiler, or the shim does not take hold here.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        install(["gcc", "libc6-dev"])
        compiler = "gcc"
    library = CACHE / "fsync_delay.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).with_name("fsync_delay.c")
    run(compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl")
    shim = {"LD_PRELOAD": str(library), "FSYNC_DELAY_US": str(delay_us)}
    program = "import os, time; a = time.perf_counter(); os.fdatasync(1); print(time.perf_counter() - a)"
    probe = CACHE / "fsync_probe"
    with probe.open("wb") as out:
        subprocess.run([sys.executable, "-c", program], stdout=out, env={**os.environ, **shim}, check=True, timeout=30)
    took = float(probe.read_text())
    probe.unlink()
    if took < delay_us / 1e6:
        raise Missing(f"the slow-disk shim has no effect: an fdatasync took {took * 1000:.2f} ms")
    return shim
