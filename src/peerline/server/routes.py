"""The list of routes: what each needs before its function is called; OpenAPI is made from the same list."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

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


class Route:
    """`fields` None: the body is not read. `strict`: our own routes refuse unknown fields. `timing` is given by
    `Routes`. `described`: in OpenAPI; other protocols have descriptions of their own."""

    __slots__ = (
        "answer",
        "answers",
        "described",
        "fields",
        "limited",
        "method",
        "path",
        "proof",
        "query",
        "strict",
        "summary",
        "timing",
    )

    def __init__(
        self,
        method: str,
        path: str,
        proof: Proof,
        answer: Callable[[Call], Answer],
        fields: Sequence[Field] | None = None,
        summary: str = "",
        strict: bool = False,
        limited: bool = True,
        query: Sequence[str] = (),
        answers: Sequence[int] = (200,),
        described: bool = True,
    ) -> None:
        self.method, self.path, self.proof, self.answer = method, path, proof, answer
        self.fields, self.summary, self.strict, self.limited = fields, summary, strict, limited
        self.query, self.answers, self.described = query, answers, described
        self.timing: Histogram | None = None


class _Shape:
    """A route with parameters: where each name stands among the segments, and the words that its key leaves open."""

    __slots__ = ("names", "route", "words")

    def __init__(self, route: Route, parts: list[str]) -> None:
        self.route = route
        self.names = [(at, part[1:-1]) for at, part in enumerate(parts) if part[:1] == "{"]
        self.words = [(at, part) for at, part in enumerate(parts[:-1]) if part[:1] != "{" and at != 2]


class Routes:
    """Found by method, length, noun and last segment: what differs between the shapes of one noun is their verb."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.all = tuple(routes)
        self._fixed: dict[tuple[str, str], Route] = {}
        self._shaped: dict[tuple[str, int, str, str | None], _Shape] = {}
        for route in self.all:
            route.timing = Histogram(DURATIONS_S)
            parts = route.path.split("/")
            if "{" not in route.path:
                self._fixed[route.method, route.path] = route
            else:
                last = None if parts[-1][:1] == "{" else parts[-1]
                key = (route.method, len(parts), parts[2], last)
                assert key not in self._shaped, f"two routes of one shape: {route.path}"
                self._shaped[key] = _Shape(route, parts)

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
        for at, word in found.words:
            if parts[at] != word:
                return None
        parameters: dict[str, str] = {}
        for at, name in found.names:
            if not parts[at]:
                return None
            parameters[name] = parts[at]
        return found.route, parameters
