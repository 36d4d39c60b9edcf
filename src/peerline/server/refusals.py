"""A refusal as an HTTP answer: one shape on every route (spec/hub.md 3.1)."""

from typing import Any, Final

from peerline.core import errors
from peerline.core.errors import PeerlineError
from peerline.server.exchange import Response
from peerline.server.preferences import APPLIED
from peerline.wire.json_body import encode

STATUS: dict[type[PeerlineError], int] = {
    errors.StorageFull: 507,
    errors.Unavailable: 503,
    errors.Invalid: 400,
    errors.Unproven: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.WrongMedia: 415,
    errors.Misdirected: 421,
    errors.UpgradeRequired: 426,
    errors.TooMany: 429,
}
# Of any length: compiled, a tuple of known length is taken apart and made anew at each use.
HeaderLines = tuple[tuple[str, str], ...]
JSON: Final[HeaderLines] = (
    ("content-type", "application/json; charset=utf-8"),
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
)
SHORT_JSON: Final[HeaderLines] = (*JSON, APPLIED)
INTERNAL = "internal server error"
RETRY_S = 2


def status_of(error: PeerlineError) -> int:
    return next(status for kind, status in STATUS.items() if isinstance(error, kind))


def json_answer(value: Any, status: int = 200) -> Response:
    return Response(status=status, headers=JSON, body=encode(value))


def raw_answer(*pieces: bytes, status: int = 200) -> Response:
    """`pieces` together are JSON already."""
    return Response(status, JSON, "", b"", False, pieces)


def short_answer(body: bytes, status: int = 200) -> Response:
    """What was preferred: an answer without texts, JSON already."""
    return Response(status, SHORT_JSON, "", body)


def refusal(error: BaseException, request_id: str) -> Response:
    """Errors of 500 and above keep one text; their `detail` and `nextAction` say more. What is no refusal is a 500
    without any detail: the log has it."""
    if not isinstance(error, PeerlineError):
        return error_answer(500, "internal_error", INTERNAL, request_id, {"nextAction": "see_the_hub_log"})
    status = status_of(error)
    extras = {name: value for name, value in error.extras.items() if name != "retryAfter"}
    text = error.text
    if status >= 500:
        extras = {"detail": error.text, **extras}
        text = INTERNAL
    answer = error_answer(status, error.code, text, request_id, extras)
    if status in (429, 503):
        answer.headers += (("retry-after", str(error.extras.get("retryAfter", RETRY_S))),)
    if status == 426:
        answer.headers += (("upgrade", "websocket"),)
    if status == 401:
        answer.headers += (("www-authenticate", "Bearer"),)
    return answer


def error_answer(status: int, code: str, text: str, request_id: str, extras: dict[str, Any]) -> Response:
    return json_answer({"error": text, "code": code, "requestId": request_id, **extras}, status)
