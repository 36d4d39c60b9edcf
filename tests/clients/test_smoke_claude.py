"""Claude Code with the installed plugin, without a terminal: it lists, sends, gets and replies."""

from tests.clients.claude import Claude
from tests.clients.errand import PROMPT, Errand
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import Project


def test_the_client_does_an_errand_with_a_peer(claude: Claude, shop: Project, model: Endpoint) -> None:
    errand = Errand(shop.register("lead"), claude.name)
    model.script = errand.script()
    claude.headless(PROMPT)
    errand.check(model)
