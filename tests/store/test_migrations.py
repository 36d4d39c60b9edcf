"""A store of each schema there ever was comes forward with what it held."""

import json
from pathlib import Path

import pytest

from peerline.core.ids import AgentId, MessageId
from peerline.database.connection import open_writer, prepare
from peerline.database.migrations import migrate
from peerline.store.migrations import MIGRATIONS
from tests.database.stores import TEXTS, add, texts
from tests.hub.parts import Parts, ids


@pytest.fixture
def of_schema_1(tmp_path: Path) -> Path:
    """A store as the first release left it: queued requests between two agents."""
    path = tmp_path / "hub.db"
    prepare(path)
    connection = open_writer(str(path))
    migrate(connection, MIGRATIONS[:1])
    for number, text in enumerate(TEXTS, 1):
        add(connection, number, text)
    connection.execute("UPDATE message SET expires_at = 4_000_000_000_000")
    connection.close()
    return path


def test_a_store_of_schema_1_comes_forward_and_keeps_a_copy(of_schema_1: Path) -> None:
    connection = open_writer(str(of_schema_1))
    assert migrate(connection, MIGRATIONS, of_schema_1) == [2, 3, 4, 5, 6]
    connection.close()
    assert texts(of_schema_1) == texts(Path(f"{of_schema_1}.before-6")) == list(TEXTS)


def test_what_was_sent_and_had_ended_before_schema_6_is_in_the_lists_by_agent(of_schema_1: Path) -> None:
    connection = open_writer(str(of_schema_1))
    migrate(connection, MIGRATIONS[:5])
    end = "UPDATE message SET status = ?2, final_at = 9, sender_event = ?3, recipient_event = ?4 WHERE number = ?1"
    connection.execute(end, (1, "replied", 1, None))
    connection.execute("INSERT INTO reply VALUES (1, 'fine')")
    connection.execute(end, (2, "cancelled", None, 1))
    connection.execute(end, (3, "expired", 2, 2))
    connection.close()
    hub = Parts(of_schema_1.parent)
    agents = {agent.id: agent for agent in hub.store.write(lambda tx: tx.agents.all()).result()}
    lead = agents[AgentId("from")]
    assert [message.number for message in hub.messages.sent(lead, "all", 10).result()] == [5, 4, 3, 2, 1]
    for agent, numbers in (("from", [1, 3]), ("to", [2, 3])):
        _, screen = hub.watch(agents[AgentId(agent)], resume_after=0)
        frames = screen.frames("reply") + screen.frames("cancelled") + screen.frames("expired")
        assert [json.loads(data)["message"]["id"] for data in frames] == [f"msg_{number}" for number in numbers]
    assert hub.messages.reply(MessageId("msg_4"), agents[AgentId("to")], "too").result().sender_event == 3
    assert [message.number for message in hub.messages.sent(lead, "final", 10).result()] == [4, 3, 2, 1]


def test_what_it_held_is_still_to_be_answered_and_nothing_of_it_is_held(of_schema_1: Path) -> None:
    hub = Parts(of_schema_1.parent, pair_limit=2)
    recipient = next(agent for agent in hub.store.write(lambda tx: tx.agents.all()).result() if agent.id == "to")
    waiting = hub.messages.inbox(recipient).result()
    assert [message.body for message in waiting] == list(TEXTS)
    assert {(message.path, message.held_at) for message in waiting} == {(None, None)}
    assert hub.messages.reply(waiting[0].id, recipient, "done").result().reply == "done"
    assert hub.pairs.held("shop").result() == []


def test_after_it_a_pair_is_held_and_let_go(of_schema_1: Path) -> None:
    hub = Parts(of_schema_1.parent, pair_limit=1)
    sender = next(agent for agent in hub.store.write(lambda tx: tx.agents.all()).result() if agent.id == "from")
    person = hub.person("ada", "shop")
    sent = [hub.send(sender, "to", str(number), allow_offline=True) for number in range(2)]
    assert [message.held for message in sent] == [False, True]
    assert hub.pairs.go_on(person, "from", "to").result().waiting == 1
    recipient = sender._replace(id=AgentId("to"), name="to")
    assert ids(hub.messages.inbox(recipient).result())[-2:] == ids(sent)
