"""The lines on the daemon's socket: one JSON object each, requests and answers (spec/network.md 6.1)."""

import json
from typing import Any, Final

from peerline.core.errors import PeerlineError

LINE_AT_MOST: Final = 8 * 1024 * 1024
# Whatever the words of a call: what a client may not say of itself.
REFUSED_MEMBERS: Final = ("authorKind", "author_kind", "asHuman", "forceUnsafe", "verified")


class Refusal(PeerlineError):
    """What the daemon answered instead of a result; `code` is its own or the operation's."""

    code = "FAILED"

    def __init__(self, text: str, code: str = "FAILED", **extras: Any) -> None:
        super().__init__(text, **extras)
        self.code = code  # type: ignore[misc]


class MalformedLine(Exception):
    """Not one JSON object with a method."""


def read_request(line: bytes) -> dict[str, Any]:
    """`{id, method, network?, params?}`.

    Raises:
        MalformedLine
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise MalformedLine("malformed JSON") from None
    if not isinstance(value, dict) or not isinstance(value.get("method"), str):
        raise MalformedLine("a request is an object with a method")
    if not isinstance(value.get("params", {}), dict):
        raise MalformedLine("params must be an object")
    if value.get("network") is not None and not isinstance(value["network"], str):
        raise MalformedLine("network must be a text")
    return value


def result_line(request_id: Any, result: Any) -> bytes:
    return _line({"id": request_id, "ok": True, "result": result})


def refusal_line(request_id: Any, text: str, code: str | None = None, extras: dict[str, Any] | None = None) -> bytes:
    error: dict[str, Any] = {"message": text, **({"code": code} if code else {}), **(extras or {})}
    return _line({"id": request_id, "ok": False, "error": error})


def event_line(request_id: Any, event: str, **facts: Any) -> bytes:
    """What a subscription tells, under the id of the `subscribe` that opened it."""
    return _line({"id": request_id, "event": event, **facts})


def request_line(request_id: int, method: str, params: dict[str, Any], network: str | None) -> bytes:
    return _line({"id": request_id, "method": method, **({"network": network} if network else {}), "params": params})


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
