"""What is installed is pinned by version and hash, and says nothing of where it came from."""

import ast
import itertools
import re
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.tracked import ROOT, tracked

PIN = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+?)(?: ; .+?)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")
FILES = ("constraints.txt", "constraints-dev.txt")


def _pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text().splitlines()
    found = [match for line in lines if (match := PIN.match(line))]
    return {canonicalize_name(match[1]): match[2] for match in found}


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def _needed(*groups: str) -> list[Requirement]:
    project = _project()
    lines = [
        *project["project"]["dependencies"],
        *(one for group in groups for one in project["dependency-groups"][group]),
    ]
    return [Requirement(line) for line in lines]


def _closure(wanted: list[Requirement]) -> dict[str, Requirement]:
    """All that comes along on this machine, by the installed packages' own word."""
    seen: dict[str, Requirement] = {}
    todo = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    while todo:
        one = todo.pop()
        name = canonicalize_name(one.name)
        if name in seen:
            continue
        seen[name] = one
        for line in distribution(name).requires or []:
            inner = Requirement(line)
            extras = one.extras or {""}
            here = {key: str(value) for key, value in default_environment().items()}
            if inner.marker is None or any(inner.marker.evaluate({**here, "extra": extra}) for extra in extras):
                todo.append(inner)
    return seen


@pytest.mark.parametrize(
    ("name", "groups"), [("constraints.txt", ("build",)), ("constraints-dev.txt", ("build", "dev"))]
)
def test_everything_that_is_needed_is_pinned(name: str, groups: tuple[str, ...]) -> None:
    pins = _pins(name)
    missing = sorted(set(_closure(_needed(*groups))) - set(pins))
    assert missing == []


@pytest.mark.parametrize(
    ("name", "groups"), [("constraints.txt", ("build",)), ("constraints-dev.txt", ("build", "dev"))]
)
def test_the_pins_are_what_the_project_asks_for(name: str, groups: tuple[str, ...]) -> None:
    pins = _pins(name)
    outside = [str(one) for one in _needed(*groups) if not one.specifier.contains(pins[canonicalize_name(one.name)])]
    assert outside == []


def test_both_files_pin_the_same_versions() -> None:
    product, development = (_pins(name) for name in FILES)
    assert {name: development.get(name) for name in product} == product


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_a_version_or_a_hash(name: str) -> None:
    lines = (ROOT / name).read_text().splitlines()
    assert [line for line in lines if not PIN.match(line) and not HASH.match(line)] == []


@pytest.mark.parametrize("name", FILES)
def test_every_version_has_a_hash(name: str) -> None:
    lines = [*(ROOT / name).read_text().splitlines(), ""]
    assert [line for line, after in itertools.pairwise(lines) if PIN.match(line) and not HASH.match(after)] == []


def test_every_dependency_has_a_page_with_its_reason() -> None:
    texts = [page.read_text().lower() for page in (ROOT / "docs" / "decisions").glob("*.md")]
    titles = [text.splitlines()[0] for text in texts if "dependency" in text.splitlines()[0]]
    told = "\n".join([*titles, *re.findall(r"\*\*(.+?)\*\*", "\n".join(texts))])
    assert sorted(one.name for one in _needed("build", "dev") if one.name not in told) == []


def _foreign_imports(folder: str) -> set[str]:
    """Distributions that the modules below `folder` import; what cannot be found keeps its module's name."""
    found: set[str] = set()
    for path in tracked():
        if path.suffix != ".py" or not path.is_relative_to(ROOT / folder):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").partition(".")[0])
    ours = {"peerline", "tests", "bench", "__future__"}
    known = packages_distributions()
    foreign = found - sys.stdlib_module_names - ours - {"_sha2", "_sha256"}  # private modules that some versions have
    return {canonicalize_name(known.get(name, [name])[0]) for name in foreign}


def test_the_product_imports_only_what_it_declares() -> None:
    extras = [Requirement(line) for lines in _project()["project"]["optional-dependencies"].values() for line in lines]
    declared = {canonicalize_name(one.name) for one in [*_needed(), *extras]}
    assert sorted(_foreign_imports("src") - declared) == []


def test_the_tests_import_only_what_is_declared() -> None:
    declared = {canonicalize_name(one.name) for one in _needed("dev")} | {"packaging"}  # pytest itself needs it
    assert sorted(_foreign_imports("tests") - declared) == []
