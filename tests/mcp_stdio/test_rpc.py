"""Lines of JSON-RPC, whole, in pieces, and spoilt."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.mcp_stdio import rpc


@given(st.lists(st.binary(min_size=1).filter(lambda b: b"\n" not in b and b.strip()), max_size=5), st.data())
def test_lines_are_the_same_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    reader, found = rpc.Lines(), []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        found += reader.feed(whole[start:end])
    assert found == lines
    assert reader.left() == b""


def test_a_line_beyond_every_bound_is_told_once_and_the_next_one_is_read() -> None:
    reader = rpc.Lines()
    part = b"x" * (rpc.LINE_BYTES // 2 + 1)
    assert reader.feed(part) == []
    assert reader.feed(part) == [None]
    assert reader.feed(part) == []
    assert reader.feed(b"end\nnext\n") == [b"next"]
    assert reader.feed(part + part + b"\nlast\n") == [None, b"last"]


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (None, rpc.PARSE_ERROR, None),
        (b"\xff\xfe", rpc.PARSE_ERROR, None),
        (b"{", rpc.PARSE_ERROR, None),
        (b"[" * 100_000, rpc.PARSE_ERROR, None),
        (b"[]", rpc.INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', rpc.INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', rpc.INVALID_REQUEST, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', rpc.INVALID_REQUEST, 7),
        (b'{"jsonrpc":"2.0","id":"a","method":3}', rpc.INVALID_REQUEST, "a"),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', rpc.INVALID_PARAMS, 7),
    ],
)
def test_a_spoilt_line_is_named_with_the_id_it_has(line: bytes | None, code: int, request_id: object) -> None:
    with pytest.raises(rpc.Malformed) as bad:
        rpc.parse(line)
    assert (bad.value.code, bad.value.request_id) == (code, request_id)


def test_an_answer_to_nothing_is_passed_over() -> None:
    assert rpc.parse(b'{"jsonrpc":"2.0","id":1,"result":{}}') is None


def test_what_goes_out_is_one_line_of_ascii_whatever_is_in_it() -> None:
    text = "a\nb\u2028c\u0085d\x1b\ud800😀"
    line = rpc.result(1, {"text": text})
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line)["result"]["text"] == text
