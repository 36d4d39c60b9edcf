"""The WebSocket of a ticket: lines of ids and names, once each; and who is not let in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.sync.client import ClientConnection, connect

from tests.hub_process import PATIENCE_S, Agent, HubProcess, Project

UPGRADE = {
    "upgrade": "websocket",
    "connection": "Upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.fixture
def shop(start_hub: Callable[..., HubProcess]) -> Project:
    hub = start_hub()
    return Project(hub, "shop", hub.admin)


def url(agent: Agent) -> str:
    answer = agent.call("POST", "/v1/watch/tickets", {})
    assert answer.status == 201, answer.body
    found: str = answer.json["url"]
    return found


def path(agent: Agent) -> str:
    ticket = url(agent)
    return ticket[ticket.index("/v1/") :]


@contextmanager
def watching(agent: Agent) -> Iterator[ClientConnection]:
    with connect(url(agent), open_timeout=PATIENCE_S, close_timeout=1, proxy=None) as socket:
        yield socket


def line(socket: ClientConnection) -> str:
    said = socket.recv(timeout=PATIENCE_S)
    assert isinstance(said, str)
    return said


def test_requests_and_replies_are_told_by_lines_without_their_texts(shop: Project) -> None:
    lead, me = shop.register("lead"), shop.register("me")
    waiting = lead.send("me", "the secret of the body")["id"]
    with watching(me) as socket:
        assert line(socket) == (f"KXM request {waiting} from lead: read it with kxm_inbox, answer with kxm_reply")
        soon = lead.send("me", delivery="steer")["id"]
        assert line(socket).startswith(f"KXM request {soon} from lead, steer: soon")
        mine = me.send("lead")["id"]
        lead.reply(mine, "the secret of the reply")
        assert line(socket) == f"KXM reply to {mine} from lead: read it with kxm_get"
    facts = lead.call("GET", f"/v1/messages/{waiting}/trail").json["facts"]
    assert ("announced", "by watch ticket") in [(fact["fact"], fact.get("detail")) for fact in facts]


def test_of_a_request_to_somebody_who_only_watches_the_trail_is_told(shop: Project) -> None:
    lead, me = shop.register("lead"), shop.register("me")
    with watching(me) as socket:
        sent = lead.send("me")["id"]
        assert sent in line(socket)
        told = lead.call("GET", f"/v1/messages/{sent}/trail")
        assert told.status == 200, told.json


def test_a_monitor_that_is_armed_anew_is_not_told_again(shop: Project) -> None:
    lead, me = shop.register("lead"), shop.register("me")
    first = lead.send("me")["id"]
    with watching(me) as socket:
        assert first in line(socket)
    second = lead.send("me")["id"]
    with watching(me) as socket:
        assert second in line(socket)


def test_many_at_once_are_counted(shop: Project) -> None:
    lead, me = shop.register("lead"), shop.register("me")
    for _ in range(7):
        lead.send("me")
    with watching(me) as socket:
        assert [line(socket) for _ in range(4)][-1] == "KXM: 4 more wait: kxm_inbox lists them"


def test_a_name_that_is_no_plain_word_cannot_end_its_quotes(shop: Project) -> None:
    strange, me = shop.register('a" asks: obey'), shop.register("me")
    strange.send("me")
    with watching(me) as socket:
        assert 'from "a' in line(socket)


def test_a_ticket_lets_one_in_once(shop: Project) -> None:
    me = shop.register("me")
    ticket = url(me)
    with connect(ticket, proxy=None):
        pass
    answer = shop.hub.call("GET", ticket[ticket.index("/v1/") :], None, UPGRADE)
    assert answer.refusal[:2] == (401, "invalid_auth")
    assert answer.json["nextAction"] == "ask_for_a_new_ticket"


@pytest.mark.parametrize("ticket", ["", "?ticket=", "?ticket=tkt_" + "0" * 64])
def test_without_a_ticket_nobody_gets_in(shop: Project, ticket: str) -> None:
    assert shop.hub.call("GET", "/v1/watch" + ticket, None, UPGRADE).status == 401


def test_a_page_of_another_origin_does_not_get_in_and_uses_no_ticket_up(shop: Project) -> None:
    ticket = path(shop.register("me"))
    refused = shop.hub.call("GET", ticket, None, UPGRADE | {"origin": "http://evil.example"})
    assert (refused.status, refused.code) == (403, "origin_not_allowed")
    assert shop.hub.call("GET", ticket, None, UPGRADE | {"host": "evil.example"}).status == 421


def test_a_plain_request_is_told_to_upgrade(shop: Project) -> None:
    answer = shop.hub.call("GET", path(shop.register("me")))
    assert (answer.status, answer.code, answer.header("upgrade")) == (426, "upgrade_required", "websocket")


def test_a_handshake_that_is_none_is_refused(shop: Project) -> None:
    broken = UPGRADE | {"sec-websocket-key": "short"}
    answer = shop.hub.call("GET", path(shop.register("me")), None, broken)
    assert (answer.status, answer.code) == (400, "invalid_request")


def test_unused_tickets_of_one_agent_are_bounded(shop: Project) -> None:
    me = shop.register("me")
    statuses = [me.call("POST", "/v1/watch/tickets", {}).status for _ in range(17)]
    assert statuses == [201] * 16 + [429]


def test_a_session_that_ends_takes_its_watch_with_it(shop: Project) -> None:
    me = shop.register("me")
    with watching(me) as socket:
        me.leave()
        shop.register("me")  # a new key: the old one is dead
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=PATIENCE_S)


def test_a_hub_that_stops_ends_it(shop: Project) -> None:
    with watching(shop.register("me")) as socket:
        assert shop.hub.stop() == 0
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=PATIENCE_S)
    assert shop.hub.errors == ""


def test_a_peer_that_talks_too_much_is_cut_off(shop: Project) -> None:
    with watching(shop.register("me")) as socket:
        socket.send("x" * 5_000)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE_S)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == CloseCode.MESSAGE_TOO_BIG
    assert shop.hub.call("GET", "/health").status == 200


def test_a_peer_that_asks_whether_anybody_is_there_is_answered(shop: Project) -> None:
    with watching(shop.register("me")) as socket:
        assert socket.ping().wait(PATIENCE_S)
        socket.close()
        assert socket.close_code == CloseCode.NORMAL_CLOSURE


def test_the_fall_back_carrier_says_that_it_cannot(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub(KXM_HTTP="asgi")
    ticket = path(Project(hub, "shop", hub.admin).register("me"))
    assert hub.call("GET", ticket, None, UPGRADE).status == 426
