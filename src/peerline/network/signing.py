"""SSH signatures of posts: made and checked by the user's own ssh-keygen (spec/network.md 3.7).

It gets its input on standard input, always, and no terminal; it is killed with all it started when it takes too long.
"""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from peerline.core.errors import Conflict, Unavailable
from peerline.core.fence import visible

NAMESPACE: Final = "komnet"
SIGNATURE_CHARACTERS: Final = 16_384
LIMIT_S: Final = 10.0
_KEYS: Final = ("id_ed25519", "id_ecdsa", "id_rsa")
_PASSED: Final = ("PATH", "HOME", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR")


class NoSigningKey(Conflict):
    """The network wants signatures and no key was found to make one with."""

    code = "NO_SIGNING_KEY"


class SigningFailed(Unavailable):
    """ssh-keygen is missing, did not sign, or took too long; nothing has been sent."""

    code = "SIGNING_FAILED"


class SshKeygenMissing(SigningFailed):
    code = "SSH_KEYGEN_MISSING"


def signing_key(configured: str | None, home: Path) -> Path:
    """The key to sign with: git's `user.signingkey` if it names a file, else the usual one in `~/.ssh`.

    Raises:
        NoSigningKey
    """
    if configured:
        named = Path(configured.replace("~/", f"{home}/", 1) if configured.startswith("~/") else configured)
        if named.is_absolute() and named.is_file():
            return named
    for name in _KEYS:
        if (usual := home / ".ssh" / name).is_file():
            return usual
    raise NoSigningKey(
        f"this network takes signed posts only, and there is no key to sign with: git config user.signingkey names no"
        f" file, and {home / '.ssh'} holds none of {', '.join(_KEYS)}. Make one: ssh-keygen -t ed25519; then ask a"
        " member to add its public half to .komnet/allowed_signers"
    )


def sign(payload: bytes, key: Path, environ: Mapping[str, str], limit_s: float = LIMIT_S) -> str:
    """The armored signature over `payload`, without its last newline.

    Raises:
        SigningFailed
    """
    code, out, complaint = _run(("-Y", "sign", "-n", NAMESPACE, "-f", str(key)), payload, environ, limit_s)
    text = out.decode("ascii", "replace").strip()
    if code or not text.startswith("-----BEGIN SSH SIGNATURE-----"):
        raise SigningFailed(
            f"ssh-keygen did not sign with {key}: {complaint or f'exit code {code}'}. A key with a passphrase has to be"
            " in the ssh-agent: ssh-add"
        )
    return text


class Verifier:
    """Checks signatures against one state of allowed_signers; as a context manager, since ssh-keygen reads files."""

    def __init__(self, signers: bytes, environ: Mapping[str, str], limit_s: float = LIMIT_S) -> None:
        self._environ = environ
        self._limit_s = limit_s
        self._folder = tempfile.TemporaryDirectory(prefix="komnet-verify-")
        self._signers = Path(self._folder.name) / "allowed_signers"
        self._signature = Path(self._folder.name) / "signature"
        self._signers.write_bytes(signers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._folder.cleanup()

    def holds(self, payload: bytes, signature: str, agent: str) -> bool:
        """Whether `signature` over `payload` is by a key that allowed_signers gives to `agent`.

        Raises:
            SigningFailed: it could not be checked.
        """
        if len(signature) > SIGNATURE_CHARACTERS:
            return False
        self._signature.write_text(signature.rstrip("\n") + "\n", encoding="utf-8", errors="replace")
        words = ("-Y", "verify", "-n", NAMESPACE, "-I", agent, "-f", str(self._signers), "-s", str(self._signature))
        return _run(words, payload, self._environ, self._limit_s)[0] == 0


def _run(words: tuple[str, ...], payload: bytes, environ: Mapping[str, str], limit_s: float) -> tuple[int, bytes, str]:
    kept = {name: environ[name] for name in _PASSED if environ.get(name)}
    try:
        process = subprocess.Popen(
            ["ssh-keygen", *words],
            env={**kept, "LC_ALL": "C", "SSH_ASKPASS_REQUIRE": "never"},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # without a terminal it cannot ask for a passphrase and wait for it
        )
    except OSError:
        raise SshKeygenMissing("ssh-keygen can't be started; install OpenSSH's client (openssh-client)") from None
    try:
        out, complaint = process.communicate(payload, limit_s)
    except subprocess.TimeoutExpired:
        raise SigningFailed(f"ssh-keygen took longer than {limit_s:g} s and was ended") from None
    finally:
        _end(process)
    return process.returncode, out, visible(complaint.decode(errors="replace").strip())


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, 9)
        process.communicate()
