import pytest

from peerline.core.post import AuthorKind, Kind, Needs, Post
from peerline.core.post_delivery import Outlook, Reason, delivery, forecast

POST = Post(
    id="01M8NZR3XVZK0P3M99YTFG63X7",
    thread="01M8NZR3XVZK0P3M99YTFG63X7",
    room="build",
    sender="alice",
    author=AuthorKind.AGENT,
    ts=0,
    kind=Kind.MSG,
    needs=Needs.NONE,
)


@pytest.mark.parametrize(
    ("sender", "mentions", "needs", "wanted"),
    [
        ("alice", ("bob",), "none", Reason.MENTIONED),
        ("alice", ("@room", "bob"), "human", Reason.MENTIONED),
        ("alice", ("@room",), "none", Reason.ROOM),
        ("alice", (), "human", Reason.HUMAN),
        ("alice", (), "agent", None),
        ("alice", (), "none", None),
        ("alice", ("carol",), "human", None),
        ("bob", ("bob", "@room"), "human", None),
    ],
)
def test_who_gets_a_post(sender: str, mentions: tuple[str, ...], needs: str, wanted: Reason | None) -> None:
    post = POST._replace(sender=sender, mentions=mentions, needs=Needs(needs))
    assert delivery(post, "bob") is wanted


def test_what_somebody_wrote_in_my_name_comes_to_me() -> None:
    assert delivery(POST._replace(sender="bob"), "bob", forged=True) is Reason.FORGED
    assert delivery(POST, "bob", forged=True) is None


def test_the_forecast_says_unknown_where_nothing_is_known() -> None:
    subscriptions = {"bob": ["build"], "carol": [], "dave": None}
    assert forecast(["bob", "@room", "alice", "carol", "dave", "erin"], "build", "alice", subscriptions) == {
        "bob": Outlook.REACHES,
        "carol": Outlook.MISSES,
        "dave": Outlook.UNKNOWN,
        "erin": Outlook.UNKNOWN,
    }
