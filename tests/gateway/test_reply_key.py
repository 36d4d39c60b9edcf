"""The reply key is what `cksum` prints."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peerline.gateway.reply_key import is_reply_key, reply_key


def test_the_recorded_key_comes_out() -> None:
    assert reply_key("/home/alice/payments") == "458696773"


@settings(max_examples=15, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80))
def test_it_is_what_the_systems_cksum_prints(folder: str) -> None:
    said = subprocess.run(["cksum"], input=folder.encode(), capture_output=True, check=True).stdout
    assert reply_key(folder) == said.split()[0].decode()


@pytest.mark.parametrize("text", ["", "12a", "../x", "١٢", "12345678901", "-1"])
def test_only_digits_are_a_key(text: str) -> None:
    assert not is_reply_key(text)
