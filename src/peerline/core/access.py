"""Which tokens open which project (spec/hub.md 3.3). Tokens are held as SHA-256 digests only."""

import hmac
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from peerline.core.ids import Millis

GATEWAY_SCOPE: Final = "gateway"


def digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


class ProjectToken(NamedTuple):
    """One of a project's tokens; `listed` ones close the project to the admin token, minted local ones do not.

    `revoked_at` lies in the future while a rotated token has its grace time. A token with a `scope` opens the project
    for that one purpose only: "gateway" for its gateway agent.
    """

    id: str
    project: str
    digest: bytes
    label: str
    listed: bool
    created_at: Millis
    expires_at: Millis | None
    revoked_at: Millis | None
    scope: str | None = None

    def live(self, now: Millis) -> bool:
        end = self.end
        return end is None or now < end

    @property
    def end(self) -> Millis | None:
        """When it ends, or ended; None: never."""
        if self.revoked_at is None or self.expires_at is None:
            return self.expires_at if self.revoked_at is None else self.revoked_at
        return min(self.expires_at, self.revoked_at)


class Access:
    """The live view of all tokens; changed in place when a token is created or revoked."""

    def __init__(self, admin_token: str | None, configured: Mapping[str, str], loopback: bool) -> None:
        self._admin = digest(admin_token) if admin_token else None
        self._configured = {project: digest(token) for project, token in configured.items()}
        self._loopback = loopback
        self._tokens: dict[str, dict[str, ProjectToken]] = {}
        self.generation = 0  # rises with every change: whoever remembers an answer asks again then

    @property
    def admin_configured(self) -> bool:
        return self._admin is not None

    def put(self, tokens: Iterable[ProjectToken]) -> None:
        self.generation += 1
        for token in tokens:
            self._tokens.setdefault(token.project, {})[token.id] = token

    def project_of(self, presented: bytes, now: Millis) -> str | None:
        """The one project that `presented` (a digest) was made for; None: none, or several."""
        configured = [name for name, own in self._configured.items() if hmac.compare_digest(presented, own)]
        made = [name for name, own in self._tokens.items() if _shown(presented, own.values(), None, now)]
        found = {*configured, *made}
        return found.pop() if len(found) == 1 else None

    def tokens(self, project: str) -> list[ProjectToken]:
        return list(self._tokens.get(project, {}).values())

    def configured(self, project: str) -> bool:
        """Whether the hub was started with a token for `project`."""
        return project in self._configured

    def open_to_admin(self, project: str, now: Millis) -> bool:
        """Whether the admin token opens `project` too: no token was configured for it, and no listed one lives."""
        own = self._tokens.get(project)
        return project not in self._configured and not (own and any(t.listed and t.live(now) for t in own.values()))

    def next_end(self, now: Millis) -> Millis | None:
        """When the next live token runs out."""
        ends = [t.end for own in self._tokens.values() for t in own.values() if t.live(now)]
        return min((end for end in ends if end is not None), default=None)

    def lasting(self, project: str) -> bool:
        """Whether answers for `project` hold until the next change: none of its tokens ends by itself."""
        own = self._tokens.get(project)
        return not own or all(t.expires_at is None or t.revoked_at is not None for t in own.values())

    def admin(self, presented: bytes | None) -> bool:
        """Whether `presented` (a digest) is the administrator; without any admin token, whoever is on this machine."""
        if self._admin is None:
            return self._loopback
        return presented is not None and hmac.compare_digest(presented, self._admin)

    def project(self, project: str, presented: bytes | None, now: Millis) -> bool:
        """Whether `presented` (a digest) opens `project`. A listed project refuses the admin token."""
        configured = self._configured.get(project)
        own = self._tokens.get(project)
        if presented is not None:
            if configured is not None and hmac.compare_digest(presented, configured):
                return True
            if own and _shown(presented, own.values(), None, now):
                return True
        if not self.open_to_admin(project, now):
            return False
        if self._admin is None:
            return True
        return presented is not None and hmac.compare_digest(presented, self._admin)

    def gateway(self, project: str, presented: bytes | None, now: Millis) -> bool:
        """Whether `presented` (a digest) proves the gateway of `project`: no other token does, the admin's neither."""
        own = self._tokens.get(project)
        return presented is not None and own is not None and _shown(presented, own.values(), GATEWAY_SCOPE, now)


def _shown(presented: bytes, tokens: Iterable[ProjectToken], scope: str | None, now: Millis) -> bool:
    return any(t.scope == scope and t.live(now) and hmac.compare_digest(presented, t.digest) for t in tokens)
