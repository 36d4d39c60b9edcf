import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peerline.client.events import FRAME_BYTES, Decoder, Frame, event
from peerline.client.refusals import InvalidAnswer
from tests.client.scripted_hub import agent, message

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20)


def frames(*chunks: bytes) -> list[Frame]:
    decoder = Decoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)]


def test_a_frame_has_its_name_its_data_and_the_token_so_far() -> None:
    assert frames(b": heartbeat\n\nevent: ready\nid: 7\ndata: {}\n\ndata: x\n\n") == [
        Frame(event="ready", data="{}", id="7"),
        Frame(event="message", data="x", id="7"),
    ]


@settings(max_examples=200, deadline=None)
@given(
    texts=st.lists(TEXTS.filter(bool), min_size=1, max_size=4),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    cuts=st.lists(st.integers(min_value=0, max_value=400), max_size=12),
)
def test_chunks_may_end_anywhere_inside_a_character_or_a_line_end(texts: list[str], end: str, cuts: list[int]) -> None:
    whole = "".join(f"event: e{end}data: {text}{end}{end}" for text in texts).encode()
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    chunks = [whole[start:stop] for start, stop in pairwise(places)]
    assert [frame.data for frame in frames(*chunks)] == texts


def test_every_single_byte_may_come_alone() -> None:
    whole = '\ufeffevent: message\r\ndata: {"ü": "😀"}\r\nid: 9\r\n\r\n'.encode()
    assert frames(*(bytes([byte]) for byte in whole)) == [Frame(event="message", data='{"ü": "😀"}', id="9")]


def test_data_of_several_lines_is_joined_and_unknown_fields_are_passed_over() -> None:
    assert frames(b"data: a\ndata:b\ndata\nfoo: x\nnonsense\n\n")[0].data == "a\nb\n"


def test_an_event_without_data_is_none() -> None:
    assert frames(b"event: x\nid: 3\n\ndata: y\n\n") == [Frame(event="message", data="y", id="3")]


def test_a_token_with_a_nul_is_not_taken_and_retry_is() -> None:
    decoder = Decoder("5")
    assert [frame.id for frame in decoder.feed(b"id: 6\0\nretry: 1500\nretry: soon\ndata: x\n\n")] == ["5"]
    assert decoder.retry_ms == 1500


@pytest.mark.parametrize("piece", [b"x" * 65_536, b"data: " + b"x" * 65_000 + b"\n"])
def test_a_frame_without_an_end_is_refused_before_it_fills_the_memory(piece: bytes) -> None:
    decoder = Decoder()
    for _ in range(FRAME_BYTES // len(piece) - 1):
        assert list(decoder.feed(piece)) == []
    with pytest.raises(InvalidAnswer, match="frame of more than"):
        list(decoder.feed(piece * 3))


def test_an_event_carries_its_record_its_raw_data_and_its_resume_token() -> None:
    data = {"type": "message", "message": message(), "later": 1}
    found = event(Frame(event="message", data=json.dumps(data), id="4"))
    assert found is not None
    assert found.message is not None
    assert (found.type, found.message.id, found.resume, found.data["later"]) == ("message", "msg_1", "4", 1)


def test_an_unknown_type_is_an_event_and_ready_or_nonsense_is_none() -> None:
    kinds = [{"type": "invented", "x": 1}, {"type": "presence", "agent": agent()}, {"agent": agent()}, [1], "x"]
    found = [event(Frame(event="e", data=json.dumps(data), id=None)) for data in kinds]
    assert [each and each.type for each in found] == ["invented", "presence", None, None, None]
    assert event(Frame(event="e", data="{", id=None)) is None


def test_an_event_that_breaks_the_contract_is_said() -> None:
    with pytest.raises(InvalidAnswer, match="cannot read"):
        event(Frame(event="message", data='{"type": "message", "message": {"id": 1}}', id=None))
