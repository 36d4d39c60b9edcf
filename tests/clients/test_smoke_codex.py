"""Codex with the installed plugin, without a terminal."""

from pathlib import Path

import pytest

from tests.clients.codex import Codex, announcements
from tests.clients.errand import PROMPT, Errand
from tests.clients.model.conversation import Answer, Now, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import HubProcess, Project

BODY = "The body of a request, for its recipient alone."
REMINDER = r"KXM: 1 request you were told of has no answer yet.*(msg_[0-9a-f]{32})"


@pytest.fixture
def codex(tmp_path: Path, hub: HubProcess, model: Endpoint, shop: Project) -> Codex:
    client = Codex(tmp_path / "user", hub, model, project=shop.name)
    client.set_up()
    return client


def test_the_client_does_an_errand_with_a_peer(codex: Codex, shop: Project, model: Endpoint) -> None:
    errand = Errand(shop.register("lead"), codex.name)
    model.script = errand.script()
    codex.headless(PROMPT)
    errand.check(model)


def test_a_waiting_request_is_named_and_the_turn_goes_on_until_it_is_answered(
    codex: Codex, shop: Project, model: Endpoint
) -> None:
    model.script = Rules(Rule("make yourself known", (call("kxm_list"), say("done"))))
    lead = shop.register("lead")
    with lead.stream() as stream:
        codex.headless("make yourself known")
        while (seen := stream.next("presence").data["agent"])["name"] != codex.name or seen["presence"] != "offline":
            pass
    sent = lead.send("builder", BODY, allowOffline=True)["id"]
    before = len(model.requests)
    answering = (call("kxm_inbox"), call("kxm_reply", messageId=sent, content="answered"), say("done"))
    model.script = Rules(Rule(REMINDER, answering))
    codex.headless("something else")
    assert sent in model.requests[before].conversation.asked, "the brief names it"
    assert BODY not in model.requests[before].conversation.everything
    assert lead.get(sent)["reply"]["content"] == "answered"


def test_nothing_is_queued_for_a_headless_session_which_would_lose_it(
    codex: Codex, shop: Project, model: Endpoint
) -> None:
    lead = shop.register("lead")
    why: list[str] = []

    def sent_in_the_turn(now: Now) -> Answer:
        why.extend(announcements(lead, lead.send("builder", BODY)["id"]))
        return Answer("done")

    model.script = Rules(Rule("begin", (call("kxm_list"), sent_in_the_turn)))
    codex.headless("begin")
    assert why == ["by codex queue: the session is a `codex exec`, which loses what is queued for it"]
