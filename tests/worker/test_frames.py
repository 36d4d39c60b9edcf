"""Lines of a harness."""

import json

from hypothesis import given
from hypothesis import strategies as st

from peerline.worker.frames import OVERSIZED, Frames


@given(st.lists(st.dictionaries(st.text(), st.text(), max_size=3), max_size=5), st.data())
def test_objects_come_through_wherever_the_chunks_end(values: list[dict[str, str]], data: st.DataObject) -> None:
    whole = b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)
    frames, found = Frames(), []
    while whole:
        size = data.draw(st.integers(1, len(whole)))
        found += frames.feed(whole[:size])
        whole = whole[size:]
    assert found == values


def test_a_line_ends_at_lf_alone() -> None:
    text = {"text": "one\u2028two\u0085three\rfour"}
    assert Frames().feed(json.dumps(text, ensure_ascii=False).encode() + b"\r\n") == [text]


def test_what_is_no_object_is_passed_over() -> None:
    assert Frames().feed(b'warming up\n\n[1]\n"x"\n{"a": }\n\xff\xfe\n{"type":"ready"}\n') == [{"type": "ready"}]


def test_of_a_line_that_is_too_long_only_its_kind_is_kept_and_memory_stays_bounded() -> None:
    frames = Frames(at_most=1_000)
    head = b'{"type":"tool_execution_end","toolCallId":"call_7","result":"'
    found = frames.feed(head)
    for _ in range(1_000):
        found += frames.feed(b"x" * 1_000)
        assert len(frames._line) <= 2_000
    found += frames.feed(b'"}\n{"type":"agent_settled"}\n')
    assert found == [{OVERSIZED: True, "type": "tool_execution_end", "toolCallId": "call_7"}, {"type": "agent_settled"}]
    assert frames.oversized == 1
