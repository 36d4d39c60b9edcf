"""Who acts (spec/network.md 5, identity resolution)."""

from pathlib import Path

import pytest

from peerline.network.config import change_config, default_identity
from peerline.network.home import Home
from peerline.network.identity import AmbiguousIdentity, IdentityMismatch, acting_home


@pytest.fixture
def machine(tmp_path: Path) -> Home:
    home = Home(tmp_path / ".komnet")
    _provision(home, "dana-cli")
    return home


def _provision(home: Home, agent: str) -> None:
    change_config(home, lambda old: old, default_identity(agent, "dana", "UTC"))


def test_the_only_agent_of_a_machine_acts_without_being_named(machine: Home) -> None:
    assert acting_home(None, {"HOME": str(machine.folder.parent)}, "send").folder == machine.folder


def test_with_a_further_agent_nobody_writes_without_saying_who(machine: Home) -> None:
    _provision(machine.agent("dana-codex"), "dana-codex")
    env = {"HOME": str(machine.folder.parent)}
    with pytest.raises(AmbiguousIdentity, match="dana-codex"):
        acting_home(None, env, "send")
    assert acting_home(None, env, "status").folder == machine.folder
    assert acting_home(None, env | {"KOMNET_HOME": str(machine.folder)}, "send").folder == machine.folder
    assert acting_home("dana-codex", env, "send").folder == machine.agent("dana-codex").folder
    assert acting_home(None, env | {"KOMNET_AGENT": "dana-codex"}, "send").folder == machine.agent("dana-codex").folder


def test_an_agent_that_is_not_here_is_never_replaced_by_another(machine: Home) -> None:
    env = {"KOMNET_HOME": str(machine.folder)}
    with pytest.raises(IdentityMismatch, match="refusing to act as dana-cli when carol was asserted"):
        acting_home("carol", env, "status")
    assert acting_home("dana-cli", env, "status").folder == machine.folder
