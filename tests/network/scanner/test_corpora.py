"""What the scanner reaches on generated texts: secrets of every kind, disguised ones, and harmless ones."""

import random
import subprocess

import pytest

from peerline.network.scanner.scan import scan
from tests.house.tracked import ROOT
from tests.network.scanner.clean_corpus import identifiers, messages
from tests.network.scanner.disguises import DISGUISES
from tests.network.scanner.secrets_corpus import IN_CONTEXT, PREFIXED, filled, secrets

SEED = 20_261_130


def test_of_150_secrets_nine_tenths_are_found_and_a_kind_is_never_missed_whole() -> None:
    chance = random.Random(SEED)
    samples = secrets(chance, 150)
    assert {sample.kind for sample in samples} >= PREFIXED.keys() | IN_CONTEXT.keys()
    missed = [sample.kind for sample in samples if not scan(sample.text)]
    assert len(missed) <= len(samples) * 0.1, missed


@pytest.mark.parametrize("kind", PREFIXED)
def test_a_token_with_a_shape_is_found_in_every_sentence(kind: str) -> None:
    chance = random.Random(f"{SEED}{kind}")
    for sentence in ("{}", "x={}", "use {}, please", "`{}`", "({})", "a\nb\n  {}\nc"):
        assert scan(sentence.format(filled(PREFIXED[kind], chance)))


def test_disguised_secrets_are_found_in_95_of_100_cases() -> None:
    chance = random.Random(SEED)
    texts = [
        (name, kind, hide(filled(pattern, chance), chance))
        for name, hide in DISGUISES.items()
        for kind, pattern in PREFIXED.items()
    ]
    unseen = [(name, kind) for name, kind, text in texts if not scan(text)]
    assert len(unseen) <= len(texts) * 0.05, unseen
    assert {name for name, _ in unseen} < DISGUISES.keys()


def test_each_disguise_hides_no_common_token() -> None:
    chance = random.Random(SEED)
    for name, hide in DISGUISES.items():
        for kind in ("aws-access-key-id", "github-pat", "anthropic", "jwt", "our-project-token"):
            assert scan(hide(filled(PREFIXED[kind], chance), chance)), (name, kind)


def test_of_5_000_commit_like_messages_at_most_two_in_100_are_taken_for_secrets() -> None:
    texts = messages(random.Random(SEED), 5_000)
    alarms = [text for text in texts if scan(text)]
    assert len(alarms) <= len(texts) * 0.02, alarms[:5]


def test_ids_and_digests_are_no_secrets() -> None:
    texts = identifiers(random.Random(SEED), 500)
    alarms = [text for text in texts if scan(text)]
    assert len(alarms) <= len(texts) * 0.02, alarms[:5]


def test_this_repositorys_own_log_holds_none() -> None:
    log = subprocess.run(["git", "log", "--format=%B%x00"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [(entry.splitlines()[0], scan(entry)) for entry in log.split("\0") if scan(entry)]
    assert found == []
