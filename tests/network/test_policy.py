"""`policy.yaml` (spec/network.md 5)."""

from pathlib import Path

import pytest

from peerline.core.errors import Conflict
from peerline.network.home import Home
from peerline.network.policy import BrokenPolicy, Policy, load_policy, write_commented


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.make()
    return home


def test_without_a_file_nothing_is_ever_started(home: Home) -> None:
    assert load_policy(home) == Policy()
    assert Policy().shape()["activation"] == {"mode": "off", "command": [], "maxPerHour": 4}


def test_the_commented_file_says_the_defaults_and_is_never_overwritten(home: Home) -> None:
    write_commented(home)
    assert load_policy(home).shape() == Policy().shape()
    with pytest.raises(Conflict, match="already exists"):
        write_commented(home)


def test_a_further_agents_file_wins_over_the_machines_value_by_value(home: Home) -> None:
    nested = home.agent("a")
    nested.make()
    home.policy.write_text("v: 1\napprovals: {inboundWork: always}\nactivation: {maxPerHour: 9}\n")
    nested.policy.write_text("v: 1\napprovals: {localAgents: [b]}\n")
    found = load_policy(nested)
    assert (found.inbound_work, found.local_agents, found.max_per_hour) == ("always", ("b",), 9)
    assert found.sources == (str(home.policy), str(nested.policy))


@pytest.mark.parametrize(
    "text",
    [
        "v: 2",
        "v: 1\nextra: 1",
        "v: 1\napprovals: {inboundWork: sometimes}",
        "v: 1\napprovals: {localAgents: a}",
        "v: 1\nactivation: {mode: command}",
        "v: 1\nactivation: {maxPerHour: 61}",
        "v: 1\nactivation: {maxPerHour: true}",
        "v: 1\nactivation: {command: 'rm -rf'}",
        "[",
    ],
)
def test_what_cannot_be_honoured_is_an_error_and_not_a_default(home: Home, text: str) -> None:
    home.policy.write_text(text)
    with pytest.raises(BrokenPolicy, match="mend the file"):
        load_policy(home)
