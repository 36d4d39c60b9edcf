"""The relay with a real repository between two machines (seed relay, design/gateway.md)."""

import json
from pathlib import Path

import pytest

from peerline.core.fence import unrender
from peerline.gateway.journal import WAITED_MS
from tests.gateway.stage import KEY, Ended, Hub, Stage, stage
from tests.network.remotes import BareRemote


@pytest.fixture
def here(tmp_path: Path, remote: BareRemote) -> Stage:
    return stage(tmp_path, remote)


def question(here: Stage) -> str:
    """What bob got of the request; its id."""
    here.bob.sync()
    (item,) = [one for one in here.bob.engine.arrived_after(0) if one.post.kind == "question"]
    return item.post.id


def answered(here: Stage, body: str = "yes, since monday") -> str:
    asked = question(here)
    sent = here.bob.send(body, "alice", kind="answer", in_reply_to=asked, thread=asked)
    here.alice.sync()
    return sent.post.id


@pytest.mark.requirement(
    "RELAY-WAY-FILE",
    "RELAY-WAY-FILE-CLAIM",
    "RELAY-TRUST-ATTRIBUTION",
    "RELAY-TRUST-TAG",
    "RELAY-SEND-FOOTER",
    "RELAY-SEND-THREAD-RECORDED",
    "RELAY-THREAD-RECORDED",
    "RELAY-CLIENT-KNOWS-NOTHING",
    "RELAY-GATEWAY-IDENTITY",
)
def test_a_request_file_becomes_one_attributed_question_in_the_room(here: Stage) -> None:
    stem, relay = here.ask(), here.relay()
    relay.step()
    relay.step()
    here.bob.sync()
    (item,) = here.bob.engine.arrived_after(0)
    post = item.post
    assert (post.kind, post.needs, post.mentions, post.tags) == ("question", "agent", ("@room",), ("relay",))
    assert post.body == ("does it fail for you too?\n\n— relayed for local session backend-2e by the komnet gateway\n")
    assert here.result(stem) == {
        "state": "sent",
        "messageId": post.id,
        "thread": post.thread,
        "code": None,
        "detail": "pushed",
    }
    assert json.loads(here.place.routes.read_text())["pending"][0]["thread"] == post.thread


@pytest.mark.requirement(
    "RELAY-REPLY-FILE", "RELAY-REPLY-FILE-TOLD", "RELAY-TRUST-DATA", "RELAY-ROUTE-THREAD", "RELAY-UNREACHABLE-IS-NORMAL"
)
def test_an_answer_reaches_the_session_that_asked_as_a_fenced_file_when_it_cannot_be_pushed(here: Stage) -> None:
    stem, relay = here.ask(), here.relay()
    relay.step()
    answer = answered(here)
    relay.step()
    (waiting,) = here.box().waiting()
    assert (waiting.id, waiting.room, waiting.sender) == (answer, "build", "bob")
    assert unrender(here.box().read(waiting.file)) == "yes, since monday"
    relay.step()
    assert [id for id, _ in here.told] == [answer]
    assert here.result(stem)["state"] == "answered"
    assert json.loads(here.place.routes.read_text())["pending"] == []


@pytest.mark.requirement("RELAY-TRUST-NO-DRAIN", "RELAY-TRUST-DRAIN-AFTER", "RELAY-DRAIN-RE-READ")
def test_an_item_is_drained_only_when_its_file_was_taken_and_by_its_own_id(here: Stage) -> None:
    here.ask()
    relay = here.relay()
    relay.step()
    answered(here)
    relay.step()
    here.bob.send("something else", "alice")
    here.alice.sync()
    relay.step()
    assert len(here.pending()) == 2
    (waiting,) = here.box().waiting()
    here.box().mark_delivered(waiting.file)
    relay.step()
    relay.step()
    assert here.pending() == ["something else"]


@pytest.mark.requirement("RELAY-REPLY-FILE-OR-PUSH", "RELAY-NO-FALSE-DELIVERY", "RELAY-WAY-ORDER")
def test_a_session_that_is_here_is_pushed_to_and_gets_no_file(tmp_path: Path, remote: BareRemote) -> None:
    hub = Hub(here={"backend-2e"})
    here = stage(tmp_path, remote, hub)
    here.ask()
    relay = here.relay()
    relay.step()
    answer = answered(here)
    relay.step()
    relay.step()
    ((session, text),) = hub.pushed.values()
    assert session == "backend-2e"
    assert unrender(text) == "yes, since monday"
    assert here.box().waiting() == []
    assert here.pending() == ["yes, since monday"], "pushed is not confirmed"
    hub.stands[f"msg_net:{answer}"] = "confirmed"
    relay.step()
    relay.step()
    assert here.pending() == []


def test_a_push_that_was_never_taken_becomes_a_file(tmp_path: Path, remote: BareRemote) -> None:
    hub = Hub(here={"backend-2e"})
    here = stage(tmp_path, remote, hub)
    here.ask()
    relay = here.relay()
    relay.step()
    answer = answered(here)
    relay.step()
    hub.stands[f"msg_net:{answer}"] = "gone"
    relay.step()
    assert [one.id for one in here.box().waiting()] == [answer]
    assert len(here.pending()) == 1


@pytest.mark.requirement("RELAY-ROUTE-ROOM")
def test_a_room_that_a_session_serves_comes_to_it(tmp_path: Path, remote: BareRemote) -> None:
    hub = Hub(here={"ops"})
    here = stage(tmp_path, remote, hub)
    relay = here.relay()
    here.journal().write(lambda tx: tx.subscribe("ops", "build", default=False))
    here.bob.send("the build is red", "@room")
    here.alice.sync()
    relay.step()
    assert [session for session, _ in hub.pushed.values()] == ["ops"]


@pytest.mark.requirement("RELAY-ROUTE-HOLD", "RELAY-REPLY-FILE-TOLD")
def test_what_is_nobodys_is_held_and_shown_and_stays(here: Stage) -> None:
    relay = here.relay()
    sent = here.bob.send("for whom?", "alice")
    here.alice.sync()
    relay.step()
    relay.step()
    assert here.states() == {sent.post.id: "held"}
    assert here.told == [(sent.post.id, "no session here asked in this thread or serves #build")]
    assert here.pending() == ["for whom?"]


@pytest.mark.requirement(
    "RELAY-ROUTE-HUMAN", "RELAY-ROUTE-FIRST-MATCH", "RELAY-TRUST-HUMAN-GATEWAY", "RELAY-TRUST-HUMAN-SHOWN"
)
def test_what_needs_a_human_goes_to_the_person_also_in_a_thread_that_a_session_opened(
    tmp_path: Path, remote: BareRemote
) -> None:
    hub = Hub(here={"backend-2e", "ops"})
    here = stage(tmp_path, remote, hub)
    here.ask()
    relay = here.relay()
    here.journal().write(lambda tx: tx.subscribe("ops", "build", default=True))
    relay.step()
    asked = question(here)
    sent = here.bob.send("may we refund?", "alice", needs="human", in_reply_to=asked, thread=asked)
    here.alice.sync()
    for _ in range(3):
        relay.step()
    assert here.states()[sent.post.id] == "waits-for-person"
    assert hub.pushed == {}
    assert here.box().waiting() == []
    assert here.pending() == ["may we refund?"]
    assert [id for id, _ in here.told] == [sent.post.id]


@pytest.mark.requirement("RELAY-SEND-SUBSCRIBED-ONLY", "RELAY-SCANNER-REPORTED")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"room": "other"}, "NOT_SUBSCRIBED"),
        ({"body": "key AKIAABCDEFGHIJKLMNOP please"}, "SECRET_DETECTED"),
        ({"network": "nowhere"}, "UNKNOWN_NETWORK"),
    ],
)
def test_a_request_that_cannot_be_sent_is_told_so_with_its_code(here: Stage, change: dict[str, str], code: str) -> None:
    stem, relay = here.ask(**change), here.relay()
    relay.step()
    result = here.result(stem)
    assert (result["state"], result["code"], result["messageId"]) == ("refused", code, None)
    assert "AKIA" not in result["detail"]
    here.bob.sync()
    assert here.bob.inbox() == []


@pytest.mark.requirement("RELAY-TRUST-REFUSED-STAYS", "RELAY-TRUST-NO-LAUNDERING")
def test_words_that_were_refused_do_not_go_out_by_way_of_another_session(here: Stage) -> None:
    relay = here.relay()
    here.ask("key AKIAABCDEFGHIJKLMNOP please")
    relay.step()
    stem = here.ask("key  AKIAABCDEFGHIJKLMNOP\nplease", session="other")
    relay.step()
    assert here.result(stem)["code"] == "REFUSED_BEFORE"


def test_a_request_that_nobody_answers_expires_and_leaves_the_routes(here: Stage) -> None:
    stem, relay = here.ask(), here.relay()
    relay.step()
    here.time = WAITED_MS + 60_000
    relay.step()
    relay.step()
    assert here.result(stem)["state"] == "expired"
    assert json.loads(here.place.routes.read_text())["pending"] == []


def test_subscriptions_of_another_gateway_are_taken_over(here: Stage) -> None:
    here.place.make()
    here.place.routes.write_text(
        json.dumps({"version": 1, "subscriptions": [{"session": "ops", "rooms": ["build"]}], "pending": []})
    )
    here.relay().step()
    assert here.journal().read(lambda tx: tx.subscriptions()) == [("ops", "build", False)]


STEPS = (
    *("claimed", "sending", "sent", "told"),
    *("arrived", "routed", "pushing", "filed", "confirmed", "drained"),
)


@pytest.mark.parametrize("ends_at", STEPS)
def test_a_gateway_that_is_killed_after_any_step_sends_once_and_delivers_once(here: Stage, ends_at: str) -> None:
    """Invariants G1 to G6: every step is on the disk before the next begins."""
    stem = here.ask()

    def end(step: str) -> None:
        if step == ends_at and not ended:
            ended.append(step)
            raise Ended

    ended: list[str] = []
    here.probe = end
    answer = ""
    relay = here.relay()
    for _ in range(8):
        try:
            relay.step()
        except Ended:
            relay = here.relay()
        if not answer and (here.place.results / f"{stem}.json").exists():
            answer = answered(here)
        for waiting in here.box().waiting():
            here.box().mark_delivered(waiting.file)
    assert ended == [ends_at]
    here.bob.sync()
    assert len([one for one in here.bob.engine.history("build") if "relay" in one.post.tags]) == 1
    assert [file.name.split("--")[0] for file in here.box().delivered.iterdir()] == [answer]
    assert here.result(stem)["state"] == "answered"
    assert here.pending() == []
    assert here.states() == {}


@pytest.mark.requirement("RELAY-REPLY-KEY")
def test_the_reply_key_of_the_request_names_the_folder(here: Stage) -> None:
    here.ask()
    relay = here.relay()
    relay.step()
    answered(here)
    relay.step()
    assert (here.place.replies / KEY / "pending").is_dir()
