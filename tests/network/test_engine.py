"""Two agents and a remote: what one sends the other gets, once, whatever crosses, fails or is rewritten."""

from dataclasses import replace
from pathlib import Path

import pytest

from peerline.core.identifiers import InvalidIdentifier
from peerline.core.post import AuthorKind
from peerline.core.post_delivery import Outlook
from peerline.network import posting
from peerline.network.founding import NoNetwork
from peerline.network.refusals import NotSubscribed, ReplyBudgetExceeded, RoomExists, UnknownPost, UnknownRoom
from tests.network.nodes import Node, founded, node, written
from tests.network.remotes import BareRemote


@pytest.fixture
def pair(tmp_path: Path, remote: BareRemote) -> tuple[Node, Node]:
    founded(remote, "anna", "bert")
    anna, bert = (node(tmp_path, remote, name, "build") for name in ("anna", "bert"))
    anna.sync()
    bert.sync()
    return anna, bert


@pytest.mark.requirement("RELAY-BETWEEN-MACHINES")
def test_a_post_reaches_whom_it_mentions_and_nobody_else(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert", "cora")
    anna, bert, cora = (node(tmp_path, remote, name, "build") for name in ("anna", "bert", "cora"))
    for one in (anna, bert, cora):
        one.sync()
    sent = anna.send("Fertig?", "bert")
    assert sent.delivery == "pushed"
    for one in (anna, bert, cora):
        one.sync()
    assert (anna.inbox(), bert.inbox(), cora.inbox()) == ([], ["Fertig?"], [])
    assert remote.fsck() == ""


def test_posts_that_cross_are_both_delivered(pair: tuple[Node, Node]) -> None:
    anna, bert = pair
    for number in range(5):
        anna.send(f"a{number}", "bert")
        assert bert.send(f"b{number}", "anna").delivery == "pushed"  # on a tip that bert has not examined
    anna.sync()
    bert.sync()
    assert sorted(bert.inbox()) == [f"a{number}" for number in range(5)]
    assert sorted(anna.inbox()) == [f"b{number}" for number in range(5)]


def test_what_waits_for_a_remote_that_is_away_goes_out_once_when_it_is_back(
    pair: tuple[Node, Node], remote: BareRemote, tmp_path: Path
) -> None:
    anna, bert = pair
    remote.path.rename(tmp_path / "away")
    sent = [anna.send(f"post {number}", "bert") for number in range(3)]
    assert {one.delivery for one in sent} == {"queued"}
    assert all("does not answer" in (one.reason or "") for one in sent)
    report = anna.engine.sync()
    assert report.failed is not None
    assert (report.queued, anna.engine.health().degraded) == (3, True)
    (tmp_path / "away").rename(remote.path)
    anna.sync()
    anna.sync()
    bert.sync()
    assert bert.inbox() == ["post 0", "post 1", "post 2"]
    assert len(remote.files("room/build")) == 3
    assert not anna.engine.health().degraded


def test_one_id_that_two_processes_queue_at_the_same_moment_goes_out_once(pair: tuple[Node, Node]) -> None:
    ann, ben = pair
    clone = ann.engine._clone
    post = posting.compose(clone, written("hello", ben.agent), ann.engine.new_id(), clone.around.now())
    assert posting.queue(clone, post) == posting.queue(clone, post)
    assert [one.id for one in ann.engine.waiting()] == [post.id]


def test_a_room_that_is_not_followed_is_refused_and_nothing_is_written(pair: tuple[Node, Node]) -> None:
    anna, _ = pair
    with pytest.raises(NotSubscribed, match="komnet room join other"):
        anna.send("hm", room="other")
    assert anna.engine.sync().queued == 0


def test_draining_takes_out_what_was_named_and_nothing_else(pair: tuple[Node, Node]) -> None:
    anna, bert = pair
    first = anna.send("first", "bert").post.id
    anna.send("second", "bert")
    person = anna.send("for a person", "bert", needs="human").post.id
    bert.sync()
    drained = bert.engine.drain([first, person])
    assert [item.post.id for item in drained.drained] == [first]
    assert drained.awaiting_human == (person,)
    assert bert.inbox() == ["second", "for a person"]
    assert bert.engine.drain([first]).stale == (first,)
    with pytest.raises(UnknownPost):
        bert.engine.drain(["01ARZ3NDEKTSV4RRFFQ69G5FAV"])


def test_an_empty_repository_becomes_a_network_and_a_second_agent_joins_it(tmp_path: Path, remote: BareRemote) -> None:
    anna, bert = node(tmp_path, remote, "anna"), node(tmp_path, remote, "bert")
    assert anna.engine.initialise()
    assert not anna.engine.initialise()
    assert not bert.engine.initialise()
    view = anna.engine.create_room("build", title="The build")
    assert (view.room.title, view.room.created_by, view.followed, view.materialized) == (
        "The build",
        "anna",
        True,
        True,
    )
    assert bert.engine.join("build").failed is None
    assert anna.send("hello", "bert", "cora").forecast == {"bert": Outlook.REACHES, "cora": Outlook.UNKNOWN}
    bert.engine.leave("build")
    assert anna.send("hello again", "bert").forecast == {"bert": Outlook.REACHES}  # as anna knew it
    anna.sync()
    assert anna.send("still there?", "bert").forecast == {"bert": Outlook.MISSES}
    bert.engine.join("build")
    bert.sync()
    assert bert.inbox() == ["hello", "hello again", "still there?"]
    assert [known.card.id for known in bert.engine.cards()] == ["anna", "bert"]
    assert all(item.verified for item in bert.engine.inbox().items)
    assert sorted(remote.files("main")) == [
        ".komnet/net.yaml",
        "agents/anna.yaml",
        "agents/bert.yaml",
        "rooms/build/room.yaml",
        "rooms/komnet/profiles/anna.md",
        "rooms/komnet/profiles/bert.md",
    ]
    assert remote.fsck() == ""
    subjects = remote.sh("log", "--format=%s", "refs/heads/main").splitlines()
    assert subjects[-1] == "komnet: initialise network"
    assert remote.sh("log", "--format=%s", "--reverse", "refs/heads/room/build").splitlines()[:2] == [
        "komnet: open room build",
        "komnet: msg in build",
    ]


def test_a_room_is_made_once_and_its_name_checked(tmp_path: Path, remote: BareRemote) -> None:
    anna = node(tmp_path, remote, "anna")
    anna.engine.initialise()
    anna.engine.create_room("build")
    with pytest.raises(RoomExists, match="komnet room join build"):
        anna.engine.create_room("build")
    for name in ("main", "Build", "../x", "a b", ""):
        with pytest.raises(InvalidIdentifier):
            anna.engine.create_room(name)
    with pytest.raises(UnknownRoom, match="komnet room create nowhere"):
        anna.engine.join("nowhere")


def test_a_repository_with_other_things_in_it_is_not_taken_for_a_network(tmp_path: Path, remote: BareRemote) -> None:
    remote.commit("main", {"README.md": b"code"})
    before = remote.tip("main")
    with pytest.raises(NoNetwork, match="an empty repository"):
        node(tmp_path, remote, "anna").engine.initialise()
    assert remote.tip("main") == before


@pytest.mark.requirement("RELAY-THREAD-INHERITED")
def test_an_answer_resolves_the_item_for_all_it_was_asked_of(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert", "cora")
    anna, bert, cora = (node(tmp_path, remote, name, "build") for name in ("anna", "bert", "cora"))
    question = anna.send("Who?", "bert", "cora", kind="question", needs="agent").post
    human = anna.send("May we?", kind="question", needs="human").post
    bert.sync()
    cora.sync()
    assert bert.inbox() == cora.inbox() == ["Who?", "May we?"]
    bert.send("I", "anna", kind="answer", in_reply_to=question.id)
    bert.send("no person", "anna", kind="answer", in_reply_to=human.id)
    assert bert.inbox() == ["May we?"]
    cora.sync()
    assert cora.inbox() == ["May we?"]
    cora.engine.send(replace(written("yes", "anna", kind="answer", in_reply_to=human.id), author=AuthorKind.HUMAN))
    bert.sync()
    assert bert.inbox() == cora.inbox() == []
    anna.sync()
    answer = next(item.post for item in anna.engine.inbox().items if item.post.body == "I\n")
    assert answer.thread == question.thread
    trace = anna.engine.trace(question.id)
    assert [(one.agent, one.answered) for one in trace.recipients] == [("bert", True), ("cora", False)]


def test_a_room_is_read_in_thread_order_searched_and_kept(pair: tuple[Node, Node]) -> None:
    anna, bert = pair
    first = anna.send("first thread").post
    anna.send("second thread: the Flaky tests")
    bert.sync()
    bert.send("reply to the first", in_reply_to=first.id)
    anna.sync()
    assert [one.post.body for one in anna.engine.read("build")] == [
        "first thread\n",
        "reply to the first\n",
        "second thread: the Flaky tests\n",
    ]
    assert [one.post.body for one in anna.engine.read("build", limit=1)] == ["second thread: the Flaky tests\n"]
    assert len(anna.engine.read("build", thread=first.id)) == 2
    assert [one.post.body for one in bert.engine.search("flak test")] == ["second thread: the Flaky tests\n"]
    assert bert.engine.search('" AND OR NEAR( *') == []
    assert [one.post.body for one in anna.engine.history("build", limit=1)] == ["reply to the first\n"]


def test_the_reply_budget_is_kept_and_a_person_renews_it(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert")
    remote.commit("main", {"rooms/build/room.yaml": b"v: 1\nid: build\npolicy:\n  reply_budget: 3\n"})
    anna = node(tmp_path, remote, "anna", "build")
    anna.sync()
    root = anna.send("root").post
    anna.send("one", in_reply_to=root.id)
    with pytest.raises(ReplyBudgetExceeded, match="a person must speak"):
        anna.send("two", in_reply_to=root.id)
    assert len(anna.engine.read("build")) == 2
    anna.engine.send(replace(written("go on", in_reply_to=root.id), author=AuthorKind.HUMAN))
    anna.send("three", in_reply_to=root.id)


def test_who_mentions_us_where_we_are_not_is_found(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert", rooms=("build", "other"))
    anna, bert = node(tmp_path, remote, "anna", "build", "other"), node(tmp_path, remote, "bert", "build")
    anna.sync()
    anna.send("bert, are you here?", "bert", room="other")
    anna.send("for all", "@room", room="other")
    bert.sync()
    assert bert.inbox() == []
    assert [post.body for post in bert.engine.mentions()] == ["bert, are you here?\n"]


def test_a_receipt_says_what_was_shown_and_costs_no_push_of_its_own(
    pair: tuple[Node, Node], remote: BareRemote
) -> None:
    anna, bert = pair
    sent = anna.send("read this", "bert").post
    bert.sync()
    before = remote.tip("main")
    bert.inbox()
    bert.engine.drain([sent.id])
    assert remote.tip("main") == before
    bert.sync()
    anna.sync()
    (receipt,) = anna.engine.receipts("build")
    assert (receipt.agent, receipt.read_through, receipt.total) == ("bert", sent.id, 1)
    tip = remote.tip("main")
    bert.inbox()
    bert.sync()
    assert remote.tip("main") == tip
