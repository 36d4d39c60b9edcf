"""`komnet gateway …` as a session and its person type it, without a gateway at work."""

from collections.abc import Callable

import pytest

from peerline.gateway.place import GatewayPlace
from peerline.network.home import Home
from tests.cli.komnet.conftest import Machine

Set = Callable[[str], Machine]


@pytest.fixture
def alice(machine: Set) -> Machine:
    """A machine on which a gateway has run once."""
    alice = machine("alice")
    GatewayPlace(Home(alice.home)).make()
    return alice


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "Bad Room", "x"),
        ("ask", "build", "x", "--to", "Bad Name"),
        ("ask", "build", "x", "--needs", "nobody"),
        ("ask", "build", "x", "--session", "a\x1b[31m"),
        ("subscribe", "shop", "Bad Room"),
        ("subscribe", "a\x1b[31m", "build"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_exit_2_and_nothing_is_kept(
    alice: Machine, words: tuple[str, ...]
) -> None:
    typed = alice.komnet("gateway", *words, code=2)
    assert "\x1b" not in typed.out + typed.err
    assert list(GatewayPlace(Home(alice.home)).requests.iterdir()) == []
    assert alice.komnet("gateway", "routes", "--json").json["subscriptions"] == []


def test_a_session_that_serves_nothing_is_not_told_as_done(alice: Machine) -> None:
    assert alice.komnet("gateway", "subscribe", "shop", "build").out.startswith("✓ shop serves #build")
    assert alice.komnet("gateway", "unsubscribe", "shop", "build").out.startswith("✓ ")
    typed = alice.komnet("gateway", "unsubscribe", "sh\x1b[31mop", "build")
    assert "✓" not in typed.out
    assert "\x1b" not in typed.out
    assert "komnet gateway routes" in typed.out
