"""Objects in, push out, fetch and walk back: the whole way on real repositories, without a work tree."""

from collections.abc import Callable
from pathlib import Path

import pytest

from peerline.network.git.address import remote_address
from peerline.network.git.append import Addition, Author, append
from peerline.network.git.errors import Contended, GitFailed, RemoteFailed, RemoteUnreachable
from peerline.network.git.objects import Objects
from peerline.network.git.remote import Move, fetch, heads
from peerline.network.git.remote import push as push_moves
from peerline.network.git.repository import open_repository, seen_tips
from peerline.network.git.runner import Git
from peerline.network.git.walk import changes, contains, tree_changes
from tests.network.remotes import BareRemote

ANNA = Author("Anna", "anna@example.test")
ROOM = "room/build"
MINUTE = 60_000


@pytest.fixture
def clone(tmp_path: Path, remote: BareRemote, environ: dict[str, str]) -> Callable[[str], Git]:
    return lambda name: open_repository(tmp_path / name / "git", remote_address(remote.url), environ)


def push(git: Git, made: dict[str, str], **olds: str) -> dict[str, RemoteFailed | None]:
    """Move each branch from where it is known to be."""
    known = seen_tips(git)
    return push_moves(git, [Move(name, olds.get(name, known.get(name)), new) for name, new in made.items()])


def one(branch: str, tip: str | None, **files: bytes) -> Addition:
    return Addition(branch=branch, tip=tip, message="one", files={f"rooms/build/{k}": v for k, v in files.items()})


def test_what_one_clone_pushes_another_fetches_and_walks(clone: Callable[[str], Git], remote: BareRemote) -> None:
    here, there = clone("here"), clone("there")
    root = append(here, [one(ROOM, None)], ANNA, MINUTE)
    first = append(here, [one(ROOM, root[ROOM], a=b"eins\r\n\0", b=b"")], ANNA, MINUTE)
    assert push(here, first) == {ROOM: None}
    assert heads(there) == first == seen_tips(here)
    assert fetch(there, [ROOM]) == {}
    walked = [(change.status, change.path, change.email) for change in changes(there, first[ROOM])]
    assert walked == [("A", "rooms/build/a", "anna@example.test"), ("A", "rooms/build/b", "anna@example.test")]
    with Objects(there) as objects:
        found = dict(objects.blobs([change.oid for change in changes(there, first[ROOM])], 100))
        assert list(found.values()) == [b"eins\r\n\0", b""]
        assert objects.named(f"{first[ROOM]}:rooms/build/a", 100) == b"eins\r\n\0"
        assert objects.named(f"{first[ROOM]}:rooms/build/z", 100) is None
    assert remote.fsck() == ""


def test_of_two_who_build_on_one_tip_the_second_is_told_and_builds_anew(
    clone: Callable[[str], Git], remote: BareRemote
) -> None:
    here, there = clone("here"), clone("there")
    root = append(here, [one(ROOM, None)], ANNA, MINUTE)
    push(here, root)
    fetch(there, [ROOM])
    push(here, append(here, [one(ROOM, root[ROOM], a=b"a")], ANNA, MINUTE))
    late = push(there, append(there, [one(ROOM, root[ROOM], b=b"b")], ANNA, MINUTE))
    assert isinstance(late[ROOM], Contended)
    fetch(there, [ROOM])
    tip = seen_tips(there)[ROOM]
    assert push(there, append(there, [one(ROOM, tip, b=b"b")], ANNA, MINUTE)) == {ROOM: None}
    assert remote.files(ROOM) == {"rooms/build/a": b"a", "rooms/build/b": b"b"}


def test_several_branches_go_in_one_push_and_each_has_its_own_outcome(
    clone: Callable[[str], Git], remote: BareRemote
) -> None:
    here, there = clone("here"), clone("there")
    push(here, append(here, [one(ROOM, None, a=b"a")], ANNA, MINUTE))
    both = append(there, [one(ROOM, None, b=b"b"), one("room/other", None, c=b"c")], ANNA, MINUTE)
    outcome = push(there, both)
    assert isinstance(outcome[ROOM], Contended)
    assert outcome["room/other"] is None
    assert remote.branches() == {ROOM, "room/other"}


def test_files_that_were_added_and_then_pruned_are_walked(clone: Callable[[str], Git], remote: BareRemote) -> None:
    here = clone("here")
    root = remote.commit(ROOM, {"rooms/build/a": b"a"})
    remote.commit(ROOM, {"rooms/build/b": b"b"})
    remote.commit(ROOM, {"rooms/build/b": None, "rooms/build/a": None})
    fetch(here, [ROOM])
    walked = [(change.status, change.path) for change in changes(here, remote.tip(ROOM), root)]
    assert walked == [("A", "rooms/build/b"), ("D", "rooms/build/a"), ("D", "rooms/build/b")]


def test_a_state_is_compared_for_what_only_the_present_counts_of(
    clone: Callable[[str], Git], remote: BareRemote
) -> None:
    here = clone("here")
    old = remote.commit("main", {"agents/a.yaml": b"1", "agents/b.yaml": b"1"})
    new = remote.commit("main", {"agents/a.yaml": b"2", "agents/b.yaml": None, "x\ny": b""})
    fetch(here, ["main"])
    assert {c.path for c in tree_changes(here, old, None)} == {"agents/a.yaml", "agents/b.yaml"}
    assert {(c.status, c.path) for c in tree_changes(here, new, old)} == {
        ("M", "agents/a.yaml"),
        ("D", "agents/b.yaml"),
        ("A", "x\ny"),
    }


def test_a_blob_that_is_too_large_is_never_read(clone: Callable[[str], Git], remote: BareRemote) -> None:
    here = clone("here")
    large, small = remote.blob(b"x" * 5_000_000), remote.blob(b"small")
    remote.put_tree(ROOM, remote.tree({"large": ("100644", large), "small": ("100644", small)}))
    fetch(here, [ROOM])
    with Objects(here) as objects:
        assert dict(objects.blobs([large, small, "0" * 40], 262_144)) == {large: None, small: b"small", "0" * 40: None}


def test_a_rewritten_branch_is_fetched_and_known_to_be_no_descendant(
    clone: Callable[[str], Git], remote: BareRemote
) -> None:
    here = clone("here")
    old = remote.commit(ROOM, {"rooms/build/a": b"a"})
    grown = remote.commit(ROOM, {"rooms/build/b": b"b"})
    fetch(here, [ROOM])
    new = remote.put_tree(ROOM, remote.tree({}), orphan=True)
    assert fetch(here, [ROOM]) == {}
    assert seen_tips(here) == {ROOM: new}
    assert contains(here, grown, old)
    assert not contains(here, new, grown)
    assert not contains(here, new, "1" * 40)
    for tip, base, built_on_it in ((grown, old, True), (new, grown, False)):
        parents: set[str] = set()
        list(changes(here, tip, base, parents))
        assert (base in parents) is built_on_it


def test_a_branch_that_cannot_be_taken_keeps_no_other_away(clone: Callable[[str], Git], remote: BareRemote) -> None:
    here = clone("here")
    remote.commit(ROOM, {"rooms/build/a": b"a"})
    remote.sh("update-ref", "refs/heads/room/bad", remote.commit("room/other", {"x": b"lost"}))
    lost = remote.sh("rev-parse", "refs/heads/room/bad:x")
    (remote.path / "objects" / lost[:2] / lost[2:]).unlink()
    failed = fetch(here, [ROOM, "room/bad"])
    assert list(failed) == ["room/bad"]
    assert set(seen_tips(here)) == {ROOM}


def test_a_remote_that_is_not_there_is_said_to_be_unreachable(
    clone: Callable[[str], Git], remote: BareRemote, tmp_path: Path
) -> None:
    here = clone("here")
    remote.path.rename(tmp_path / "gone.git")
    with pytest.raises(RemoteUnreachable, match="does not answer"):
        heads(here)
    made = append(here, [one(ROOM, None, a=b"a")], ANNA, MINUTE)
    with pytest.raises(RemoteUnreachable):
        push(here, made)


def test_a_tip_that_is_not_here_is_refused_and_nothing_is_written(clone: Callable[[str], Git]) -> None:
    with pytest.raises(GitFailed):
        append(clone("here"), [one(ROOM, "1" * 40, a=b"a")], ANNA, MINUTE)
