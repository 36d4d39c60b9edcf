"""The recorded data of the public komnet, where it lies beside the repository; tests that need it skip elsewhere."""

import os
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]


def golden_folder() -> Path | None:
    """KXM_GOLDEN, else `../shared/golden/komnet` beside the repository or beside the one this work tree belongs to."""
    named = os.environ.get("KXM_GOLDEN")
    homes = [ROOT]
    link = ROOT / ".git"
    if link.is_file():
        homes.append(Path(link.read_text().partition("gitdir: ")[2].strip()).parents[2])
    places = [Path(named)] if named else [home.parent / "shared" / "golden" / "komnet" for home in homes]
    return next((place for place in places if place.is_dir()), None)


needs_golden: Final = pytest.mark.skipif(golden_folder() is None, reason="the recorded data is not here (KXM_GOLDEN)")


def golden_file(name: str) -> Path:
    folder = golden_folder()
    assert folder is not None
    return folder / name


_keep: list["TemporaryDirectory[str]"] = []


@cache
def golden_repositories() -> dict[str, Path]:
    """The recorded bare repositories, unpacked once a process; read them only."""
    _keep.append(TemporaryDirectory(prefix="golden-"))
    with tarfile.open(golden_file("repos.tar.gz")) as archive:
        archive.extractall(_keep[-1].name, filter="data")
    return {path.name.removesuffix(".git"): path for path in Path(_keep[-1].name).glob("repos/*.git")}


def added_files(repository: Path, reference: str) -> list[tuple[str, bytes]]:
    """Every file that any commit of `reference` added, oldest first, with what it held then."""

    def git(*words: str) -> bytes:
        done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=True)
        return done.stdout

    log = git("log", "--reverse", "--diff-filter=A", "--raw", "--no-abbrev", "--no-renames", "--format=", reference)
    rows = [line.split("\t") for line in log.decode().splitlines() if line.startswith(":")]
    return [(path, git("cat-file", "blob", meta.split()[3])) for meta, path in rows]
