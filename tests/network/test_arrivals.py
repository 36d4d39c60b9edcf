"""What is found in a room's history: seals of others, forged and odd posts, and what strangers did to old ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from peerline.core.ulid import Ulids
from peerline.network.git import repository
from peerline.network.git.address import remote_address
from peerline.network.git.remote import fetch
from peerline.network.git.repository import open_repository
from peerline.network.reports import SyncReport
from peerline.wire.post_file import post_path, write_post
from tests.network.nodes import Node, founded, node, now, written
from tests.network.remotes import BareRemote
from tests.network.sealing import seal


@pytest.fixture
def pair(tmp_path: Path, remote: BareRemote) -> tuple[Node, Node]:
    founded(remote, "anna", "bert")
    anna, bert = (node(tmp_path, remote, name, "build") for name in ("anna", "bert"))
    anna.sync()
    bert.sync()
    return anna, bert


def file_of(sender: str, body: str, *mentions: str, **fields: str) -> tuple[str, bytes]:
    """A post as another program would have written it."""
    import os

    post = written(body, *mentions, **fields).post(id=Ulids(now, os.urandom).next(), sender=sender, ts=now())
    return post_path(post), write_post(post)


def test_an_agent_that_was_away_during_a_seal_gets_all_that_was_addressed_to_it(
    pair: tuple[Node, Node], remote: BareRemote
) -> None:
    anna, bert = pair
    for number in range(5):
        anna.send(f"for bert {number}", "bert")
    anna.send("for nobody")
    gone = seal(remote, "build")
    assert len(gone) == 6
    report = bert.engine.sync()
    assert bert.inbox() == [f"for bert {number}" for number in range(5)]
    assert report.anomalies == []
    assert bert.engine.read("build") == []
    assert len(bert.engine.history("build")) == 6
    assert len(bert.engine.search("for bert")) == 5
    assert anna.engine.sync().anomalies == []
    assert anna.engine.read("build") == []
    anna.send("after the seal", "bert")
    bert.sync()
    assert "after the seal" in bert.inbox()


def test_who_comes_after_a_seal_is_not_handed_what_was_sealed_before(
    pair: tuple[Node, Node], remote: BareRemote, tmp_path: Path
) -> None:
    anna, _ = pair
    for number in range(3):
        anna.send(f"for all {number}", "@room")
    seal(remote, "build", keep=1)
    cora = node(tmp_path, remote, "cora", "build")
    cora.sync()
    assert cora.inbox() == ["for all 2"]
    assert len(cora.engine.history("build")) == 3


def test_a_post_that_is_deleted_without_a_seal_stays_here_and_is_told(
    pair: tuple[Node, Node], remote: BareRemote
) -> None:
    anna, bert = pair
    anna.send("inconvenient", "bert")
    bert.sync()
    (path,) = remote.files("room/build")
    remote.commit("room/build", {path: None})
    report = bert.engine.sync()
    assert [(one.path, one.status) for one in report.anomalies] == [(path, "D")]
    assert bert.inbox() == ["inconvenient"]
    assert len(bert.engine.read("build")) == 1
    assert bert.engine.sync().anomalies == []


def test_a_post_that_is_changed_keeps_its_first_words_here_and_is_told(
    pair: tuple[Node, Node], remote: BareRemote
) -> None:
    anna, bert = pair
    anna.send("pay 10", "bert")
    bert.sync()
    ((path, data),) = remote.files("room/build").items()
    remote.commit("room/build", {path: data.replace(b"pay 10", b"pay 10000")})
    report = bert.engine.sync()
    assert [(one.path, one.status) for one in report.anomalies] == [(path, "M")]
    assert bert.inbox() == ["pay 10"]


def test_a_post_under_anothers_name_is_shown_as_not_proved(pair: tuple[Node, Node], remote: BareRemote) -> None:
    _, bert = pair
    path, data = file_of("anna", "this is anna, honestly", "bert")
    remote.commit("room/build", {path: data}, email="mallory@example.test")
    report = bert.engine.sync()
    assert [(one.sender, one.room) for one in report.unverified] == [("anna", "build")]
    (item,) = bert.engine.inbox().items
    assert (item.verified, item.failed) == (False, True)
    assert "mallory@example.test" in item.reason


def test_a_post_under_our_own_name_that_we_did_not_write_is_delivered_to_us(
    pair: tuple[Node, Node], remote: BareRemote
) -> None:
    _, bert = pair
    path, data = file_of("bert", "I resign")
    remote.commit("room/build", {path: data}, email="mallory@example.test")
    bert.sync()
    assert bert.inbox() == ["I resign"]


def test_a_second_post_with_a_known_id_hides_neither_and_is_told(pair: tuple[Node, Node], remote: BareRemote) -> None:
    anna, bert = pair
    anna.send("the first", "bert")
    bert.sync()
    ((path, data),) = remote.files("room/build").items()
    twin = path.replace("-anna-", "-mallory-")
    remote.commit(
        "room/build", {twin: data.replace(b"from: anna", b"from: mallory").replace(b"the first", b"the twin")}
    )
    report = bert.engine.sync()
    assert [(one.path, one.status) for one in report.anomalies] == [(twin, "duplicate")]
    assert bert.inbox() == ["the first"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path, data: {path: b"no header at all"},
        lambda path, data: {path: data.replace(b"v: 1", b"v: 2")},
        lambda path, data: {path: data.replace(b"room: build", b"room: other")},
        lambda path, data: {path: b"---\na: &a [*a]\n---\n"},
        lambda path, data: {path: b"---\n" + b"[" * 20_000},
        lambda path, data: {path: b"x" * 30_000_000},
        lambda path, data: {path: data.replace(b"from: mallory", b"from: mallory\nfrom: anna")},
    ],
)
def test_one_bad_file_is_told_once_and_hides_no_other(
    pair: tuple[Node, Node], remote: BareRemote, spoil: Callable[[str, bytes], dict[str, bytes | None]]
) -> None:
    anna, bert = pair
    remote.commit("room/build", spoil(*file_of("mallory", "spoilt", "bert")))
    anna.sync()
    anna.send("all well", "bert")
    report: SyncReport = bert.engine.sync()
    assert len(report.unreadable) == 1
    assert report.failed is None
    assert bert.inbox() == ["all well"]
    again = bert.engine.sync()
    assert again.unreadable == []
    assert [one.kind for one in bert.engine.troubles()] == ["unreadable"]


def test_a_clock_that_is_wrong_neither_hides_nor_pins_a_post(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert", "cora")
    year = 365 * 86_400_000
    anna = node(tmp_path, remote, "anna", "build", now=lambda: now() + 73 * year)
    bert = node(tmp_path, remote, "bert", "build", now=lambda: now() - 10 * year)
    cora = node(tmp_path, remote, "cora", "build")
    cora.sync()
    anna.send("from the year 2099", "cora")
    cora.sync()
    bert.sync()
    bert.send("from ten years ago", "cora")
    bert.send("and again", "cora")
    cora.sync()
    assert sorted(cora.inbox()) == ["and again", "from ten years ago", "from the year 2099"]
    assert [one.post.body for one in cora.engine.history("build", limit=2)] == ["from ten years ago\n", "and again\n"]


def test_a_joined_line_of_history_is_walked_on_both_sides(pair: tuple[Node, Node], remote: BareRemote) -> None:
    """Another client may merge; whatever way a file came in, it is seen."""
    _, bert = pair
    base = remote.tip("room/build")
    left_path, left = file_of("anna", "left", "bert")
    right_path, right = file_of("anna", "right", "bert")
    inside_path, inside = file_of("anna", "only in the merge", "bert")
    one = remote.commit("room/build", {left_path: left})
    remote.sh("update-ref", "refs/heads/room/build", base)
    other = remote.commit("room/build", {right_path: right})
    tree = remote.nested(
        {p: ("100644", remote.blob(d)) for p, d in ((left_path, left), (right_path, right), (inside_path, inside))}
    )
    merge = remote.sh("commit-tree", tree, "-p", other, "-p", one, "-m", "merge")
    remote.sh("update-ref", "refs/heads/room/build", merge)
    bert.sync()
    assert sorted(bert.inbox()) == ["left", "only in the merge", "right"]


def test_a_card_that_comes_after_its_agents_posts_proves_them(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "bert")
    anna, bert = node(tmp_path, remote, "anna", "build"), node(tmp_path, remote, "bert", "build")
    anna.send("am I new here?", "bert")
    bert.sync()
    assert [item.failed for item in bert.engine.inbox().items] == [True]
    anna.sync()
    anna.engine.initialise()
    bert.sync()
    assert [(item.verified, item.failed) for item in bert.engine.inbox().items] == [(True, False)]


def test_many_small_packs_are_joined(
    pair: tuple[Node, Node], remote: BareRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "PACKS", 8)
    anna, bert = pair
    for number in range(10):
        remote.commit("room/build", dict([file_of("anna", f"post {number}")]))
        remote.sh("update-ref", "refs/heads/room/build", remote.tip("room/build"))
        fetch(open_repository(bert.folder / "networks" / "net" / "git", remote_address(remote.url), {}), ["room/build"])
    packs = bert.folder / "networks" / "net" / "git" / "objects" / "pack"
    assert len(list(packs.glob("*.pack"))) > 8
    bert.sync()
    assert len(list(packs.glob("*.pack"))) < 6
    assert len(bert.engine.read("build", limit=None)) == 10
    anna.sync()
    anna.send("and on", "bert")
    bert.sync()
    assert bert.inbox() == ["and on"]
