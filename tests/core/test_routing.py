"""Where an arriving post goes (seed relay, Routing)."""

import pytest

from peerline.core.routing import Asker, Hold, Route, Routes, Subscriber, ToAsker, ToPerson, ToSubscriber, route

ASKER = Asker(session="backend-2e", reply_key="42", asked_agent="bob")
ROUTES = Routes(
    pending={"T": ASKER},
    subscribed={
        "build": (Subscriber(session="one"),),
        "two": (Subscriber(session="a"), Subscriber(session="b")),
        "led": (Subscriber(session="a"), Subscriber(session="b", default=True)),
    },
)


def routed(
    needs: str = "none", thread: str = "X", room: str = "r", sender: str = "bob", wish: str | None = None
) -> Route:
    return route(needs=needs, thread=thread, room=room, sender=sender, wish=wish, routes=ROUTES)


@pytest.mark.parametrize(
    "needs", ["human", "Human", "HUMAN", " human", "person", "", "agent ", "none\n", "null", "agents"]
)
def test_what_needs_a_human_or_something_unknown_goes_to_no_agent(needs: str) -> None:
    """Cites: relay rule 1."""
    assert routed(needs, thread="T", room="build") == ToPerson()


def test_an_answer_goes_to_the_session_that_asked_before_any_subscription() -> None:
    assert routed(thread="T", room="build") == ToAsker(ASKER, answers=True)


def test_another_poster_in_the_thread_reaches_the_asker_but_is_not_the_answer() -> None:
    assert routed(thread="T", sender="carol") == ToAsker(ASKER, answers=False)


@pytest.mark.parametrize(
    ("room", "wish", "found"),
    [
        ("build", None, ToSubscriber("one")),
        ("led", None, ToSubscriber("b")),
        ("led", "a", ToSubscriber("a")),
        ("build", "nobody", ToSubscriber("one")),
        ("two", None, Hold("2 sessions serve #two and none is its default")),
        ("none", None, Hold("no session here asked in this thread or serves #none")),
    ],
)
def test_a_rooms_session_gets_it_and_nobody_gets_what_is_nobodys(room: str, wish: str | None, found: Route) -> None:
    assert routed(room=room, wish=wish) == found
