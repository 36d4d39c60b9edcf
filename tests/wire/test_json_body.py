"""What the fast parser vouches for is what the strict one would have said."""

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from peerline.core.errors import InvalidJson
from peerline.wire import json_body

NAMES = (b'"a"', b'"b"', b'"\xc3\xa4"', b'"\xff"', b'"\x01"', b'"\\u0061"', b"a", b'""')
VALUES = (
    *(
        b'"x"',
        b'""',
        b'"\xc3\xa4\xf0\x9f\x98\x80"',
        b'"\xed\xa0\x80"',
        b'"\x00"',
        b'"\n"',
        b'"\\ud800"',
        b'"\\"',
        b"'x'",
    ),
    *(b"0", b"-0", b"01", b"1.5", b"1e3", b"1e999", b"9007199254740992", b"9007199254740993", b"-9007199254740993"),
    *(
        b"123456789012345678901234567890",
        b"true",
        b"null",
        b"NaN",
        b"Infinity",
        b"nil",
        b"{}",
        b"[1]",
        b"",
        b'{"a":"a"}',
    ),
)
GAPS = (b"", b" ", b"\n", b"\x0c", b"\xef\xbb\xbf")
MEMBER = st.tuples(*map(st.sampled_from, (NAMES, GAPS, VALUES, GAPS))).map(lambda m: m[0] + m[1] + b":" + m[2] + m[3])
COMMAS, ENDS = (b",", b", ", b",,"), (b"}", b"}}", b"} ", b"")
BODY = st.tuples(
    st.sampled_from(GAPS), st.lists(MEMBER, max_size=3), st.sampled_from(COMMAS), st.sampled_from(ENDS)
).map(lambda b: b[0] + b"{" + b[2].join(b[1]) + b[3])


def judged(body: bytes) -> object:
    try:
        return {name: (type(value), value) for name, value in json_body.decode(body).items()}
    except InvalidJson as refused:
        return refused.text


@settings(max_examples=500, deadline=None)
@given(BODY)
def test_both_parsers_say_the_same_of_every_body(body: bytes) -> None:
    said = judged(body)
    with patch.object(json_body, "_flat", lambda body: None):
        assert judged(body) == said


def test_a_plain_body_is_read_by_the_fast_one() -> None:
    assert json_body._flat(b'{"target": "reviewer", "content": "do it", "hops": 1, "allowOffline": true}')
    assert json_body._flat(b'{"target":"a","target":"b"}') is None
