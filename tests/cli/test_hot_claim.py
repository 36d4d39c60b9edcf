"""A file's name among claims, and the one line before an edit of a file that another agent claimed."""

import json
from pathlib import Path
from typing import Any

import pytest

from peerline.cli.hot_claim import LONGEST, claim_name
from tests.cli.test_hot_hook import ALLOWED, SESSION, Client
from tests.cli.test_hot_imports import SMALL, loaded
from tests.hub_process import Agent, Project


@pytest.fixture
def client(tmp_path: Path, project: Project) -> Client:
    return Client(tmp_path / "home", project, {"KXM_AGENT_NAME": "builder"})


@pytest.fixture
def builder(project: Project, client: Client) -> Agent:
    agent = project.register("builder")
    client.register(agent)
    return agent


def claimed(agent: Agent, path: Path) -> None:
    name = claim_name(str(path), "/", "")
    answer = agent.call("POST", "/v1/leases/" + name.replace("/", "%2F").replace(" ", "%20") + "/acquire", {})
    assert answer.status == 200


def edit(client: Client, path: object, tool: str = "Edit", **told: Any) -> Any:
    given = {"tool_name": tool, "tool_input": {"file_path": path, "old_string": "x"}, "cwd": str(client.home)} | told
    out = client.raw("edit", told=given).stdout
    return json.loads(out)["hookSpecificOutput"] if out else None


def test_a_file_of_a_repository_has_one_name_whatever_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "shop")
    names = {
        claim_name("src/a.py", str(tmp_path / "shop"), ""),
        claim_name("../a.py", str(tmp_path / "shop" / "src" / "b"), ""),
        claim_name(str(tmp_path / "link" / "src" / "a.py"), "/", ""),
    }
    assert names == {"file:shop/src/a.py"}
    assert claim_name("a.py", "/nowhere", "") == "file:/nowhere/a.py"


def test_a_long_or_strange_path_has_a_name_that_the_hub_takes_and_its_own() -> None:
    paths = [f"/x/{'y' * 250}/{n}" for n in range(2)] + [
        "/x/\U0001f600" + "\U0001f600" * 150,
        "/x/a\nb",
        "/x/a?b",
        "/x/a ",
    ]
    names = [claim_name(path, "/", "") for path in paths]
    assert len(set(names)) == len(paths)
    assert all(len(name.encode("utf-16-le")) // 2 <= LONGEST and name.isprintable() for name in names)


def test_before_an_edit_of_a_claimed_file_one_line_names_the_holder_and_decides_nothing(
    client: Client,
    builder: Agent,
    lead: Agent,
) -> None:
    path = client.home / "a b.py"
    claimed(lead, path)
    for given in (str(path), "a b.py"):
        told = edit(client, given)
        assert set(told) == {"hookEventName", "additionalContext"}, "no decision"
        assert told["hookEventName"] == "PreToolUse"
        line = told["additionalContext"]
        assert line.startswith("KXM: the file you are about to edit is claimed by agent lead (until ")
        assert "\n" not in line
        assert len(line) < 300
    notebook = {"notebook_path": str(path)}
    assert edit(client, None, "NotebookEdit", tool_input=notebook) is not None


def test_a_file_that_is_free_or_ones_own_and_a_hub_that_is_away_are_no_line(
    client: Client,
    builder: Agent,
) -> None:
    path = client.home / "a.py"
    assert edit(client, str(path)) is None
    claimed(builder, path)
    assert edit(client, str(path)) is None
    for bad in (None, 7, "", "a\0b", ["a"]):
        assert edit(client, bad) is None
    assert edit(client, None, tool_input="x") is None
    record = client.home / "state" / "sessions" / f"{SESSION}.json"
    record.write_text(record.read_text().replace(client.project.hub.url, "http://127.0.0.1:9"))
    assert edit(client, str(path)) is None


def test_a_session_that_nobody_knows_is_told_nothing(client: Client, lead: Agent) -> None:
    path = client.home / "a.py"
    claimed(lead, path)
    assert edit(client, str(path)) is None


def test_it_loads_nothing_but_its_own_small_modules(client: Client, builder: Agent) -> None:
    modules, code = loaded(client.environment(), client.home, "hook", "edit")
    assert code == "0"
    assert "peerline.cli.hot_claim" in modules
    assert {name for name in modules if not name.startswith("peerline.cli.hot")} - SMALL - ALLOWED == set()
