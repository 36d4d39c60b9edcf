"""The table of code points without a character: what it says, and that the extension has the same."""

import re
import unicodedata
from pathlib import Path

import pytest

from peerline.core import unassigned as module
from peerline.core.fence import visible
from peerline.core.unassigned import unassigned
from tests.core.test_fence import holds

EXTENSION = Path(__file__).parents[2] / "plugins" / "pi" / "unassigned.ts"


def left_out(code: int) -> bool:
    """Pictographs are drawn as a box where they are not known; the tags are hidden by a rule of their own."""
    return 0x1F000 <= code <= 0x1FAFF or 0xE0000 <= code <= 0xE0FFF


def test_it_holds_nothing_that_is_assigned_in_any_version_up_to_14() -> None:
    later = unicodedata.unidata_version != "14.0.0"
    found = [code for code in range(0x110000) if unassigned(code)]
    for code in found:
        assert unicodedata.category(chr(code)) == "Cn" or later
    assert len(found) > 800_000


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this interpreter has another version of Unicode")
def test_it_is_exactly_what_unicode_14_has_no_character_for() -> None:
    for code in range(0x110000):
        assert unassigned(code) == (unicodedata.category(chr(code)) == "Cn" and not left_out(code)), hex(code)


def test_the_extension_has_the_same_table() -> None:
    steps = re.search(r"const STEPS = `([^`]*)`", EXTENSION.read_text())
    assert steps is not None
    assert steps[1].split() == module._STEPS.split()


@pytest.mark.parametrize("character", ["\u0378", "\u1fff", "\U0003fffd", "\U000dfffd", "\U0002fa1e"])
def test_what_has_no_character_is_told_by_its_number_and_comes_back(character: str) -> None:
    assert visible(f"a{character}b") == f"a⟨U+{ord(character):04X}⟩b"
    holds(f"a{character}b")


def test_a_pictograph_that_is_newer_than_the_table_is_shown() -> None:
    assert visible("\U0001fae8\ufe0f \U0001fa77") == "\U0001fae8\ufe0f \U0001fa77"
