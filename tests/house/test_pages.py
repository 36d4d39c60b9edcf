"""The reference pages are complete: each error code, each decision, each field report."""

import re

from peerline.core import errors
from tests.house.tracked import ROOT, shown, tracked

DOCS = ROOT / "docs"
# 3.1, 3.3, 3.4, 3.6 and 3.9 of the reports: what concerns a hub and a command line; the letters are the chapters'.
CHAPTERS = "LIDSF"


def _codes() -> set[str]:
    """What any class of `core.errors` can send, and the one code that has no class: an uncaught fault."""
    found = {"internal_error"}
    todo = [errors.PeerlineError]
    while todo:
        kind = todo.pop()
        found.add(vars(kind).get("code", "internal_error"))
        todo += [one for one in kind.__subclasses__() if one.__module__ == errors.__name__]
    return found


def test_the_error_index_names_every_code_once() -> None:
    listed = re.findall(r"^\| `([a-z_]+)` \|", (DOCS / "reference" / "errors.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(_codes())


def test_every_decision_is_in_the_index() -> None:
    folder = DOCS / "decisions"
    indexed = set(re.findall(r"\]\((\d{4}-[a-z0-9-]+\.md)\)", (folder / "index.md").read_text()))
    assert {page.name for page in folder.glob("0*.md")} == indexed


def test_no_two_decisions_have_one_number() -> None:
    numbers = sorted(page.name[:4] for page in (DOCS / "decisions").glob("0*.md"))
    assert numbers == sorted(set(numbers))


def _answers() -> dict[str, str]:
    rows = re.findall(r"^\| ([A-Z]\d\d) \| .* \| (.+) \|$", (DOCS / "field-reports.md").read_text(), re.MULTILINE)
    return dict(rows)


def test_every_field_report_has_an_answer() -> None:
    answers = _answers()
    assert {report[0] for report in answers} == set(CHAPTERS)
    assert [report for report, answer in answers.items() if not answer.strip()] == []


def test_the_tests_that_answer_field_reports_exist() -> None:
    sources = "\n".join(
        path.read_text() for path in tracked() if shown(path).startswith("tests/") and path.suffix == ".py"
    )
    existing = set(re.findall(r"\bdef (test_\w+)", sources))
    named = {test for answer in _answers().values() for test in re.findall(r"`(test_\w+)`", answer)}
    assert named - existing == set()
