"""Pi, Gemini CLI and OpenCode: each lists, sends, gets and replies through our server."""

from pathlib import Path

import pytest

from tests.clients.errand import PROMPT, Errand
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
