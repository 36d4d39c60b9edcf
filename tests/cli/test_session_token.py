"""`kxm session token`, and what a token allows `kxm peer`."""

import json
import stat
from pathlib import Path

from tests.acceptance.shell import Shell
from tests.cli.hub.shell import Operator
from tests.hub_process import Project


def test_a_token_is_issued_looked_at_and_removed(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    saved = tmp_path / ".config" / "kxm" / "session.token"
    assert operator.kxm("session", "token").stdout == "no token: every tool is allowed\n"
    assert operator.kxm("session", "token", "--issue").stdout == f"saved for 24 hours: {saved}\n"
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert operator.kxm("session", "token", "--status").stdout == f"{saved}: it holds\n"
    told = json.loads(operator.kxm("session", "token", "--json").stdout)
    assert (told["found"], told["valid"], told["source"]) == (True, True, str(saved))
    assert operator.kxm("session", "token", "--clear").stdout == "removed\n"
    assert operator.kxm("session", "token", "--clear").stdout == "there was none\n"
    assert not saved.exists()


def test_peer_obeys_the_token_before_it_asks_the_hub(tmp_path: Path, project: Project) -> None:
    shell = Shell(tmp_path, project, "me")
    printed = shell.peer("list", "--json", KXM_SESSION_TOKEN="broken", KXM_SERVER_URL="http://127.0.0.1:9")
    assert (printed.code, printed.stdout) == (2, "")
    told = json.loads(printed.stderr)
    assert (told["error"], told["ok"]) == ("session_token_invalid", False)
    assert told["detail"].startswith("tool_policy_denied: session_token_invalid: ")
    folder = tmp_path / "limits"
    folder.mkdir()
    (folder / "session.token").write_text("broken")
    assert shell.peer("send", "x", "y", KXM_USER_CONFIG_DIR=str(folder)).code == 2
    assert shell.peer("list").code == 0
