"""Project tokens: minted for this machine's user, created, rotated and revoked by the administrator; live at once."""

from collections.abc import Callable
from typing import NamedTuple

from peerline.core.access import Access, ProjectToken, digest
from peerline.core.errors import TokenNotFound
from peerline.core.ids import Entropy, Millis, random_id
from peerline.database.later import Later
from peerline.hub.journal import Journal
from peerline.hub.wakeups import Wakeups
from peerline.store.api import Store

PREFIX = "kxm_project_"
LOCAL = "local"


class Created(NamedTuple):
    """A new token; `secret` is shown this once and never again."""

    token: ProjectToken
    secret: str


class Projects:
    def __init__(
        self,
        store: Store,
        access: Access,
        wakeups: Wakeups,
        journal: Journal,
        now: Callable[[], Millis],
        entropy: Entropy,
    ) -> None:
        self._store, self._access, self._wakeups = store, access, wakeups
        self._journal, self._now, self._entropy = journal, now, entropy

    def create(self, project: str, label: str, *, listed: bool = True, ttl_ms: Millis | None = None) -> Later[Created]:
        """A further token for `project`; a `listed` one closes the project to the admin token."""
        now = self._now()
        secret = PREFIX + self._entropy(32).hex()
        token = ProjectToken(
            id=random_id("tok", self._entropy),
            project=project,
            digest=digest(secret),
            label=label,
            listed=listed,
            created_at=now,
            expires_at=None if ttl_ms is None else now + ttl_ms,
            revoked_at=None,
        )

        def stored(_: None) -> Created:
            self._access.put([token])
            self._journal.event("project_token_created", project=project, token=token.id, label=label)
            return Created(token, secret)

        return self._store.write(lambda tx: tx.tokens.add(token)).map(stored)

    def mint_local(self, project: str) -> Later[Created]:
        """A token for the hub's own user on this machine; it does not close the project to anyone."""
        return self.create(project, LOCAL, listed=False)

    def tokens(self, project: str) -> list[ProjectToken]:
        return sorted(self._access.tokens(project), key=lambda token: token.created_at)

    def revoke(self, project: str, token_id: str, *, grace_ms: Millis = 0) -> Later[ProjectToken]:
        """End a token now, or after `grace_ms`; streams that it opened end with it.

        Raises: TokenNotFound
        """
        now = self._now()
        found = next((t for t in self._access.tokens(project) if t.id == token_id), None)
        if found is None:
            raise TokenNotFound("token not found", nextAction="list_tokens")
        ended = found._replace(expires_at=now + grace_ms) if grace_ms else found._replace(revoked_at=now)

        def stored(_: None) -> ProjectToken:
            self._access.put([ended])
            self._journal.event("project_token_revoked", project=project, token=token_id, graceMs=grace_ms)
            self.end_streams()
            return ended

        return self._store.write(lambda tx: tx.tokens.end(ended.id, ended.expires_at, ended.revoked_at)).map(stored)

    def end_streams(self) -> None:
        """Close the streams whose token no longer opens their project."""
        now = self._now()
        for feed in self._wakeups.all():
            if not self._access.project(feed.agent.project, feed.token_digest, now):
                feed.end()
