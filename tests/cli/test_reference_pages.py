"""The reference pages say what the parsers and the settings say."""

import re

import pytest

from peerline.cli import hot_output
from tests.cli.reference_pages import REFERENCE, cli_page, configuration_page

AGAIN = "run: python -m tests.cli.reference_pages"


def test_the_command_line_page_is_what_the_parsers_say() -> None:
    assert (REFERENCE / "cli.md").read_text(encoding="utf-8") == cli_page(), AGAIN


def test_the_configuration_page_is_what_the_settings_say() -> None:
    assert (REFERENCE / "configuration.md").read_text(encoding="utf-8") == configuration_page(), AGAIN


@pytest.mark.parametrize("name", ["FAILED", "USAGE", "INTERRUPTED", "READER_GONE"])
def test_every_exit_code_of_the_commands_is_in_the_table(name: str) -> None:
    page = (REFERENCE / "exit-codes.md").read_text(encoding="utf-8")
    assert str(getattr(hot_output, name)) in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
