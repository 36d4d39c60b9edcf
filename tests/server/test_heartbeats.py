"""Heartbeats of streams: each in its time, never all in one turn of the loop."""

from peerline.server.events import TURNS, Wheel


class Stream:
    def __init__(self) -> None:
        self.beats = 0

    def heartbeat(self) -> None:
        self.beats += 1


def test_streams_that_came_one_after_another_beat_one_after_another() -> None:
    wheel, streams = Wheel(), [Stream() for _ in range(TURNS)]
    for stream in streams:
        wheel.add(stream)
        wheel.turn()
    for turn in range(1, TURNS + 1):
        assert sum(stream.beats for stream in streams) == turn
        wheel.turn()
    assert [stream.beats for stream in streams[1:]] == [1] * (TURNS - 1)


def test_a_stream_that_left_beats_no_more() -> None:
    wheel, stream = Wheel(), Stream()
    wheel.add(stream)
    wheel.discard(stream)
    for _ in range(TURNS):
        wheel.turn()
    assert stream.beats == 0
