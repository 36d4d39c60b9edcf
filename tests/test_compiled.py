"""What is to be compiled is there, and nothing compiled hides a source. That compiled modules run is seen to before the
tests of `make test-compiled` begin (`tests.compiled`)."""

from tests.compiled import wanted
from tests.house.tracked import ROOT


def test_each_module_to_be_compiled_is_there() -> None:
    assert [path for path in wanted() if not (ROOT / "src" / path).is_file()] == []


def test_nothing_compiled_stands_beside_the_sources() -> None:
    """It would run instead of them, whatever is changed there."""
    assert list((ROOT / "src").rglob("*.so")) == []
