"""What needs a human, by every way and however it is spelled: software neither answers nor drains it (G1)."""

from collections.abc import Iterator

import pytest

from peerline.core.post import Needs
from tests.gateway.human_paths import (
    PATHS,
    SPELLINGS,
    World,
    refused_by_commands,
    refused_by_the_gateway,
    refused_elsewhere,
    untouched,
    world,
)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("human")) as made:
        yield made


@pytest.mark.requirement(
    "RELAY-TRUST-HUMAN-TOOL",
    "RELAY-TRUST-HUMAN-DAEMON",
    "RELAY-TRUST-HUMAN-GATEWAY",
    "RELAY-TRUST-NO-AS-HUMAN",
    "RELAY-TRUST-NO-DRAIN",
    "RELAY-ROUTE-HUMAN",
    "RELAY-ASK-EXPLICIT",
)
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("path", PATHS)
def test_what_needs_a_human_is_neither_answered_nor_drained_by_software(here: World, path: str, spelling: str) -> None:
    id = PATHS[path](here, spelling)
    if id is None:
        assert spelling != "human", "a plain human is understood everywhere"
        return  # refused, or unreadable and said so: nothing is there that could be answered
    here.bob.call("sync")
    refused_by_the_gateway(here, id)
    if path != "gateway-resolve-drain":  # there the record alone is spelled, the post is an agent's
        found = here.bob.engine.find(id)
        assert found is not None
        assert found.post.needs is Needs.HUMAN
        refused_elsewhere(here, id)
        if (path, spelling) == ("cli-without-terminal", "human"):  # the item is the same, whoever sent it
            refused_by_commands(here, id)
    untouched(here, id)
