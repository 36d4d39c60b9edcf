"""Codex in a terminal, idle: a request wakes it, and so does the reply to what it asked, through `codex queue`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from peerline.mcp_stdio.codex_queue import NO_TURN
from tests.clients.codex import Codex, announcements
from tests.clients.model.endpoint import Endpoint
from tests.clients.wake_ups import KNOWN, REQUEST, WAKE_UPS, WakeUps, script, side_by_side
from tests.hub_process import HubProcess, Project

NOTICE = r"KXM, a notice of your MCP server and not your user's words:.*"
SCRIPT = script(
    NOTICE + r"- request (msg_[0-9a-f]{32}) \(from: (lead[0-9]+)\)", NOTICE + r"- reply to (msg_[0-9a-f]{32})"
)
# An idle session looks into its queue every ten seconds, so many rounds take several sessions.
ROUNDS_EACH = 10
SESSIONS = min(6, -(-WAKE_UPS // ROUNDS_EACH))
Begin = Callable[[str], AbstractContextManager[WakeUps]]


@pytest.fixture
def begin(tmp_path: Path, hub: HubProcess, model: Endpoint, shop: Project) -> Iterator[Begin]:
    """Begins an interactive session of that name, which has done a first turn and has nothing to do."""
    model.script = SCRIPT

    @contextmanager
    def session(name: str) -> Iterator[WakeUps]:
        codex = Codex(tmp_path / name, hub, model, name=name, project=shop.name)
        codex.set_up()
        mark = model.mark
        with codex.terminal(KNOWN):
            model.asked(lambda conversation: conversation.answered == 1, after=mark)
            yield WakeUps("Codex", model, shop, name)

    yield session
    assert model.faults == []


@pytest.mark.timeout(120 + 45 * ROUNDS_EACH * -(-WAKE_UPS // (ROUNDS_EACH * SESSIONS)))
def test_a_request_wakes_an_idle_session_and_the_reply_wakes_the_asker(begin: Begin) -> None:
    with ExitStack() as stack:
        sessions = [stack.enter_context(begin(f"builder{number}")) for number in range(SESSIONS)]
        for facts in side_by_side(sessions, WAKE_UPS):
            assert {"acknowledged", "announced", "in turn", "replied"} <= facts


def test_what_comes_before_the_first_turn_is_named_in_it(
    tmp_path: Path, hub: HubProcess, model: Endpoint, shop: Project
) -> None:
    model.script = SCRIPT
    codex = Codex(tmp_path / "user", hub, model, project=shop.name)
    codex.set_up()
    lead = shop.register("lead")
    with lead.stream() as stream, codex.terminal() as terminal:
        stream.next("presence")
        sent = lead.send("builder", REQUEST)["id"]
        assert announcements(lead, sent) == [f"by codex queue: {NO_TURN}"]
        terminal.press("make yourself known")
        while "make yourself known" not in terminal.screen:
            pass  # an Enter that comes with the text counts as a line of a pasted one
        terminal.press("Enter")
        first = model.asked(lambda conversation: True).conversation
    assert sent in first.asked
    assert REQUEST not in first.everything
