"""Signatures by the real ssh-keygen: the recorded one holds over our form of its post; one changed byte breaks it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from peerline.core.post import Post
from peerline.network.signing import (
    NoSigningKey,
    SigningFailed,
    SshKeygenMissing,
    Verifier,
    sign,
    signing_key,
)
from peerline.wire.post_file import canonical, read_post, signed_form, write_post
from peerline.wire.room_files import ALLOWED_SIGNERS, signer_line
from tests.network.fixtures import Author
from tests.network.golden import added_files, golden_repositories, needs_golden
from tests.network.keys import ENVIRON, needs_ssh_keygen, new_key, public
from tests.wire.test_card_files import main_files

pytestmark = needs_ssh_keygen


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("alice", "bob"):
        new_key(folder, name)
    return folder


@pytest.fixture(scope="module")
def verifier(keys: Path) -> Iterator[Verifier]:
    signers = signer_line("alice", public(keys / "alice")) + signer_line("bob", public(keys / "bob"))
    with Verifier(signers, ENVIRON) as made:
        yield made


def a_signed_post(keys: Path) -> Post:
    post = Author("alice").post("build", "signed, é\n\n  with its blanks  \n\n", to=("@room",))
    post = post._replace(extra={"x": [1, "true"]})
    return post._replace(sig=sign(canonical(post), keys / "alice", ENVIRON))


def test_a_signature_of_ours_holds_for_its_author_and_for_nobody_else(keys: Path, verifier: Verifier) -> None:
    post = a_signed_post(keys)
    assert post.sig is not None
    data = write_post(post)
    assert verifier.holds(signed_form(data), post.sig, "alice")
    assert not verifier.holds(signed_form(data), post.sig, "bob")
    assert not verifier.holds(signed_form(data), post.sig, "carol")
    assert verifier.holds(signed_form(data.replace(b"\n", b"\r\n")), post.sig, "alice")


def test_one_changed_byte_anywhere_breaks_a_signature(keys: Path, verifier: Verifier) -> None:
    post = a_signed_post(keys)
    assert post.sig is not None
    payload = signed_form(write_post(post))
    for at in range(0, len(payload), len(payload) // 12):
        changed = payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :]
        assert not verifier.holds(changed, post.sig, "alice")
    assert not verifier.holds(payload[:-1], post.sig, "alice")


@needs_golden
def test_the_recorded_signature_holds_and_one_changed_byte_breaks_it() -> None:
    repository = golden_repositories()["signed"]
    ((path, data),) = added_files(repository, "refs/heads/room/r")
    post = read_post(path, data)
    assert post.sig is not None
    with Verifier(main_files(repository)[ALLOWED_SIGNERS], ENVIRON) as verifier:
        assert verifier.holds(canonical(post), post.sig, "alice-a")
        assert verifier.holds(signed_form(data), post.sig, "alice-a")
        assert not verifier.holds(signed_form(data), post.sig, "bob-b")
        for before, after in (
            (b"signed hello", b"signed Hello"),
            (b"hello\n", b"hello"),
            (b"priority: normal", b"priority: high"),
            (b"  - bob-b\n", b"  - bob-b\n  - carol\n"),
            (b"---\nsigned", b"x: 1\n---\nsigned"),
        ):
            assert before in data
            assert not verifier.holds(signed_form(data.replace(before, after)), post.sig, "alice-a")


@pytest.mark.parametrize(
    "signature",
    ["", "x", "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----", "x" * 100_000, "\x00\n"],
)
def test_what_is_no_signature_does_not_hold(verifier: Verifier, signature: str) -> None:
    assert not verifier.holds(b"payload", signature, "alice")


def test_a_signature_made_for_something_else_does_not_hold(keys: Path, verifier: Verifier) -> None:
    words = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(keys / "alice")]
    made = subprocess.run(words, input=b"payload", capture_output=True, check=True).stdout.decode()
    assert not verifier.holds(b"payload", made, "alice")


def test_a_key_with_a_passphrase_asks_nobody_and_says_what_to_do(tmp_path: Path) -> None:
    locked = new_key(tmp_path, "locked", "a passphrase")
    with pytest.raises(SigningFailed, match="ssh-add"):
        sign(b"payload", locked, ENVIRON)


def test_without_ssh_keygen_nothing_is_signed_and_the_text_says_what_to_install(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    with pytest.raises(SshKeygenMissing, match="install OpenSSH"):
        sign(b"payload", tmp_path / "key", environ)
    with Verifier(b"", environ) as verifier, pytest.raises(SshKeygenMissing):
        verifier.holds(b"payload", "x", "alice")


def test_a_hanging_ssh_keygen_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    program = tmp_path / "ssh-keygen"
    program.write_text("#!/bin/sh\nsleep 1000 & wait\n")
    program.chmod(0o755)
    # The sleep holds our pipes: only its end lets this return.
    with pytest.raises(SigningFailed, match=r"longer than 0.2 s"):
        sign(b"payload", tmp_path / "key", {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, limit_s=0.2)


def test_the_key_is_the_one_of_git_or_the_usual_one(tmp_path: Path) -> None:
    ssh = tmp_path / ".ssh"
    ssh.mkdir()
    with pytest.raises(NoSigningKey, match="ssh-keygen -t ed25519"):
        signing_key(None, tmp_path)
    (ssh / "id_rsa").touch()
    assert signing_key(None, tmp_path) == ssh / "id_rsa"
    (ssh / "id_ed25519").touch()
    assert signing_key("/no/such/file", tmp_path) == ssh / "id_ed25519"
    assert signing_key("~/.ssh/id_rsa", tmp_path) == ssh / "id_rsa"
    assert signing_key("ssh-ed25519 AAAA", tmp_path) == ssh / "id_ed25519"
