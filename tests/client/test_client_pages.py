"""The guide's code runs as printed, and the reference names every call."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from peerline.client import refusals
from peerline.client.async_hub import AsyncHub
from peerline.client.refusals import BY_CODE
from tests.hub_process import HubProcess

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "reference" / "client.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"```python\n(.*?)```", (DOCS / "guides" / "python-client.md").read_text(encoding="utf-8"), re.DOTALL
)
CALLS = [name for name, _ in inspect.getmembers(AsyncHub) if not name.startswith("_")]


def test_the_guide_runs_as_printed_from_top_to_bottom(
    hub_process: HubProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KXM_SERVER_URL", hub_process.url)
    monkeypatch.setenv("KXM_AUTH_TOKEN", hub_process.admin)
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(block, "python-client.md", "exec"), names)
    said = capsys.readouterr().out
    assert "lead online Python client" in said
    assert "Reply(content='Three steps.'" in said
    assert "Reply(content='No blocking issues.'" in said
    assert "planner error online target not found: planner" in said


@pytest.mark.parametrize("name", CALLS)
def test_the_reference_names_every_call(name: str) -> None:
    assert re.search(rf"`{name}[(`]", REFERENCE)


@pytest.mark.parametrize("name", list(inspect.signature(AsyncHub).parameters))
def test_the_reference_names_every_argument_of_the_constructor(name: str) -> None:
    assert f"`{name}`" in REFERENCE


@pytest.mark.parametrize("name", ["send", "fanout"])
def test_the_reference_names_every_option_of_a_call(name: str) -> None:
    line = next(line for line in REFERENCE.splitlines() if line.startswith(f"| `{name}("))
    options = [
        p.name for p in inspect.signature(getattr(AsyncHub, name)).parameters.values() if p.kind is p.KEYWORD_ONLY
    ]
    assert all(option in line for option in options)


def test_the_reference_names_every_error_of_the_client() -> None:
    own = [kind for kind in vars(refusals).values() if inspect.isclass(kind) and kind.__module__ == refusals.__name__]
    assert all(f"`{kind.__name__}`" in REFERENCE for kind in own)


def test_no_two_classes_have_one_code() -> None:
    kinds = list(BY_CODE.values())
    assert len({kind.code for kind in kinds}) == len(kinds)
