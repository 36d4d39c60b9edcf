"""The files that a gateway and the sessions share (spec/network.md 9)."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from peerline.gateway.reply_file import ReplyBox, UnknownReply, read_name, reply_name
from peerline.gateway.request_file import Request, UnreadableRequest, queue_request, read_request
from peerline.gateway.routes_file import PendingRoute, RoutesFile, read_routes, write_routes

ID = "01M8NYPW4ZVHP2MGRPMBK8RQ01"
GOOD = {"session": "backend-2e", "replyKey": "42", "room": "build", "body": "hi", "queuedAt": "2026-08-12T09:14:03Z"}
ENTROPY = bytes


@pytest.mark.requirement("RELAY-CLIENT-WRITES-FILE")
def test_a_request_is_queued_whole_private_and_sortable(tmp_path: Path) -> None:
    request = Request(session="backend-2e", reply_key="42", room="build", body="hi", queued_at="")
    names = [queue_request(tmp_path, request, now=now, entropy=ENTROPY) for now in (1_000, 2_000)]
    assert names == sorted(names)
    assert stat.S_IMODE((tmp_path / names[0]).stat().st_mode) == 0o600
    assert read_request((tmp_path / names[0]).read_bytes()).body == "hi"
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.requirement("RELAY-TRUST-NO-FORCE-UNSAFE", "RELAY-TRUST-NO-AS-HUMAN", "RELAY-NAMES-ARE-CLAIMS")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"forceUnsafe": "x"}, "has no 'forceUnsafe'"),
        ({"authorKind": "human"}, "has no 'authorKind'"),
        ({"session": ""}, "session must be a text"),
        ({"session": "a\nb"}, "printable"),
        ({"replyKey": "../x"}, "replyKey must be digits"),
        ({"room": "Main"}, "no room id"),
        ({"room": "main"}, "reserved"),
        ({"body": 7}, "body must be a text"),
        ({"needs": "maybe"}, "needs must be one of"),
        ({"to": "@room"}, "to must be an agent's id"),
    ],
)
def test_a_request_that_cannot_be_taken_names_the_member(change: dict[str, Any], says: str) -> None:
    with pytest.raises(UnreadableRequest, match=says):
        read_request(json.dumps({**GOOD, **change}).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_request_is_no_crash(data: bytes) -> None:
    with pytest.raises(UnreadableRequest):
        read_request(data)


@pytest.mark.requirement("RELAY-REPLY-NAME-CHARACTERS", "RELAY-HOOK-READS-NAME")
@pytest.mark.parametrize(
    ("room", "sender"), [("build", "bob"), ("a--b", "bob"), ("build", "a--b"), ("a--b", "c--d.e_f")]
)
def test_a_replys_name_gives_its_parts_back(room: str, sender: str) -> None:
    found = read_name(reply_name(ID, room, sender))
    assert found is not None
    assert f"{found.room}--{found.sender}" == f"{room}--{sender}"
    assert found.id == ID


@pytest.mark.parametrize(
    "name", ["x.md", f"{ID}.md", f"{ID}--main--bob.md", f"../{ID}--a--b.md", f"{ID}--a--b.txt", f"{ID}--A--b.md"]
)
def test_other_names_are_no_replies(name: str) -> None:
    assert read_name(name) is None


def test_a_reply_is_read_marked_once_and_never_overwritten(tmp_path: Path) -> None:
    box = ReplyBox(tmp_path, "42")
    file = box.put(ID, "build", "bob", "the text").name
    assert [one.file for one in box.waiting()] == [file]
    assert box.read(file) == "the text"
    box.mark_delivered(file)
    assert (box.waiting(), box.taken(file)) == ([], True)
    box.put(ID, "build", "bob", "by a gateway that was killed before it noted the first")
    assert box.waiting() == [], "what was taken is not announced again"
    (box.pending / file).write_text("another")
    with pytest.raises(UnknownReply, match="delivered before"):
        box.mark_delivered(file)
    with pytest.raises(UnknownReply):
        box.read("../../etc/passwd")
    with pytest.raises(ValueError, match="digits"):
        ReplyBox(tmp_path, "../x")


@pytest.mark.requirement(
    "RELAY-ROUTES-FILE",
    "RELAY-ROUTES-VERSION",
    "RELAY-ROUTES-SUBSCRIPTIONS",
    "RELAY-ROUTES-PENDING-THREAD",
    "RELAY-ROUTES-PENDING-SESSION",
    "RELAY-ROUTES-PENDING-ASKED",
    "RELAY-ROUTES-PENDING-SUMMARY",
)
def test_routes_are_written_in_the_seeds_shape_and_read_again(tmp_path: Path) -> None:
    """Cites: routes.json of the seed."""
    pending = PendingRoute(
        thread=ID, session="backend-2e", asked="2026-08-12T09:14:03Z", summary="flaky", reply_key="42"
    )
    routes = RoutesFile(subscriptions={"backend-2e": ("build", "release")}, pending=(pending,))
    write_routes(tmp_path / "routes.json", routes)
    assert json.loads((tmp_path / "routes.json").read_text()) == {
        "version": 1,
        "subscriptions": [{"session": "backend-2e", "rooms": ["build", "release"]}],
        "pending": [
            {
                "thread": ID,
                "session": "backend-2e",
                "asked": "2026-08-12T09:14:03Z",
                "summary": "flaky",
                "replyKey": "42",
            }
        ],
    }
    assert read_routes(tmp_path / "routes.json") == routes


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version":2}', '{"version":1,"pending":[{"thread":7},3]}'])
def test_routes_that_cannot_be_read_are_none_or_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "routes.json").write_text(text)
    found = read_routes(tmp_path / "routes.json")
    assert found is None or found.pending == ()
