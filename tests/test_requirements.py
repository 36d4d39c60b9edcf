"""The registry against the tests: every promise that is due has a test, every citation names a promise."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.requirements import CURRENT_PART, DEVIATIONS, REQUIREMENTS, SEED_LINES

TESTS = Path(__file__).parent
SEEDS = TESTS.parent.parent / "shared" / "seeds"


class NotALiteral(Exception):
    """A citation that cannot be read without running the test."""


def citations(source: str, name: str) -> Iterator[str]:
    """The ids in every `pytest.mark.requirement(...)` of a test file."""
    for node in ast.walk(ast.parse(source, name)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            for argument in node.args:
                if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                    raise NotALiteral(f"{name}:{node.lineno}: {ast.unparse(argument)}")
                yield argument.value


def cited() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for wanted in citations(path.read_text(encoding="utf-8"), path.name):
            found.setdefault(wanted, []).append(path.relative_to(TESTS).as_posix())
    return found


def test_every_promise_that_is_due_has_a_test() -> None:
    known = cited()
    assert [wanted.id for wanted in REQUIREMENTS if wanted.part <= CURRENT_PART and wanted.id not in known] == []


def test_every_citation_names_a_promise() -> None:
    ids = {wanted.id for wanted in REQUIREMENTS}
    assert {wanted: files for wanted, files in cited().items() if wanted not in ids} == {}


def test_no_two_promises_share_an_id() -> None:
    ids = Counter(wanted.id for wanted in REQUIREMENTS)
    assert [name for name, times in ids.items() if times > 1] == []


def test_no_two_deviations_share_an_id_and_each_has_a_reason() -> None:
    assert len({deviation.id for deviation in DEVIATIONS}) == len(DEVIATIONS)
    assert all(deviation.what and deviation.reason for deviation in DEVIATIONS)


def test_every_promise_stands_on_a_line_of_its_seed_and_is_due_in_a_part_of_the_plan() -> None:
    out_of_range = [wanted.id for wanted in REQUIREMENTS if not 1 <= wanted.line <= SEED_LINES[wanted.seed]]
    assert out_of_range == []
    assert {wanted.part for wanted in REQUIREMENTS} <= set(range(1, 8))
    assert all(wanted.text for wanted in REQUIREMENTS)


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the seeds do not lie beside this checkout")
@pytest.mark.parametrize("seed", SEED_LINES)
def test_a_promise_names_a_line_that_says_something(seed: str) -> None:
    lines = (SEEDS / seed).read_text(encoding="utf-8").splitlines()
    assert len(lines) == SEED_LINES[seed]
    empty = [wanted.id for wanted in REQUIREMENTS if wanted.seed == seed and not lines[wanted.line - 1].strip("`- \n")]
    assert empty == []


def test_a_citation_is_found_in_a_decorator_in_a_parameter_and_for_a_whole_module() -> None:
    source = """
pytestmark = [pytest.mark.requirement("A")]
@pytest.mark.requirement("B", "C")
def test_b(): ...
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("D"))])
def test_d(x): ...
"""
    assert set(citations(source, "example")) == {"A", "B", "C", "D"}


def test_a_citation_that_is_no_literal_is_refused() -> None:
    with pytest.raises(NotALiteral, match="example:1"):
        list(citations("pytest.mark.requirement(name)", "example"))
