"""The list of routes: what each needs before its function is called; OpenAPI is made from the same list."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from peerline.core.histogram import DURATIONS_S, Histogram
from peerline.server.auth import Caller
from peerline.server.exchange import Answer, Request
from peerline.wire.fields import Field


class Proof(Enum):
    NONE = "none"
    SELF = "checked by the route itself"
    AGENT = "agent"
    ADMIN = "admin"
    ADMIN_CONFIGURED = "admin, and the hub must have an admin token"


class Call:
    """One request on its way into a route: path parameters decoded, body read if the route has fields."""

    __slots__ = ("body", "caller", "parameters", "request")

    def __init__(
        self, request: Request, parameters: dict[str, str], body: dict[str, Any], caller: Caller | None
    ) -> None:
        self.request, self.parameters, self.body, self.caller = request, parameters, body, caller

    @property
    def by(self) -> Caller:
        assert self.caller is not None, "the route asked for an agent's proof"
        return self.caller


class Route(NamedTuple):
    method: str
    path: str
    proof: Proof
    answer: Callable[[Call], Answer]
    fields: Sequence[Field] | None = None  # None: the body is not read
    summary: str = ""
    strict: bool = False  # our own routes refuse unknown fields
    limited: bool = True
    query: Sequence[str] = ()
    answers: Sequence[int] = (200,)
    timing: Histogram | None = None  # given by `Routes`
    described: bool = True  # in OpenAPI; other protocols have descriptions of their own


class _Shape(NamedTuple):
    """A route with parameters: where each name stands among the segments, and the words that its key leaves open."""

    route: Route
    names: tuple[tuple[int, str], ...]
    words: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, route: Route, parts: Sequence[str]) -> "_Shape":
        names = tuple((at, part[1:-1]) for at, part in enumerate(parts) if part[:1] == "{")
        words = tuple((at, part) for at, part in enumerate(parts[:-1]) if part[:1] != "{" and at != 2)
        return cls(route, names, words)


class Routes:
    """Found by method, length, noun and last segment: what differs between the shapes of one noun is their verb."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.all = tuple(route._replace(timing=Histogram(DURATIONS_S)) for route in routes)
        self._fixed: dict[tuple[str, str], Route] = {}
        self._shaped: dict[tuple[str, int, str, str | None], _Shape] = {}
        for route in self.all:
            parts = route.path.split("/")
            if "{" not in route.path:
                self._fixed[route.method, route.path] = route
            else:
                last = None if parts[-1][:1] == "{" else parts[-1]
                key = (route.method, len(parts), parts[2], last)
                assert key not in self._shaped, f"two routes of one shape: {route.path}"
                self._shaped[key] = _Shape.of(route, parts)

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        """The route and its raw path parameters; a wrong method is no route either."""
        fixed = self._fixed.get((method, path))
        if fixed is not None:
            return fixed, {}
        parts = path.split("/")
        count = len(parts)
        if count < 4:
            return None
        found = self._shaped.get((method, count, parts[2], parts[-1])) or self._shaped.get(
            (method, count, parts[2], None)
        )
        if found is None:
            return None
        route, names, words = found
        for at, word in words:
            if parts[at] != word:
                return None
        parameters = {name: parts[at] for at, name in names}
        return None if "" in parameters.values() else (route, parameters)
