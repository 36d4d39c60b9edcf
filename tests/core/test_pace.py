"""A monitor's lines never come faster than the client takes them."""

from peerline.core.pace import Pace

# What the client does with them: ten at once, then one each two seconds, counted in whole refills.
CAPACITY, REFILL_S = 10, 2.0


class Bucket:
    """The client's side."""

    def __init__(self) -> None:
        self.tokens, self.since = CAPACITY, 0.0

    def takes(self, at: float) -> bool:
        refills = int((at - self.since) // REFILL_S)
        self.tokens, self.since = min(CAPACITY, self.tokens + refills), self.since + refills * REFILL_S
        self.tokens -= 1
        return self.tokens >= 0


def test_no_line_is_ever_one_too_many_and_a_quiet_time_gives_room_again() -> None:
    at = [0.0]
    pace, client = Pace(lambda: at[0]), Bucket()
    for number in range(500):
        at[0] += pace.wait_s()
        assert pace.wait_s() == 0
        pace.spend()
        assert client.takes(at[0]), number
        at[0] += (0.0, 0.3, 1.9, 40.0)[number % 4 if number > 100 else 0]


def test_a_burst_goes_out_at_once_and_then_one_by_one() -> None:
    at = [100.0]
    pace = Pace(lambda: at[0], burst=3, each_s=2.0)
    for _ in range(3):
        assert pace.wait_s() == 0
        pace.spend()
    assert pace.wait_s() == 2.0
    at[0] += 2.0
    pace.spend()
    assert pace.wait_s() == 2.0
    at[0] += 1_000.0
    for _ in range(3):
        assert pace.wait_s() == 0
        pace.spend()
    assert pace.wait_s() == 2.0
