"""The recording is read as it was made."""

from tests.network.golden import golden_file, needs_golden
from tests.network.interop.recording import recorded, shape


@needs_golden
def test_every_recorded_call_is_found() -> None:
    counts = [len(recorded(golden_file(f"captures-{n}.txt"))) for n in (1, 2, 3, 4)]
    assert counts == [81, 134, 27, 38]


@needs_golden
def test_a_call_keeps_its_words_its_code_and_both_streams() -> None:
    call = recorded(golden_file("captures-1.txt"))[36]
    assert (call.agent, call.words, call.code) == ("alice-cursor", ("trace", "01KZRHT87A49APHG8TY2J5DA20"), 1)
    assert call.out == ""
    assert call.err.startswith("✗ no message")


def test_a_shape_names_every_member_with_its_type() -> None:
    assert shape({"a": [{"b": None}], "c": 1}) == {
        ".": "object",
        ".a": "list",
        ".a[]": "object",
        ".a[].b": "null",
        ".c": "number",
    }
