"""`/openapi.json`: OpenAPI 3.1, made from the list of routes and the field tables that validate."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from peerline.core import limits
from peerline.server.exchange import Answer, Response
from peerline.server.openapi_records import ANSWERS, ERROR, HEADERS, MEDIA, RECORDS, TEXT, one_of, ref
from peerline.server.openapi_refusals import codes, refusals
from peerline.server.refusals import raw_answer
from peerline.server.routes import Call, Proof, Route
from peerline.wire.fields import Field
from peerline.wire.json_body import encode

Json = dict[str, Any]

QUERY: Final[dict[str, Json]] = {
    "includeOffline": {"type": "boolean", "default": False},
    "includeRemote": {"type": "boolean", "default": False},
    "state": {"type": "string", "enum": ["open", "undelivered", "final", "unread", "all"], "default": "all"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    "waitMs": {"type": "integer", "minimum": 0, "maximum": limits.AWAIT_MAX_MS, "default": 0},
    "agentId": {"type": "string", "minLength": 1, "maxLength": limits.ID},
    "notes": {"type": "boolean", "default": False},
    "peek": {"type": "boolean", "default": False},
    "presenceOnly": {"type": "boolean", "default": False},
    "project": {"type": "string", "minLength": 1, "maxLength": limits.PROJECT},
}
NEEDED: Final = {"agentId", "project"}
_CHANGES: Final = ("/v1/messages", "/v1/messages/{id}/ack", "/v1/messages/{id}/reply")
PREFERRED: Final = {("GET", "/v1/events"), *(("POST", path) for path in _CHANGES)}
PATH: Final[dict[str, Json]] = {
    "id": {"type": "string", "minLength": 1},
    "name": {"type": "string", "minLength": 1, "maxLength": limits.LEASE_NAME},
    "project": {"type": "string", "minLength": 1, "maxLength": limits.PROJECT},
}
SECURITY: Final[Json] = {
    "projectToken": {"type": "http", "scheme": "bearer", "description": "The project's token."},
    "adminToken": {"type": "http", "scheme": "bearer", "description": "The hub's admin token."},
    "agentId": {"type": "apiKey", "in": "header", "name": "x-kxm-agent-id"},
    "agentKey": {"type": "apiKey", "in": "header", "name": "x-kxm-agent-key"},
}
_AGENT: Final[Json] = {"projectToken": [], "agentId": [], "agentKey": []}
_PROOFS: Final[dict[Proof, list[Json]]] = {
    Proof.NONE: [],
    Proof.AGENT: [_AGENT],
    Proof.ADMIN: [{"adminToken": []}],
    Proof.ADMIN_CONFIGURED: [{"adminToken": []}],
}
# Routes that prove their caller themselves.
_OWN_PROOFS: Final[dict[str, list[Json]]] = {
    "/v1/agents/register": [{"projectToken": []}],
    "/v1/events": [{"projectToken": [], "agentKey": []}],
    "/v1/local/token": [],
    "/v1/local/projects": [],
}


class OpenApiRoutes:
    def __init__(self, version: str) -> None:
        self._version = version
        self._routes: tuple[Route, ...] = ()
        self._document: bytes | None = None

    def routes(self) -> list[Route]:
        return [Route("GET", "/openapi.json", Proof.NONE, self.show, None, "This description.")]

    def describe(self, routes: tuple[Route, ...]) -> None:
        """Tell which routes are served."""
        self._routes, self._document = routes, None

    def show(self, call: Call) -> Answer:
        """Made at the first call: a hub that nobody asks does not pay for it."""
        if self._document is None:
            self._document = encode(document(self._routes, self._version))
        return Response(status=200, headers=raw_answer().headers, body=self._document)


def document(routes: Iterable[Route], version: str) -> Json:
    paths: dict[str, Json] = {}
    for route in routes:
        if not route.described:
            continue
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Peerline hub",
            "version": version,
            "description": "Durable request and reply between coding agents. Match errors on `code`.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {**RECORDS, "Error": {**ERROR, "properties": {**ERROR["properties"], "code": one_of(codes())}}},
            "headers": HEADERS,
            "securitySchemes": SECURITY,
        },
    }


def _operation(route: Route) -> Json:
    own = _OWN_PROOFS[route.path] if route.proof is Proof.SELF else _PROOFS[route.proof]
    operation: Json = {
        "operationId": _name(route),
        "summary": route.summary,
        "security": own,
        "parameters": [*_in_path(route), *_in_query(route)],
        "responses": _responses(route),
    }
    if (route.method, route.path) in PREFERRED:
        operation["parameters"].append(
            {
                "name": "Prefer",
                "in": "header",
                "required": False,
                "schema": TEXT,
                "description": "`return=minimal` leaves out the texts that the caller has sent or got.",
            }
        )
    if route.path == "/v1/events":
        operation["parameters"].append(
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "schema": TEXT,
                "description": "The newest `id` seen: outcomes after it are sent again. Anything else counts as none.",
            }
        )
    if route.fields is not None:
        operation["requestBody"] = {
            "required": any(field.required for field in route.fields),
            "content": {"application/json": {"schema": _body(route.fields, route.strict)}},
        }
    return operation


def _name(route: Route) -> str:
    words = route.path.replace("{", "").replace("}", "").replace(".", "/").removeprefix("/v1").split("/")
    return "_".join([route.method.lower(), *(word for word in words if word)])


def _in_path(route: Route) -> list[Json]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": PATH[name]} for name in names]


def _in_query(route: Route) -> list[Json]:
    return [
        {"name": name, "in": "query", "required": name in NEEDED, "schema": QUERY.get(name, {})} for name in route.query
    ]


def _body(fields: Sequence[Field], strict: bool) -> Json:
    schema: Json = {"type": "object", "properties": {field.name: field.schema() for field in fields}}
    if required := [field.name for field in fields if field.required]:
        schema["required"] = required
    return {**schema, "additionalProperties": not strict}


def _responses(route: Route) -> Json:
    found: Json = {}
    for status in route.answers:
        found[str(status)] = {"description": "As asked.", "headers": _headers(route)}
        if status != 204:
            media = MEDIA.get(route.path, "application/json")
            found[str(status)]["content"] = {media: {"schema": ANSWERS.get((route.method, route.path), {})}}
    for status, named in refusals(route).items():
        if status in route.answers:
            continue  # /ready says 503 in its own words
        headers = _headers(route)
        if status in (429, 503):
            headers["retry-after"] = _header("retry-after")
        found[str(status)] = {
            "description": ", ".join(named),
            "headers": headers,
            "content": {"application/json": {"schema": _error(named)}},
        }
    return dict(sorted(found.items()))


def _headers(route: Route) -> Json:
    names = ["x-request-id", *(["x-ratelimit-limit", "x-ratelimit-remaining"] if route.limited else [])]
    return {name: _header(name) for name in names}


def _header(name: str) -> Json:
    return {"$ref": f"#/components/headers/{name}"}


def _error(named: Sequence[str]) -> Json:
    return {"allOf": [ref("Error")], "properties": {"code": {"enum": list(named)}}}
