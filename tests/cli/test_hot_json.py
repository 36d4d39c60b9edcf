"""JSON without the `json` package says what the `json` package says."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.cli.hot_json import dumps, loads, pretty, shown

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
BREAKERS = st.text(st.characters(categories=("Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Lo", "Ll")), max_size=40)


@given(VALUES)
def test_what_is_written_is_read_back(value: object) -> None:
    assert json.loads(dumps(value)) == json.loads(pretty(value)) == json.loads(shown(value)) == value
    assert loads(json.dumps(value)) == value


@given(VALUES)
def test_compact_is_what_the_contract_hashes(value: object) -> None:
    assert dumps(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_pretty_is_indented_by_two_spaces_as_the_guide_prints_it() -> None:
    value = {"messageId": "msg_1", "nothing": [], "none": {}, "list": [1, {"a": None}]}
    assert pretty(value) == json.dumps(value, indent=2)


@given(BREAKERS)
def test_nothing_that_a_terminal_obeys_is_printed(text: str) -> None:
    printed = pretty({"content": text})
    assert json.loads(printed) == {"content": text}
    bad = {c for c in printed if unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")} - {"\n"}
    assert bad == set()


def test_a_lone_surrogate_is_escaped_in_lower_case_as_the_original_does() -> None:
    assert dumps({"prefix": "\ud83d"}) == '{"prefix":"\\ud83d"}'
    assert dumps({"prefix": "😀"}) == '{"prefix":"😀"}'


@pytest.mark.parametrize(
    "text", ["", " ", "{", '{"a":}', "[1,]", "NaN", "Infinity", "{} {}", '"\n"', '"\\x"', "nul", "'a'", "[" * 100_000]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


def test_space_around_a_value_is_none_of_it() -> None:
    assert loads(' \r\n\t{"a": 1} \n') == {"a": 1}
