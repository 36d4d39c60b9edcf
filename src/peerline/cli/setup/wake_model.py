"""A stand-in for the model, on loopback: it answers every turn with one word, so that waking a client costs no call.

Four wire formats, streamed or whole: Anthropic's messages, OpenAI's responses and chat completions, Gemini's content.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

WORD: Final = "OK"
BODY_BYTES: Final = 16 << 20
Event = tuple[str, dict[str, Any] | str]


class StandIn:
    """`with StandIn() as model:`; what clients ask it is kept as text, with the moment at which it came."""

    def __init__(self) -> None:
        self._asked: list[tuple[float, str]] = []
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _handler(self._keep))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def heard(self, text: str, patience_s: float) -> float | None:
        """When it was first asked something that holds `text`, by the monotonic clock; None: not in this time."""

        def found() -> float | None:
            return next((at for at, asked in self._asked if text in asked), None)

        with self._changed:
            self._changed.wait_for(lambda: found() is not None, timeout=patience_s)
            return found()

    def _keep(self, text: str) -> None:
        with self._changed:
            self._asked.append((time.monotonic(), text))
            self._changed.notify_all()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that is ended leaves in the middle of things."""


def _messages(asked: dict[str, Any]) -> tuple[dict[str, Any], list[Event]]:
    whole = {
        "id": "msg_stand_in",
        "type": "message",
        "role": "assistant",
        "model": str(asked.get("model", "")),
        "content": [{"type": "text", "text": WORD}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": WORD}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return whole, [(event["type"], event) for event in events]


def _responses(asked: dict[str, Any]) -> tuple[dict[str, Any], list[Event]]:
    said = {"type": "output_text", "text": WORD, "annotations": []}
    item = {"type": "message", "id": "item_1", "role": "assistant", "status": "completed", "content": [said]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    whole = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": whole | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(event["type"], event | {"sequence_number": at}) for at, event in enumerate(events)]


def _chat(asked: dict[str, Any]) -> tuple[dict[str, Any], list[Event]]:
    about = {"id": "chat_1", "created": 0, "model": str(asked.get("model", ""))}
    said = {"role": "assistant", "content": WORD}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {**about, "object": "chat.completion", "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    piece = {**about, "object": "chat.completion.chunk"}
    events: list[Event] = [
        ("", {**piece, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}),
        ("", {**piece, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}),
        ("", "[DONE]"),
    ]
    return whole | {"usage": usage}, events


def _content(asked: dict[str, Any]) -> tuple[dict[str, Any], list[Event]]:
    said = {"content": {"role": "model", "parts": [{"text": WORD}]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    whole = {"candidates": [said], "usageMetadata": usage}
    return whole, [("", whole)]


Form = Callable[[dict[str, Any]], tuple[dict[str, Any], list[Event]]]
_FORMS: Final[dict[str, Form]] = {
    "/messages": _messages,
    "/responses": _responses,
    "/chat/completions": _chat,
    ":generateContent": _content,
    ":streamGenerateContent": _content,
}


def _handler(keep: Callable[[str], None]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._send(200, "application/json", b"")

        def do_GET(self) -> None:
            self._send(200, "application/json", b'{"data": [], "has_more": false}')

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            text = self.rfile.read(min(length, BODY_BYTES)).decode("utf-8", "replace")
            path = self.path.partition("?")[0]
            form = next((form for ending, form in _FORMS.items() if path.endswith(ending)), None)
            if form is None:
                self._send(200, "application/json", b'{"input_tokens": 1, "totalTokens": 1}')  # what counts tokens
                return
            try:
                asked = json.loads(text)
            except ValueError:
                asked = {}
            keep(text)
            whole, events = form(asked)
            if asked.get("stream") or path.endswith(":streamGenerateContent"):
                self._send(200, "text/event-stream", b"".join(_frames(events)))
            else:
                self._send(200, "application/json", json.dumps(whole).encode())

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _frames(events: list[Event]) -> Iterator[bytes]:
    for name, data in events:
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()
