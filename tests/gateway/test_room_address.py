"""Addresses in rooms as senders type them."""

import pytest

from peerline.core.errors import Invalid
from peerline.gateway.outbound import post_of
from peerline.gateway.room_address import request_of
from peerline.gateway.sessions import Asked


def asked(target: str, needs: str | None = None) -> Asked:
    return Asked(hub_message="msg_1", project="shop", session="lead", target=target, body="why?", until=0, needs=needs)


@pytest.mark.parametrize(
    ("target", "to", "wish", "room", "network"),
    [
        ("bob@build", "bob", None, "build", None),
        ("@build", None, None, "build", None),
        ("bob/backend-2e@build", "bob", "backend-2e", "build", None),
        ("bob.codex@build.acme", "bob.codex", None, "build", "acme"),
    ],
)
def test_an_address_names_agent_session_room_and_network(
    target: str, to: str | None, wish: str | None, room: str, network: str | None
) -> None:
    found = request_of(asked(target))
    assert (found.to, found.wish, found.room, found.network) == (to, wish, room, network)


@pytest.mark.parametrize(
    "target", ["komnet-gateway", "bob@", "bob@Build", "B OB@build", "/x@build", "bob/@build", "bob@build.", "a@b@build"]
)
def test_what_is_no_address_is_refused(target: str) -> None:
    with pytest.raises(Invalid):
        request_of(asked(target))


@pytest.mark.requirement("RELAY-TRUST-TAG", "RELAY-TRUST-ATTRIBUTION", "RELAY-ASK-EXPLICIT")
def test_it_becomes_an_attributed_question_to_that_agent_with_the_wished_session_as_a_tag() -> None:
    post = post_of(request_of(asked("bob/backend-2e@build")))
    assert (post.kind, post.needs, post.mentions, post.tags) == (
        "question",
        "agent",
        ("bob",),
        ("relay", "session:backend-2e"),
    )
    assert post.body.endswith("\n\n— relayed for local session lead by the komnet gateway\n")
    assert post_of(request_of(asked("@build"))).mentions == ("@room",)


@pytest.mark.requirement("RELAY-ASK-EXPLICIT", "RELAY-ASK-HUMAN")
@pytest.mark.parametrize(
    ("needs", "asks"), [(None, "agent"), ("agent", "agent"), ("human", "human"), ("Human", "human"), ("", "human")]
)
def test_only_what_is_known_to_be_an_agents_is_asked_of_one(needs: str | None, asks: str) -> None:
    assert post_of(request_of(asked("bob@build", needs))).needs == asks
