"""JSON-RPC 2.0 on lines: what came as one value, what goes out as one line of ASCII."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
LINE_BYTES = 4 * 1024 * 1024


class Malformed(Exception):
    """A line that cannot be answered as what it may have meant."""

    def __init__(self, code: int, text: str, request_id: str | int | None = None) -> None:
        super().__init__(text)
        self.code, self.text, self.request_id = code, text, request_id


class Request:
    """A request, or a notification: then `id` is None."""

    __slots__ = ("id", "method", "params")

    def __init__(self, method: str, params: dict[str, Any], request_id: str | int | None) -> None:
        self.method, self.params, self.id = method, params, request_id


class Lines:
    """Bytes as they come, lines as they end. A line that grows beyond every bound comes back as None, once."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        self._rest += chunk
        found: list[bytes | None] = []
        *ended, rest = self._rest.split(b"\n")
        for line in ended:
            if self._skipping:
                self._skipping = False
            elif len(line) > LINE_BYTES:
                found.append(None)
            elif line.strip():
                found.append(bytes(line))
        self._rest = rest
        if len(rest) > LINE_BYTES:
            self._rest = bytearray()
            if not self._skipping:
                self._skipping = True
                found.append(None)
        return found

    def left(self) -> bytes:
        """What has come since the last line's end."""
        return bytes(self._rest)


def parse(line: bytes | None) -> Request | None:
    """What a line asks; None for an answer, since nothing was asked of the client.

    Raises:
        Malformed: it is no message of JSON-RPC.
    """
    if line is None:
        raise Malformed(PARSE_ERROR, f"a line is longer than {LINE_BYTES} bytes")
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Malformed(PARSE_ERROR, "the line is not JSON in UTF-8") from None
    if not isinstance(value, dict):
        raise Malformed(INVALID_REQUEST, "a line holds one JSON object")
    request_id = value.get("id")
    if "id" in value and (isinstance(request_id, bool) or not isinstance(request_id, (str, int))):
        raise Malformed(INVALID_REQUEST, "id must be a string or an integer")
    if "method" not in value and ("result" in value or "error" in value):
        return None
    method, params = value.get("method"), value.get("params", {})
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise Malformed(INVALID_REQUEST, "not a JSON-RPC 2.0 request", request_id)
    if not isinstance(params, dict):
        raise Malformed(INVALID_PARAMS, "params must be an object", request_id)
    return Request(method, params, request_id)


def result(request_id: str | int | None, value: dict[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "id": request_id, "result": value})


def failure(request_id: str | int | None, code: int, text: str) -> bytes:
    return _line({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}})


def notification(method: str, params: dict[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def _line(value: dict[str, Any]) -> bytes:
    # ASCII: no client can find a line's end, or half a character, in what another agent wrote.
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"
