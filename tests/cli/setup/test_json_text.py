"""Putting an entry into a JSON file and taking it out leaves every other byte where it was."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peerline.cli.setup.entry import Entry, Unfit, held, merged
from peerline.cli.setup.json_text import cut, insert, parse

TOOLS = Entry(path=("mcpServers", "kxm"), value={"command": "/opt/kxm", "args": ["mcp"]}, what="tools")
HOOK = Entry(path=("hooks", "Stop"), value={"hooks": [{"command": "/opt/kxm hook stop"}]}, what="hook", listed=True)
ENTRIES = (TOOLS, HOOK)

keys = st.text(max_size=6) | st.sampled_from(["mcpServers", "hooks", "Stop", "other"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
documents = st.fixed_dictionaries(
    {},
    optional={
        "mcpServers": st.dictionaries(keys, values, max_size=3),
        "hooks": st.fixed_dictionaries({}, optional={"Stop": st.lists(values, max_size=3), "Other": values}),
        "theme": values,
    },
)
styles = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {"indent": None},
        {"separators": (",", ":")},
        {"indent": 2, "ensure_ascii": False},
    ]
)


@settings(max_examples=150, deadline=None)
@given(document=documents, style=styles, end=st.sampled_from(["", "\n", "\r\n"]), crlf=st.booleans())
def test_what_was_put_in_comes_out_without_a_trace(document: Any, style: Any, end: str, crlf: bool) -> None:
    before = json.dumps(document, **style) + end
    before = before.replace("\n", "\r\n") if crlf else before
    text, edits = before, []
    for entry in ENTRIES:
        text, edit = insert(text, entry)
        edits.append(edit)
    assert parse(text) == merged(merged(document, TOOLS), HOOK)
    for edit in reversed(edits):
        text = cut(text, edit)
    assert text == before


@settings(max_examples=150, deadline=None)
@given(document=documents, style=styles, later=styles, first=st.booleans())
def test_it_comes_out_too_after_the_client_has_written_the_file_anew(
    document: Any, style: Any, later: Any, first: bool
) -> None:
    text, edits = json.dumps(document, **style), []
    for entry in ENTRIES:
        text, edit = insert(text, entry)
        edits.append(edit)
    text = json.dumps(parse(text), **later)
    for edit in edits if first else reversed(edits):
        text = cut(text, edit)
    assert parse(text) == document


def test_a_member_that_the_client_added_to_our_entry_goes_with_it() -> None:
    text, edit = insert('{"a": 1}', TOOLS)
    data = parse(text)
    data["mcpServers"]["kxm"]["env"] = {}
    assert cut(json.dumps(data), edit) == '{"a": 1}'


def test_an_entry_that_its_user_changed_stays() -> None:
    text, edit = insert('{"a": 1}', TOOLS)
    changed = text.replace("/opt/kxm", "/usr/bin/kxm")
    assert cut(changed, edit) == changed


def test_what_its_user_put_beside_our_entry_stays() -> None:
    text, edit = insert("{}", TOOLS)
    data = parse(text)
    data["mcpServers"]["mine"] = {"command": "x"}
    assert parse(cut(json.dumps(data), edit)) == {"mcpServers": {"mine": {"command": "x"}}}


def test_the_entry_takes_the_indentation_of_the_file() -> None:
    text, _ = insert('{\n    "mcpServers": {\n        "x": {}\n    }\n}\n', TOOLS)
    assert '\n        "kxm": {\n            "command": "/opt/kxm"' in text


@pytest.mark.parametrize("text", ["", "\n", "{}", "{ }", "{\n}\n"])
def test_an_empty_file_takes_an_entry_and_is_as_before_without_it(text: str) -> None:
    after, edit = insert(text, TOOLS)
    assert held(parse(after), TOOLS)
    assert cut(after, edit) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{\n  // mine\n  "a": 1\n}', "comments"),
        ('{"a": 1, /* mine */ "b": 2}', "comments"),
        ('// mine\n{"a": 1}', "comments"),
        ('{"a": 1,}', "no valid JSON: line 1"),
        ("[1]", "no JSON object"),
        ('{"mcpServers": []}', "mcpServers in it is no object"),
        ('{"mcpServers": {}, "mcpServers": {"x": 1}}', "one name twice"),
    ],
)
def test_a_file_that_could_lose_something_is_refused(text: str, why: str) -> None:
    with pytest.raises(Unfit) as refusal:
        insert(text, TOOLS)
    assert why in refusal.value.detail
