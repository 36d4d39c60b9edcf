"""Harmless texts: messages as commits and agents write them, full of words and numbers that only look like secrets."""

import base64
import random
import uuid
from collections.abc import Callable
from typing import Final

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def _hex(chance: random.Random, size: int) -> str:
    return "".join(chance.choices("0123456789abcdef", k=size))


def _ulid(chance: random.Random) -> str:
    return "01" + "".join(chance.choices(_CROCKFORD, k=24))


_VALUES: Final[dict[str, Callable[[random.Random], str]]] = {
    "sha": lambda c: _hex(c, 40),
    "short": lambda c: _hex(c, c.randrange(7, 13)),
    "sha256": lambda c: _hex(c, 64),
    "integrity": lambda c: "sha512-" + base64.b64encode(c.randbytes(64)).decode(),
    "blob": lambda c: base64.b64encode(c.randbytes(90)).decode(),
    "uuid": lambda c: str(uuid.UUID(int=c.getrandbits(128))),
    "ulid": _ulid,
    "message": lambda c: "msg_" + _hex(c, 32),
    "n": lambda c: str(c.randrange(2, 9_000)),
    "version": lambda c: f"{c.randrange(9)}.{c.randrange(30)}.{c.randrange(20)}",
    "scope": lambda c: c.choice(
        ["auth", "hub", "cli", "store", "network", "docs", "secret-store", "tokens", "gateway"]
    ),
    "verb": lambda c: c.choice(["fix", "feat", "refactor", "test", "docs", "chore", "perf", "build"]),
    "noun": lambda c: c.choice(
        [
            "token refresh",
            "password reset",
            "secret scanner",
            "api key lookup",
            "retry loop",
            "connection pool",
            "credential helper",
        ]
    ),
    "name": lambda c: c.choice(
        ["parse_token", "password_hash", "secretName", "apiKeyId", "read_credentials", "tokenUrl"]
    ),
    "file": lambda c: c.choice(
        ["src/auth/token.py", "docs/operations/secrets.md", "config/credentials.example.yaml", "tests/test_password.py"]
    ),
    "room": lambda c: c.choice(["build", "release", "architecture"]),
    "agent": lambda c: c.choice(["alice-cursor", "bob-claude", "ci-codex"]),
    "date": lambda c: f"2026-{c.randrange(1, 13):02}-{c.randrange(1, 29):02}T{c.randrange(24):02}:11:07.412Z",
}

_SUBJECTS: Final = (
    "{verb}({scope}): {noun} in {file}",
    "{verb}: bump secret-store from {version} to {version}",
    "Merge branch 'task-{n}-rework-the-{scope}-token-handling-for-the-second-time' into main",
    'Revert "{verb}({scope}): rework {noun}"',
    "Rename {name} to {name} (#{n})",
    "The {noun} no longer logs the token",
    "{noun}: wait {n} ms, not {n}",
)
_BODIES: Final = (
    "This reverts commit {sha}.",
    "Fixes #{n}. Co-authored-by: Ada <ada@acme.test>",
    "thread {ulid}, message {message}, answered {date}",
    "trace id {uuid}, image sha256:{sha256}",
    '"integrity": "{integrity}",',
    "patch: {blob}",
    "The password is required now, and the token is optional.",
    "token = get_token(request, scope={n})",
    "password: str | None = None",
    "secret=os.environ['SECRET_KEY']",
    "api_key=settings.api_key, timeout={n}",
    "api_key: ${{{{ secrets.DEPLOY_API_KEY }}}}",
    "export API_KEY=<your-api-key>",
    "Set KXM_AUTH_TOKEN to the token of the project, else it is made.",
    "curl -H 'Authorization: Bearer $TOKEN' https://api.acme.test/v1/{scope}",
    "postgres://user:password@localhost:5432/app in the docs",
    "see https://acme.test/docs/{scope}#token-{n} and {file}:{n}",
    "passwordFile: /run/secrets/db_password",
    "secretName: my-app-tls-{scope}",
    "token_id={message} was revoked, token type: bearer",
    "max_tokens={n}, tokens used: {n}",
    "def test_a_token_is_refused_after_rotation(tmp_path): ...",
    "- tokens: {n} of {n} rotated\n- secrets: none found",
    "if (token === undefined) {{ throw new Error('no token'); }}",
    "private_key_path = ~/.ssh/id_ed25519",
    "assert response.headers['X-Api-Key'] is None",
    "@{agent} can you look at {file}@{short}? in room {room}",
    "refs: acme/payments@{short}:{file}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{blob} ci@acme.test",
    "-----BEGIN CERTIFICATE-----\n{blob}\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n{blob}\n-----END PUBLIC KEY-----",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx is what a token looks like",
    "AKIAIOSFODNN7EXAMPLE is the sample of the documents",
    'kind: ConfigMap\ndata:\n  retries: "{n}"',
    "data:image/png;base64,{blob}{blob}",
    "Пароль не выводится, 令牌已轮换, contraseña: ninguna",
    "the build took {n} s on {uuid}; {n} % faster than {short}",
    "password must have at least {n} characters",
    "GET /v1/messages/{message}?waitMs={n} → 200",
    "credential.helper = cache --timeout={n}",
    "`kxm hub token rotate` prints the new one once",
)


def messages(chance: random.Random, count: int) -> list[str]:
    """A subject and up to four lines of body each."""
    made = []
    for _ in range(count):
        lines = [chance.choice(_SUBJECTS)]
        if chance.random() < 0.8:
            lines += ["", *chance.choices(_BODIES, k=chance.randrange(1, 5))]
        made.append("\n".join(_filled(line, chance) for line in lines))
    return made


def identifiers(chance: random.Random, count: int) -> list[str]:
    """Ids and digests, alone and in lists."""
    kinds = ("sha", "sha256", "uuid", "ulid", "message", "integrity")
    return [
        chance.choice((" ", "\n", ", ")).join(
            _VALUES[chance.choice(kinds)](chance) for _ in range(chance.randrange(1, 12))
        )
        for _ in range(count)
    ]


class _Values(dict[str, str]):
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def __missing__(self, name: str) -> str:
        return _VALUES[name](self._chance)


def _filled(template: str, chance: random.Random) -> str:
    return template.format_map(_Values(chance))
