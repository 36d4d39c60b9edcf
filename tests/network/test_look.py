"""The look that finds nothing does no more than ask; whatever moved or waits is never taken for nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from peerline.network.clone import Clone, Surroundings
from peerline.network.git.remote import fetch, heads
from peerline.network.look import look
from peerline.network.place import Identity, Place
from tests.network.nodes import Node, environment, founded, node, written
from tests.network.remotes import BareRemote

Taken = list[dict[str, str]]
Act = Callable[[BareRemote, Node, Node], object]


@pytest.fixture
def two(tmp_path: Path) -> tuple[BareRemote, Node, Node]:
    """anna and bert follow `build`, and not `other`; both have taken in all there is."""
    remote = founded(BareRemote(tmp_path / "remote.git"), "anna", "bert", rooms=("build", "other"))
    anna, bert = node(tmp_path, remote, "anna", "build", "other"), node(tmp_path, remote, "bert", "build")
    anna.send("hello", "bert")
    anna.sync()
    bert.sync()
    return remote, anna, bert


def looked(remote: BareRemote, one: Node, now: int = 2_000_000_000_000) -> tuple[str | None, Taken, Clone]:
    place = Place(folder=one.folder / "networks" / "net", remote=remote.url, network="net")
    around = Surroundings(
        now=lambda: now, entropy=lambda size: b"\0" * size, environ=environment(one.folder, one.agent)
    )
    clone, taken = Clone(place, Identity(agent=one.agent, display_name="", human=""), around), Taken()
    return look(clone, one.rooms.get(), taken.append, wait_lock=5.0), taken, clone


def test_where_nothing_moved_nothing_is_taken_and_the_view_is_as_of_now(two: tuple[BareRemote, Node, Node]) -> None:
    remote, _, bert = two
    failed, taken, _ = looked(remote, bert, now=2_000_000_000_000)
    assert (failed, taken) == (None, [])
    assert bert.engine.health().last_sync_at == 2_000_000_000_000
    assert not bert.engine.health().degraded


def _half_fetched(remote: BareRemote, anna: Node, bert: Node) -> None:
    """As after a kill between the fetch and the examination."""
    anna.send("half way", "bert")
    _, _, clone = looked(remote, bert)
    fetch(clone.git, list(heads(clone.git)))
    clone.file.write(lambda tx: tx.branches.set("room/build", head=remote.tip("room/build")))


MOVES: dict[str, Act] = {
    "a post in a followed room": lambda remote, anna, bert: anna.send("news", "bert"),
    "a post in another room": lambda remote, anna, bert: anna.send("news", room="other"),
    "a new room": lambda remote, anna, bert: anna.engine.create_room("third"),
    "a card on main": lambda remote, anna, bert: anna.engine.publish_card(announce=True),
    "a room that is gone": lambda remote, anna, bert: remote.sh("update-ref", "-d", "refs/heads/room/other"),
    "a post of ours that waits": lambda remote, anna, bert: bert.engine.send(written("wait"), push=False),
    "a receipt of ours that waits": lambda remote, anna, bert: bert.engine.drain(
        [item.post.id for item in bert.engine.inbox().items]
    ),
    "what was fetched and not examined": _half_fetched,
    "a room that is followed anew": lambda remote, anna, bert: bert.rooms.add("other"),
}


@pytest.mark.parametrize("act", MOVES.values(), ids=MOVES)
def test_whatever_moved_or_waits_is_taken(two: tuple[BareRemote, Node, Node], act: Act) -> None:
    remote, anna, bert = two
    act(remote, anna, bert)
    failed, taken, _ = looked(remote, bert)
    assert failed is None
    assert taken == [{branch: remote.tip(branch) for branch in remote.branches()}]
    bert.sync()
    assert looked(remote, bert)[:2] == (None, [])


def test_a_remote_that_is_away_is_told_and_one_that_is_back_clears_it(two: tuple[BareRemote, Node, Node]) -> None:
    remote, _, bert = two
    away = remote.path.rename(remote.path.with_suffix(".away"))
    failed, taken, _ = looked(remote, bert)
    assert failed is not None
    assert taken == []
    assert bert.engine.health().reason == failed
    assert bert.engine.away()
    away.rename(remote.path)
    assert looked(remote, bert)[:2] == (None, [])
    assert bert.engine.health().reason is None
    assert not bert.engine.away()


def test_many_packs_are_joined_also_where_nothing_moves(two: tuple[BareRemote, Node, Node]) -> None:
    remote, _, bert = two
    for number in range(60):
        bert.send(f"post {number}")
    assert len(looked(remote, bert)[1]) == 1
    bert.sync()
    assert looked(remote, bert)[1] == []
