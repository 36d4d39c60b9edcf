"""What Claude Code's own commands say of the plugin, and what its hook before an edit says to the model."""

from urllib.parse import quote

import pytest

from peerline.cli.hot_claim import claim_name
from tests.clients.claude import Claude
from tests.clients.model.conversation import Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.house.tracked import ROOT
from tests.hub_process import Project


@pytest.mark.parametrize("path", ["plugins/kxm", "plugins/komnet", "plugins/komnet-gateway", "."])
def test_the_clients_own_lint_finds_nothing(claude: Claude, path: str) -> None:
    said = claude.run("plugin", "validate", str(ROOT / path), "--strict")
    assert "warning" not in said.stdout.lower()


def test_the_client_connects_to_the_plugins_server(claude: Claude) -> None:
    listed = claude.run("mcp", "list").stdout
    (line,) = [line for line in listed.splitlines() if line.startswith("plugin:kxm:kxm")]
    assert "Connected" in line


def test_the_plugin_is_known_by_the_name_that_the_guide_uses(claude: Claude) -> None:
    assert "kxm@kxm" in claude.run("plugin", "list").stdout


def test_where_kxm_is_not_installed_the_session_says_so_and_works(claude: Claude) -> None:
    printed = claude.headless("hello", PATH="/usr/bin:/bin")
    assert "uv tool install peerline" in "\n".join(printed.hook_outputs("SessionStart"))
    assert printed.result["result"] == "OK"


def test_before_an_edit_of_a_file_that_another_claimed_the_model_reads_one_line_and_the_edit_goes_on(
    claude: Claude, shop: Project, model: Endpoint
) -> None:
    path = claude.folder / "a.py"
    lead = shop.register("lead")
    lease = quote(claim_name(str(path), "/", str(claude.home)), safe="")
    assert lead.call("POST", f"/v1/leases/{lease}/acquire", {}).status == 200
    write = call("Write", file_path=str(path), content="x = 1\n")
    model.script = Rules(Rule("write it", (write, say("done"))))
    claude.headless("write it", allowed="Write", KXM_HOOK_WAIT_MS="10000")
    assert "is claimed by agent lead (until " in model.requests[-1].conversation.everything
    assert path.read_text() == "x = 1\n"
