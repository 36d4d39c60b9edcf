"""`peerline continue`: what the hub has stopped is shown to a person, and goes on when they say so."""

from pathlib import Path

import pytest

from tests.cli.person_shell import Shell
from tests.hub_process import HubProcess

LIMIT = 2


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> object:
    started = HubProcess(tmp_path_factory.mktemp("braked-hub"), KXM_PAIR_LIMIT=str(LIMIT)).start()
    yield started
    started.stop()


@pytest.fixture
def shell(hub: HubProcess, tmp_path: Path) -> Shell:
    return Shell(tmp_path, hub, project=tmp_path.name)


def test_why_shows_agents_that_were_stopped_and_continue_lets_them_go(shell: Shell) -> None:
    lead, reviewer = shell.agent("lead"), shell.agent("reviewer")
    messages = [lead.send("reviewer")["id"] for _ in range(LIMIT + 2)]
    text = shell.says("why")
    assert "lead and reviewer: 2 held for " in text or "reviewer and lead: 2 held for " in text
    assert "Let them go on with `peerline continue " in text
    assert [pair["held"] for pair in shell.told("why")["held"]] == [2]
    assert "2 requests that were held between" in shell.says("continue", "LEAD", reviewer.id)
    assert [one["id"] for one in reviewer.inbox()] == messages
    assert shell.told("continue", "lead", "reviewer")["released"] == 0
    assert "Nothing was held between" in shell.says("continue", "lead", "reviewer")
    assert shell.says("why").startswith("Nothing of yours stands still")


def test_the_senders_own_why_says_who_lets_it_go(shell: Shell) -> None:
    shell.env["KXM_AGENT_PURPOSE"] = "an agent in a terminal"
    shell.agent("bob")
    for _ in range(LIMIT):
        shell.says("ask", "bob", "look")
    text = shell.says("ask", "bob", "look again")
    assert "keeps it from bob for now" in text
    assert "a person continues with: peerline continue ada bob" in text
    message_id = next(word for word in text.split() if word.startswith("msg_"))
    assert "Held: too many requests between ada and bob" in shell.says("why", message_id)
    assert "with --as NAME" in shell.refused("continue", "ada", "bob")
    del shell.env["KXM_AGENT_PURPOSE"]
    assert "goes out now" in shell.says("continue", "ada", "bob", "--as", "grace")


def test_a_person_at_a_terminal_is_never_stopped(shell: Shell) -> None:
    bob = shell.agent("bob")
    for _ in range(LIMIT + 2):
        shell.says("ask", "bob", "look")
    assert len(bob.inbox()) == LIMIT + 2


def test_continue_needs_two_agents_that_are_known_here(shell: Shell) -> None:
    shell.agent("bob")
    assert "nobody" in shell.refused("continue", "bob", "nobody")
    assert "it takes two agents" in shell.refused("continue", "bob", "BOB")
    shell.refused("continue", "bob", code=2)


def test_what_an_agent_calls_itself_cannot_fake_a_line_or_a_command(shell: Shell) -> None:
    evil, bob = shell.agent("$(touch pwned)"), shell.agent("bob")
    for _ in range(LIMIT + 1):
        evil.send("bob")
    text = shell.says("why")
    assert evil.id in text.split("peerline continue", 1)[1]
    assert "$(touch" not in text.split("peerline continue", 1)[1]
    assert "$(touch pwned)" in shell.says("continue", evil.id, bob.id)
