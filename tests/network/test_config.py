"""`config.yaml` (spec/network.md 5)."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from peerline.core.errors import Conflict
from peerline.network.config import (
    BrokenConfig,
    Config,
    Joined,
    NotConfigured,
    UnknownNetwork,
    change_config,
    default_identity,
    load_config,
)
from peerline.network.home import Home

ME = default_identity(None, "bob", "UTC")
RECORDED = """\
v: 1
agent:
  id: bob-codex
  displayName: bob's cli
  human:
    name: bob
    timezone: UTC
  tool: cli
networks:
  transport:
    id: transport
    remote: /srv/transport.git
    subscriptions:
      - architecture
defaultNetwork: transport
repositories:
  github.com/acme/payments:
    path: /srv/payments
review:
  maxPreparedWorktrees: 2
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_recorded_file_is_read_and_written_back_as_it_was(home: Home) -> None:
    home.make()
    home.config.write_text(RECORDED)
    config = load_config(home)
    assert config.agent.id == "bob-codex"
    assert config.network(None) == Joined(id="transport", remote="/srv/transport.git", rooms=("architecture",))
    change_config(home, lambda old: old)
    assert home.config.read_text() == RECORDED


def test_without_a_file_the_command_to_begin_with_is_named(home: Home) -> None:
    with pytest.raises(NotConfigured, match="komnet init --repo"):
        load_config(home)


@pytest.mark.parametrize("text", ["a: [", "[]", "v: 1", "agent: {id: 3}", "agent: {id: a, human: []}\n", "x" * 300_000])
def test_a_file_that_cannot_be_used_is_named_and_never_overwritten(home: Home, text: str) -> None:
    home.make()
    home.config.write_text(text)
    with pytest.raises(BrokenConfig, match="can't be used"):
        change_config(home, lambda old: old, ME)
    assert home.config.read_text() == text


def test_what_several_processes_join_at_once_is_all_there(home: Home) -> None:
    change_config(home, lambda old: old.with_network(Joined(id="n", remote="r")), ME)

    def join(number: int) -> None:
        change_config(home, lambda old: old.with_rooms("n", (*old.networks["n"].rooms, f"room-{number}")))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(join, range(24)))
    assert set(load_config(home).networks["n"].rooms) == {f"room-{n}" for n in range(24)}
    assert stat.S_IMODE(home.config.stat().st_mode) == 0o600


def test_a_home_keeps_its_agent(home: Home) -> None:
    change_config(home, lambda old: old, ME)
    with pytest.raises(Conflict, match="komnet agent add alice"):
        change_config(home, lambda old: old, default_identity("alice", "bob", "UTC"))


def test_the_network_is_the_named_the_default_or_the_only_one() -> None:
    one = Config(agent=ME).with_network(Joined(id="a", remote="r"))
    two = one.with_network(Joined(id="b", remote="s"))
    assert one.network(None).id == two.network(None).id == "a"
    assert two.network("b").id == "b"
    with pytest.raises(UnknownNetwork, match="have: a, b"):
        two.network("c")
    with pytest.raises(UnknownNetwork, match="which network"):
        Config(agent=ME, networks=two.networks).network(None)
