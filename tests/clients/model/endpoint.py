"""A model endpoint on loopback whose answers are a script: it drives real clients without a network, a key or a model.

Everything that comes is kept in order, and a test waits for what it needs. It also takes what a client's own hooks
report, so that a test can wait for the end of a turn.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any, Final, Self

from tests.clients.model import anthropic, chat, gemini, responses
from tests.clients.model.conversation import Answer, Conversation, Script
from tests.hub_process import PATIENCE_S

# A further wire format is a module with PATH, parse, whole and stream. Gemini's paths hold the model's name.
FORMATS: Final[dict[str, ModuleType]] = {form.PATH: form for form in (anthropic, chat, responses)}
HOOKS: Final = "/hooks"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to the model and its answer; `at` is the moment at which it had come, by the monotonic clock."""

    at: float
    conversation: Conversation
    answer: Answer


@dataclass(frozen=True, slots=True)
class Hooked:
    """What a client gave one of its hooks."""

    at: float
    event: str
    input: dict[str, Any]


class Endpoint:
    """`with Endpoint() as model:`; `script` may be changed between two turns. `order` puts a conversation's turns into
    the order in which a script should read them."""

    def __init__(self, script: Script | None = None) -> None:
        self.script: Script = script or (lambda conversation: Answer("OK"))
        self.order: Callable[[Conversation], Conversation] = lambda conversation: conversation
        self.seen: list[Asked | Hooked] = []
        self.faults: list[str] = []
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def hooks_url(self) -> str:
        return self.url + HOOKS

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def keep(self, one: Asked | Hooked) -> None:
        with self._changed:
            self.seen.append(one)
            self._changed.notify_all()

    def fail(self, fault: str) -> None:
        with self._changed:
            self.faults.append(fault)
            self._changed.notify_all()

    @property
    def mark(self) -> int:
        """Where the record stands now; `asked` and `hooked` take it to look only at what comes later."""
        with self._changed:
            return len(self.seen)

    def asked(self, fits: Callable[[Conversation], bool], after: int = 0, patience_s: float = PATIENCE_S) -> Asked:
        """The first request with tools that fits, waited for.

        Raises:
            AssertionError: it has not come, or the script had no answer to something.
        """

        def good(one: Asked | Hooked) -> bool:
            return isinstance(one, Asked) and bool(one.conversation.tools) and fits(one.conversation)

        found = self._wait(good, after, patience_s)
        assert isinstance(found, Asked)
        return found

    def hooked(self, event: str, after: int = 0, patience_s: float = PATIENCE_S) -> Hooked:
        """The first report of a client's hook of that event, waited for."""
        found = self._wait(lambda one: isinstance(one, Hooked) and one.event == event, after, patience_s)
        assert isinstance(found, Hooked)
        return found

    @property
    def requests(self) -> list[Asked]:
        """The requests with tools, so far: what else a client asks is for titles and summaries."""
        with self._changed:
            return [one for one in self.seen if isinstance(one, Asked) and one.conversation.tools]

    def _wait(self, good: Callable[[Asked | Hooked], bool], after: int, patience_s: float) -> Asked | Hooked:
        def found() -> Asked | Hooked | None:
            return next((one for one in self.seen[after:] if good(one)), None)

        with self._changed:
            self._changed.wait_for(lambda: self.faults or found() is not None, timeout=patience_s)
            assert not self.faults, self.faults
            one = found()
            assert one is not None, "\n".join(["it did not come; what came:", *map(_line, self.seen[after:])])
            return one


def _line(one: Asked | Hooked) -> str:
    if isinstance(one, Hooked):
        return f"hook {one.event}"
    shape = " ".join(turn.role + "".join(f"({name})" for name in turn.calls) for turn in one.conversation.turns[-6:])
    return f"asked {one.conversation.asked[-300:]!r}, answered {one.answer}; the last turns: {shape}"


def _frame(name: str, value: Any) -> bytes:
    """One server-sent event; a text goes as it is."""
    event = f"event: {name}\n" if name else ""
    return f"{event}data: {value if isinstance(value, str) else json.dumps(value)}\n\n".encode()


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._whole({})

        def do_GET(self) -> None:
            if self.path.startswith("/v1/models"):
                self._whole({"data": [], "has_more": False})
            else:
                self._whole({"error": {"type": "not_found_error", "message": self.path}}, 404)

        def do_POST(self) -> None:
            at = time.monotonic()
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
            path = self.path.partition("?")[0]
            if path == HOOKS:
                endpoint.keep(Hooked(at, str(body.get("hook_event_name")), body))
                self._whole({})
            elif path.endswith("/count_tokens"):
                self._whole({"input_tokens": 10})
            elif path.endswith(":countTokens"):
                self._whole({"totalTokens": 10})
            elif path in FORMATS:
                self._answer(FORMATS[path], body, at)
            elif path.startswith(gemini.PATH):
                self._answer(gemini, {**body, "stream": path.endswith(gemini.STREAMED)}, at)
            else:
                self._whole({"error": {"type": "not_found_error", "message": path}}, 404)

        def _answer(self, form: ModuleType, body: dict[str, Any], at: float) -> None:
            conversation = endpoint.order(form.parse(body))
            try:
                answer = endpoint.script(conversation) if conversation.tools else Answer("OK")
                streamed = bool(body.get("stream"))
                spoken = list(form.stream(answer, conversation)) if streamed else form.whole(answer, conversation)
            except (LookupError, ValueError, AssertionError) as fault:
                endpoint.fail(f"{type(fault).__name__}: {fault}")
                self._whole({"error": {"type": "invalid_request_error", "message": str(fault)}}, 400)
                return
            endpoint.keep(Asked(at, conversation, answer))
            if answer.refused:
                self._whole({"error": {"type": "invalid_request_error", "message": answer.refused}}, 400)
                return
            if isinstance(spoken, list):
                self._events(iter(spoken))
            else:
                self._whole(spoken)

        def _whole(self, value: dict[str, Any], status: int = 200) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _events(self, events: Iterator[tuple[str, Any]]) -> None:
            data = b"".join(_frame(name, value) for name, value in events)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
