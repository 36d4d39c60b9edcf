"""A table at the end of a TOML file, and the file as it was without it."""

import pytest

from peerline.cli.setup.entry import Entry, Unfit
from peerline.cli.setup.toml_text import cut, insert, parse

TOOLS = Entry(path=("mcp_servers", "kxm"), value={"command": '/opt/a "b"/kxm', "args": ["mcp"]}, what="tools")
FILES = (
    "",
    'model = "x"',
    'model = "x"\n\n[projects."/a"]\ntrust_level = "trusted"\n',
    '# mine\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
    '[mcp_servers]\n[mcp_servers."other one"]\ncommand = "x"\n\n\n',
)


@pytest.mark.parametrize("before", FILES)
def test_what_was_put_in_comes_out_without_a_trace(before: str) -> None:
    text, edit = insert(before, TOOLS)
    assert parse(text)["mcp_servers"]["kxm"] == TOOLS.value
    assert text.startswith(before)
    assert cut(text, edit) == before


def test_a_table_within_the_table_is_written_as_one_and_comes_out_too() -> None:
    value = {"command": "/opt/komnet", "env": {"KOMNET_HOME": "/home/a b/.komnet"}, "args": ["mcp"]}
    text, edit = insert('model = "x"\n', Entry(path=("mcp_servers", "komnet"), value=value, what="tools"))
    assert parse(text)["mcp_servers"]["komnet"] == value
    assert cut(text, edit) == 'model = "x"\n'


@pytest.mark.parametrize("before", FILES)
def test_it_comes_out_too_when_its_client_wrote_below_it(before: str) -> None:
    text, edit = insert(before, TOOLS)
    later = (
        '\n[mcp_servers.kxm.tools.kxm_send]\napproval_mode = "approve"\n\n[projects."/b"]\ntrust_level = "trusted"\n'
    )
    left = parse(cut(text + later, edit))
    assert "kxm" not in left.get("mcp_servers", {})
    assert left["projects"]["/b"] == {"trust_level": "trusted"}


def test_a_table_that_its_user_changed_stays() -> None:
    text, edit = insert("", TOOLS)
    changed = text.replace('["mcp"]', '["mcp", "--as", "me"]')
    assert cut(changed, edit) == changed


@pytest.mark.parametrize("before", ["mcp_servers = {}\n", 'mcp_servers = { x = { command = "x" } }\n'])
def test_a_table_on_one_line_is_refused(before: str) -> None:
    with pytest.raises(Unfit) as refusal:
        insert(before, TOOLS)
    assert "on one line" in refusal.value.detail


def test_no_toml_is_refused_with_its_line() -> None:
    with pytest.raises(Unfit) as refusal:
        insert("a = \n", TOOLS)
    assert "line 1" in refusal.value.detail
