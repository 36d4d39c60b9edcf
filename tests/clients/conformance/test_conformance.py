"""The protocol's own conformance suite against the hub's `/mcp`, in both versions: the handshake era and the newer one.

It runs against our tools as they are, and against tools of its own on the same transport.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.clients.conformance.expected import OUR_TOOLS, OUR_TOOLS_NEXT, SUITE_TOOLS, SUITE_TOOLS_NEXT
from tests.clients.conformance.proxy import Proxy
from tests.clients.install import CONFORMANCE, CONFORMANCE_NEXT, Client
from tests.house.tracked import ROOT
from tests.hub_process import HubProcess

NEXT = ("--requirements", "2026-07-28")
RUN_S = 100.0


class SuiteHub(HubProcess):
    command = (sys.executable, "-m", "tests.clients.conformance.suite_hub")


@pytest.fixture
def reached(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of `/mcp` as one agent of one project, whose token is put in on the way."""
    variables = {"KXM_ALLOWED_HOSTS": "127.0.0.1,localhost", "PYTHONPATH": str(ROOT)}
    hub: HubProcess = request.param(tmp_path / "hub", **variables)
    hub.start()
    added = {
        "authorization": f"Bearer {hub.admin}",
        "x-kxm-project": "shop",
        "x-kxm-agent-name": "suite",
    }
    try:
        with Proxy(hub.address, added) as proxy:
            yield f"http://127.0.0.1:{proxy.port}/mcp"
    finally:
        hub.stop()


@pytest.mark.parametrize(
    ("reached", "suite", "words", "expected"),
    [
        (HubProcess, CONFORMANCE, (), OUR_TOOLS),
        (HubProcess, CONFORMANCE_NEXT, NEXT, OUR_TOOLS_NEXT),
        (SuiteHub, CONFORMANCE, (), SUITE_TOOLS),
        (SuiteHub, CONFORMANCE_NEXT, NEXT, SUITE_TOOLS_NEXT),
    ],
    ids=["our-tools", "our-tools-next", "suite-tools", "suite-tools-next"],
    indirect=["reached"],
)
def test_only_what_is_listed_with_its_reason_fails(
    reached: str, suite: Client, words: tuple[str, ...], expected: Mapping[str, str], tmp_path: Path
) -> None:
    assert all(expected.values())
    baseline = tmp_path / "expected.yml"
    baseline.write_text("server:\n" + "".join(f"  - {name} # {why}\n" for name, why in expected.items()))
    ran = subprocess.run(
        [*suite.command, "server", "--url", reached, "--expected-failures", str(baseline), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[ran.stdout.find("=== SUMMARY") :] + ran.stderr
    assert "server-sse-multiple-streams" in ran.stdout
