"""Project tokens on the wire: what may be asked of one, and the record that never holds its secret."""

from typing import Any, Final

from peerline.core import limits
from peerline.core.access import ProjectToken
from peerline.core.ids import Millis
from peerline.wire.fields import Field, Integer, Label, Text
from peerline.wire.instants import instant

DAY_MS: Final = 86_400_000


class Span:
    """A whole number of milliseconds that may be left out."""

    __slots__ = ("_integer", "default", "name", "required")

    def __init__(self, name: str, low: int, high: int) -> None:
        self.name, self.required, self.default, self._integer = name, False, None, Integer(name, low, high)

    def read(self, body: dict[str, Any]) -> Millis | None:
        return None if body.get(self.name) is None else self._integer.read(body)

    def schema(self) -> dict[str, Any]:
        schema = self._integer.schema()
        return {**schema, "type": [schema["type"], "null"]}


LABEL: Final = Label("label", limits.NAME, default="")
TTL: Final = Span("ttlMs", 1_000, 366 * DAY_MS)
GRACE: Final = Integer("graceMs", 0, 30 * DAY_MS, DAY_MS)
CREATE: tuple[Field, ...] = (LABEL, TTL)
ROTATE: tuple[Field, ...] = (GRACE,)
PROJECT: Final = Text("project", limits.PROJECT, required=True)


def record(token: ProjectToken, now: Millis) -> dict[str, Any]:
    """The public record. `local` tells a token minted over the Unix socket; `state` is live, rotated (live until
    `revokedAt`), expired or revoked."""
    if token.live(now):
        state = "live" if token.revoked_at is None else "rotated"
    else:
        state = "revoked" if token.revoked_at == token.end else "expired"
    out: dict[str, Any] = {
        "id": token.id,
        "project": token.project,
        "label": token.label,
        "state": state,
        "local": not token.listed,
        "createdAt": instant(token.created_at),
    }
    if token.scope is not None:
        out["scope"] = token.scope
    if token.expires_at is not None:
        out["expiresAt"] = instant(token.expires_at)
    if token.revoked_at is not None:
        out["revokedAt"] = instant(token.revoked_at)
    return out
