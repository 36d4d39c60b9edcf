"""What reaches Git goes past the scanner, with the rules of the network's own policy."""

from pathlib import Path

import pytest

from peerline.core.post_draft import InvalidPost
from peerline.core.profile import Environment, Profile
from peerline.network.scanner.refusal import SecretDetected
from tests.network.nodes import Node, environment, founded, node
from tests.network.remotes import BareRemote

SECRET = "AKIA" + "Q7W8E9R0T1Z2U3I4"
POLICY = b"""v: 1
secret_scan:
  extra_patterns:
    - name: acme-internal-token
      pattern: "acme_[0-9]{6}"
    - name: broken
      pattern: "(?=x)"
  max_body_bytes: 200
forbid: [personal_data]
"""


@pytest.fixture
def remote(tmp_path: Path) -> BareRemote:
    return founded(BareRemote(tmp_path / "remote.git"), "ada", "bob")


@pytest.fixture
def ada(tmp_path: Path, remote: BareRemote) -> Node:
    ada = node(tmp_path, remote, "ada", "build")
    ada.sync()
    return ada


def everything(remote: BareRemote) -> bytes:
    return b"".join(data for branch in remote.branches() for data in remote.files(branch).values())


@pytest.mark.requirement("RELAY-SCANNER-REFUSES")
def test_a_secret_in_a_post_a_room_a_profile_or_a_card_is_refused_and_reaches_no_branch(
    ada: Node, remote: BareRemote, tmp_path: Path
) -> None:
    with pytest.raises(SecretDetected):
        ada.send(f"key {SECRET}")
    with pytest.raises(SecretDetected):
        ada.send("hello", tags=[SECRET])
    with pytest.raises(SecretDetected):
        ada.send("hello", refs=[f"acme/a@{SECRET}:b"])
    with pytest.raises(SecretDetected):
        ada.engine.create_room("release", title=f"for {SECRET}")
    client = Environment(client="cli")
    profile = Profile(
        id="ada", updated_at=0, role="Agent", mission=f"use {SECRET}", current_focus="x", environment=client
    )
    with pytest.raises(SecretDetected):
        ada.engine.publish_profile(profile)
    named = node(tmp_path, remote, "bob", environ=environment(tmp_path, "bob") | {"GIT_AUTHOR_NAME": f"Bob {SECRET}"})
    with pytest.raises(SecretDetected):
        named.engine.publish_card()
    ada.sync()
    assert SECRET.encode() not in everything(remote)
    assert list(ada.engine.waiting()) == []


def test_a_networks_own_policy_holds_once_it_is_fetched(ada: Node, remote: BareRemote) -> None:
    ada.send("acme_123456 is only a word so far")
    remote.commit("main", {".komnet/policy.yaml": POLICY})
    ada.sync()
    with pytest.raises(SecretDetected, match="acme-internal-token in body"):
        ada.send("acme_123456 is a secret now")
    with pytest.raises(SecretDetected, match="personal-data-iban"):
        ada.send("pay to DE89 3704 0044 0532 0130 00")
    with pytest.raises(InvalidPost, match="at most 200"):
        ada.send("word " * 60)
    ada.send("the token refresh is fixed")
    assert ada.engine.policy_notices() == (
        "policy.yaml: pattern 2 of secret_scan.extra_patterns is not used: RE2 does not take it "
        "(no look-around, no back reference)",
    )


def test_a_policy_that_cannot_be_read_leaves_the_scan_on(ada: Node, remote: BareRemote) -> None:
    remote.commit("main", {".komnet/policy.yaml": b"secret_scan: [\n"})
    ada.sync()
    with pytest.raises(SecretDetected):
        ada.send(f"key {SECRET}")
    assert ada.engine.policy_notices() == ("policy.yaml can't be read; the defaults hold",)
