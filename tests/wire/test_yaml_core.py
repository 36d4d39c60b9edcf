"""The recorded corpus exactly, and what we write reads back as it was."""

import json
import math
import re
import time
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from peerline.wire.yaml_core import DEPTH_AT_MOST, SIZE_AT_MOST, InvalidYaml, load
from peerline.wire.yaml_plain import plain_mapping
from peerline.wire.yaml_whole import load_whole
from peerline.wire.yaml_writing import dump
from tests.network.golden import golden_file, needs_golden

# In the recorded corpus the peer accepts these two; here an alias is refused (bombs are made of them).
ALIASED = {"merge", "anchors"}


@needs_golden
def test_every_recorded_text_is_written_byte_for_byte_as_recorded_and_read_back() -> None:
    corpus = json.loads(golden_file("yaml-scalars.json").read_text())["stringify"]
    assert len(corpus) == 118
    for one in corpus:
        assert dump({"k": one["in"]}) == one["scalar"]
        assert dump({"k": [one["in"]]}) == one["item"]
        assert load(one["scalar"]) == {"k": one["in"]}
        assert load(one["item"]) == {"k": [one["in"]]}


@needs_golden
def test_every_recorded_scalar_is_read_as_recorded() -> None:
    kinds = {str: "string", bool: "boolean", type(None): "null", int: "number", float: "number"}
    for one in json.loads(golden_file("yaml-scalars.json").read_text())["parseScalars"]:
        text = f"k: {one['in']}\n"
        if "error" in one:
            with pytest.raises(InvalidYaml):
                load(text)
            continue
        value = load(text)["k"]
        assert kinds[type(value)] == one["type"]
        wanted = {"Infinity": math.inf, "NaN": math.nan}.get(str(one["value"]), one["value"])
        assert value == wanted or (math.isnan(wanted) and math.isnan(value))


@needs_golden
def test_every_recorded_document_is_read_as_recorded_but_for_aliases() -> None:
    for one in json.loads(golden_file("yaml-scalars.json").read_text())["parseDocs"]:
        if "error" in one or one["name"] in ALIASED:
            with pytest.raises(InvalidYaml):
                load(one["in"])
        else:
            assert load(one["in"]) == one["out"]


# The project's own corpus: how a text is written, for machines where the recorded one is not.
@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain words", "k: plain words\n"),
        ("@room", 'k: "@room"\n'),
        ("key: value", 'k: "key: value"\n'),
        ("a #b", 'k: "a #b"\n'),
        ("no", "k: no\n"),
        ("12:30:45", "k: 12:30:45\n"),
        ("2026-11-30T10:06:19.808Z", "k: 2026-11-30T10:06:19.808Z\n"),
        ("true", 'k: "true"\n'),
        ("", 'k: ""\n'),
        ("12345e6789", 'k: "12345e6789"\n'),
        ("0" * 40, f'k: "{"0" * 40}"\n'),
        ('"x"', "k: '\"x\"'\n"),
        ("trail ", 'k: "trail "\n'),
        ("a\nb", "k: |-\n  a\n  b\n"),
        ("a\n\nb\n", "k: |\n  a\n\n  b\n"),
        ("a\n\n", "k: |+\n  a\n\n"),
        (" a\nb", "k: |2-\n   a\n  b\n"),
        ("a\r\nb", 'k: "a\\r\\nb"\n'),
        ("a \x07 \n b", 'k: "a \\a\\ \\n b"\n'),
        (
            "\x07" + "long " * 9 + "\n\n next\n",
            'k: "\\along long long long long long long long long\\ \n\n\n  \\ next\\n"\n',
        ),
        ("a\x00\x1bb", 'k: "a\\0\\eb"\n'),
        (None, "k: null\n"),
        (True, "k: true\n"),
        (86_400, "k: 86400\n"),
        (1.5, "k: 1.5\n"),
        (1e21, "k: 1e+21\n"),
        (1e20, "k: 100000000000000000000\n"),
        (0.000001, "k: 0.000001\n"),
        (1.5e-7, "k: 1.5e-7\n"),
        (123456.789, "k: 123456.789\n"),
        (-math.inf, "k: -.inf\n"),
        ([], "k: []\n"),
        ({}, "k: {}\n"),
        ([1, [2, 3], {"a": 1, "b": []}], "k:\n  - 1\n  - - 2\n    - 3\n  - a: 1\n    b: []\n"),
        ({"a": {"b": "c"}}, "k:\n  a:\n    b: c\n"),
    ],
)
def test_a_value_is_written_in_one_way_and_read_back(value: Any, written: str) -> None:
    assert dump({"k": value}) == written
    assert load(written) == {"k": value}


@pytest.mark.parametrize("key", ["... a", "...\ta", "--- a", "---\t"])
def test_a_key_that_would_begin_or_end_a_document_is_quoted(key: str) -> None:
    assert dump({key: 1}).startswith('"')
    assert load(dump({key: 1, "a": {key: key}})) == {key: 1, "a": {key: key}}


texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text(" \t\n\r'\"\\:#-?~|>@a0.e\x85\x7f\u2028\ufeff")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


# libyaml's known limit (docs/decisions/0107): a block whose first line begins with a tab.
TAB_FIRST = re.compile(r"[ \n]*\t(?s:.)*\n|[ ]*\n[ \n]*\t")


def beyond_libyaml(value: Any) -> bool:
    if isinstance(value, dict):
        return any(beyond_libyaml(one) for one in value.values())
    if isinstance(value, list):
        return any(beyond_libyaml(one) for one in value)
    return isinstance(value, str) and TAB_FIRST.match(value) is not None


mappings = st.dictionaries(texts, values, max_size=4)


@settings(max_examples=120, deadline=None)
@given(mappings)
def test_whatever_is_written_reads_back_as_it_was(value: dict[str, Any]) -> None:
    # A file may begin with a byte order mark, so a first key that begins with one loses it.
    assume(not beyond_libyaml(value) and not next(iter(value), "").startswith("\ufeff"))
    assert load(dump(value)) == value


anything = st.text() | st.text("-: \n[]{}&*!|>'\"%@`#,?a1\t\r")


@settings(max_examples=150, deadline=None)
@given(anything)
def test_no_text_brings_anything_but_a_value_or_the_one_error(text: str) -> None:
    with suppress(InvalidYaml):
        load(text)


def same(one: Any, other: Any) -> bool:
    """Equal in value and in kind: True is not 1, and -0.0 is not 0."""
    return repr(one) == repr(other)


pieces = st.sampled_from(
    [
        *" :-#'\"|>&*!%@?~,/_+.\\é",
        "  ",
        ": ",
        " #",
        "[]",
        "{}",
        "[a]",
        "null",
        "true",
        "no",
        "1",
        "1e3",
        "0x1f",
        "---",
        "xy",
    ]
)
plain_lines = st.builds(
    lambda indent, head, tail: " " * indent + head + "".join(tail),
    st.sampled_from([0, 0, 0, 1, 2, 2, 4]),
    st.sampled_from(["a: ", "b: ", "c:", "d:", "- ", "a.b/c-d: ", "", "a:b: ", "1: "]),
    st.lists(pieces, max_size=3),
)


plain_documents = st.lists(plain_lines, max_size=7).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(plain_documents)
def test_the_reader_of_plain_lines_says_nothing_but_what_the_whole_one_says(text: str) -> None:
    plain = plain_mapping(text)
    if plain is not None:
        assert same(plain, load_whole(text))


def test_what_programs_write_is_plain() -> None:
    value = {
        "v": 1,
        "agent": {"id": "a", "human": {"name": "Ä b", "timezone": "Europe/Berlin"}, "tool": "cli"},
        "networks": {"my-net": {"remote": "git@host.test:team/net.git", "subscriptions": ["build", "@room"], "x": []}},
        "repositories": {"github.com/acme/pay": {"path": "/home/a b"}},
        "last": None,
        "flag": "true",
        "at": "2026-11-30T10:20:00.000Z",
    }
    assert plain_mapping(dump(value)) == value


@needs_golden
def test_every_recorded_text_that_is_plain_is_read_by_both() -> None:
    for one in json.loads(golden_file("yaml-scalars.json").read_text())["stringify"]:
        for text in (one["scalar"], one["item"]):
            plain = plain_mapping(text)
            assert plain is None or same(plain, load_whole(text))


BOMBS = {
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "merge": "base: &b {x: 1}\nk:\n  <<: *b\n",
    "same key": "a: 1\nb: 2\na: 3\n",
    "same key nested": "a:\n  b: 1\n  b: 2\n",
    "same key by escape": 'a: 1\n"\\x61": 2\n',
    "deep lists": "[" * 20_000,
    "deep mappings": "{a: " * 20_000,
    "deep block": "\n".join(" " * n + "a:" for n in range(400)),
    "two documents": "a: 1\n---\nb: 2\n",
    "carriage returns": "a: 1\rb: 2\r",
    "key that is a list": "? [a]\n: 1\n",
    "conflict markers": "<<<<<<< ours\na: 1\n=======\na: 2\n>>>>>>> theirs\n",
    "too long": f"a: {'x' * SIZE_AT_MOST}\n",
    "very many values": "a: [" + "x," * 20_000 + "]\n",
    "very many keys": "".join(f"k{number}: 1\n" for number in range(10_000)),
    "surrogate": "a: \ud800\n",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory(name: str) -> None:
    load("warm: up")
    tracemalloc.start()
    try:
        with pytest.raises(InvalidYaml):
            load(BOMBS[name])
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_of_the_processor(name: str) -> None:
    load("warm: up")
    began = time.process_time()
    with pytest.raises(InvalidYaml):
        load(BOMBS[name])
    assert time.process_time() - began < 1  # it takes milliseconds; a bomb would take minutes


def test_a_number_of_five_thousand_digits_is_a_number_and_costs_nothing() -> None:
    assert load(f"a: {'9' * 5_000}\n") == {"a": math.inf}
    assert load("a: 0x" + "f" * 300) == {"a": math.inf}


def test_tags_make_no_objects() -> None:
    assert load('a: !!python/object/apply:os.system ["true"]\n') == {"a": ["true"]}
    assert load("a: !!python/name:os.system x\nb: !!str 1\nc: !!int '7'\nd: !own 1\n") == {
        "a": "x",
        "b": "1",
        "c": 7,
        "d": "1",
    }


def test_nesting_up_to_the_limit_is_read() -> None:
    assert load("[" * DEPTH_AT_MOST + "]" * DEPTH_AT_MOST) is not None
