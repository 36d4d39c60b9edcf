"""Project tokens: minted for this machine's user, created, rotated and revoked by the administrator; live at once."""

from collections.abc import Callable
from typing import NamedTuple

from peerline.core.access import GATEWAY_SCOPE, Access, ProjectToken, digest
from peerline.core.errors import TokenEnded, TokenNotFound
from peerline.core.ids import Entropy, Millis, random_id
from peerline.database.later import Later
from peerline.hub.journal import Journal
from peerline.hub.wakeups import Wakeups
from peerline.store.api import Store, Tx

PREFIX = "kxm_project_"
LOCAL = "local"


class Created(NamedTuple):
    """A new token; `secret` is shown this once and never again.

    `closed` is True when it was the project's first listed one: from then on the admin token does not open it any more.
    `replaced` is the token that a rotation ends.
    """

    token: ProjectToken
    secret: str
    closed: bool
    replaced: ProjectToken | None = None


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
        self._next_end: Millis | None = access.next_end(now())

    def create(
        self,
        project: str,
        label: str,
        *,
        listed: bool = True,
        ttl_ms: Millis | None = None,
        scope: str | None = None,
    ) -> Later[Created]:
        """A further token for `project`; a `listed` one closes the project to the admin token."""
        token, secret = self._new(project, label, listed, ttl_ms, scope)
        return self._store.write(lambda tx: tx.tokens.add(token)).map(lambda _: self._created(token, secret, None))

    def mint_local(self, project: str) -> Later[Created]:
        """A token for the hub's own user on this machine; it does not close the project to anyone."""
        return self.create(project, LOCAL, listed=False)

    def mint_gateway(self, project: str) -> Later[Created]:
        """A token for the gateway that the hub's own user runs: it proves the project's gateway agent, nothing else."""
        return self.create(project, GATEWAY_SCOPE, listed=False, scope=GATEWAY_SCOPE)

    def tokens(self, project: str) -> list[ProjectToken]:
        return sorted(self._access.tokens(project), key=lambda token: token.created_at)

    def rotate(self, project: str, token_id: str, grace_ms: Millis) -> Later[Created]:
        """A new token in the place of a live one, which goes on for `grace_ms` at most: until then both are valid.

        The new one has the old one's label and life span.

        Raises:
            TokenNotFound; TokenEnded: the old one is not valid any more, or has been rotated already.
        """
        now = self._now()
        old = self._find(project, token_id)
        if not old.live(now):
            raise TokenEnded("the token has ended and cannot be rotated", nextAction="create_a_token")
        if old.revoked_at is not None:
            raise TokenEnded("the token has been rotated already and only has its grace time", nextAction="list_tokens")
        span = None if old.expires_at is None else old.expires_at - old.created_at
        token, secret = self._new(project, old.label, old.listed, span, old.scope)
        ended = old._replace(revoked_at=now + grace_ms)

        def work(tx: Tx) -> None:
            tx.tokens.add(token)
            tx.tokens.end(ended.id, ended.expires_at, ended.revoked_at)

        return self._store.write(work).map(lambda _: self._created(token, secret, ended))

    def revoke(self, project: str, token_id: str) -> Later[ProjectToken]:
        """End a token now; streams that it opened end with it. Revoking it again changes nothing.

        Raises: TokenNotFound
        """
        found, now = self._find(project, token_id), self._now()
        ended = found._replace(revoked_at=now) if found.live(now) else found

        def stored(_: None) -> ProjectToken:
            self._access.put([ended])
            self._journal.event("project_token_revoked", project=project, tokenId=token_id)
            self.end_streams()
            return ended

        return self._store.write(lambda tx: tx.tokens.end(ended.id, ended.expires_at, ended.revoked_at)).map(stored)

    def open_to_admin(self, project: str) -> bool:
        return self._access.open_to_admin(project, self._now())

    def configured(self, project: str) -> bool:
        return self._access.configured(project)

    def look(self) -> None:
        """End the streams of tokens that have run out since the last look; costs nothing while none has."""
        if self._next_end is not None and self._now() >= self._next_end:
            self.end_streams()

    def end_streams(self) -> None:
        """Close the streams whose token no longer opens their project."""
        now = self._now()
        self._next_end = self._access.next_end(now)
        for feed in self._wakeups.all():
            opens = self._access.gateway if feed.agent.gateway else self._access.project
            if not opens(feed.agent.project, feed.token_digest, now):
                feed.end()

    def _find(self, project: str, token_id: str) -> ProjectToken:
        found = next((t for t in self._access.tokens(project) if t.id == token_id), None)
        if found is None:
            raise TokenNotFound("the project has no token of that id", nextAction="list_tokens")
        return found

    def _new(
        self, project: str, label: str, listed: bool, ttl_ms: Millis | None, scope: str | None
    ) -> tuple[ProjectToken, str]:
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
            scope=scope,
        )
        return token, secret

    def _created(self, token: ProjectToken, secret: str, replaced: ProjectToken | None) -> Created:
        was_open = self.open_to_admin(token.project)
        self._access.put([token] if replaced is None else [token, replaced])
        event = "project_token_created" if replaced is None else "project_token_rotated"
        self._journal.event(event, project=token.project, tokenId=token.id, label=token.label)
        closed = was_open and not self.open_to_admin(token.project)
        if token.expires_at is not None or closed or replaced is not None:
            self.end_streams()
        return Created(token, secret, closed, replaced)
