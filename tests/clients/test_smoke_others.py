"""Pi, Gemini CLI and OpenCode: each lists, sends, gets and replies through our server."""

from pathlib import Path

import pytest

from peerline.cli.setup.gemini import HOOKS
from tests.clients.errand import PROMPT, Errand
from tests.clients.model.conversation import Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.others import OTHERS
from tests.hub_process import HubProcess, Project


@pytest.mark.parametrize("name", OTHERS)
def test_the_client_does_an_errand_with_a_peer(
    name: str, hub: HubProcess, shop: Project, model: Endpoint, tmp_path: Path
) -> None:
    errand = Errand(shop.register("lead"), name)
    model.script = errand.script()
    OTHERS[name].headless(PROMPT, tmp_path / "user", hub, model, KXM_AGENT_NAME=name, KXM_PROJECT=shop.name)
    errand.check(model)


@pytest.mark.parametrize("event", HOOKS)
def test_gemini_is_told_by_either_hook_what_waits(
    event: str, hub: HubProcess, shop: Project, model: Endpoint, tmp_path: Path
) -> None:
    lead = shop.register("lead")
    model.script = Rules(Rule("make yourself known", (call("kxm_list"), say("done"))))

    def run(prompt: str) -> None:
        known = {"KXM_AGENT_NAME": "gemini", "KXM_PROJECT": shop.name}
        OTHERS["gemini"].headless(prompt, tmp_path / "user", hub, model, {event: HOOKS[event]}, **known)

    with lead.stream() as stream:
        run("make yourself known")
        while stream.next("presence").data["agent"]["presence"] != "offline":
            pass
    sent = lead.send("gemini", "the body", allowOffline=True)["id"]
    before = len(model.requests)
    run("something else")
    told = model.requests[before].conversation
    assert sent in told.asked
    assert "the body" not in told.everything
