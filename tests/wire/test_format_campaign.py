"""The properties of the formats, at length: what one run of the fast tests has no time for."""

import time
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from peerline.wire.post_file import MalformedPost, UnsupportedVersion, read_post, signed_form
from peerline.wire.yaml_core import InvalidYaml, load
from peerline.wire.yaml_plain import plain_mapping
from peerline.wire.yaml_whole import load_whole
from peerline.wire.yaml_writing import dump
from tests.wire.fuzzing import beginnings, mutated, try_file
from tests.wire.test_post_file import PLACE, hostile_files
from tests.wire.test_yaml_core import anything, beyond_libyaml, mappings, plain_documents, same

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
at_length = settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


@at_length
@given(mappings)
def test_whatever_is_written_reads_back_as_it_was(value: dict[str, Any]) -> None:
    assume(not beyond_libyaml(value) and not next(iter(value), "").startswith("\ufeff"))
    assert load(dump(value)) == value


@at_length
@given(plain_documents)
def test_both_readers_say_the_same_of_plain_documents(text: str) -> None:
    plain = plain_mapping(text)
    if plain is not None:
        assert same(plain, load_whole(text))


@at_length
@given(anything)
def test_no_text_brings_anything_but_a_value_or_the_one_error(text: str) -> None:
    with suppress(InvalidYaml):
        load(text)


@at_length
@given(hostile_files)
def test_no_file_brings_anything_but_the_two_errors(data: bytes) -> None:
    with suppress(MalformedPost, UnsupportedVersion):
        read_post(PLACE, data)
    with suppress(MalformedPost):
        signed_form(data)


def test_two_hundred_thousand_mutated_files_are_read_refused_or_come_back_as_they_were() -> None:
    """`tests.wire.fuzz` does the same steered by coverage, for whoever has atheris: ten million and more."""
    chance, known = Random(25), beginnings()
    for _ in range(200_000):
        data = mutated(chance, known)
        began = time.process_time()
        try_file(data)
        assert time.process_time() - began < 1.0, data
