"""The application: guard, proof, rate limit, route, and one shape for every refusal."""

from __future__ import annotations  # an annotation of an inner function would be worked out at each call

import re
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from peerline.core.errors import Invalid, InvalidRequest, PeerlineError, RouteNotFound, Stopping, WrongMedia
from peerline.core.ids import Entropy, random_id
from peerline.core.rate import RateWindow
from peerline.database.later import Later
from peerline.hub.agents import Agents
from peerline.hub.clock import HubClock
from peerline.hub.journal import Journal
from peerline.hub.refused import Refused
from peerline.server.auth import Auth, Caller
from peerline.server.exchange import Answer, Head, Peer, Request, Response
from peerline.server.guards import Guard
from peerline.server.rates import count
from peerline.server.refusals import error_answer, refusal
from peerline.server.routes import Call, Proof, Route, Routes
from peerline.server.stream import Stream
from peerline.wire.fields import refuse_unknown
from peerline.wire.json_body import decode

SEND = ("POST", "/v1/messages")
_AGENT: Final = Proof.AGENT
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,80}")


class HubApplication:
    """Answers one request after the other on the event loop's thread (`exchange.Application`)."""

    def __init__(
        self,
        routes: Routes,
        guard: Guard,
        auth: Auth,
        agents: Agents,
        rates: RateWindow,
        journal: Journal,
        clock: HubClock,
        entropy: Entropy,
        oops: Callable[[BaseException], None],
        refused: Refused,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`oops` is told of what should not have happened, with its traceback, for the log only. `timer` gives seconds
        and only measures."""
        self._routes, self._guard, self._auth, self._agents = routes, guard, auth, agents
        self._rates, self._journal, self._clock, self._entropy = rates, journal, clock, entropy
        self._oops, self._refused_sends, self._timer = oops, refused, timer
        self._limit_lines = f"x-ratelimit-limit: {rates.limit}\r\nx-ratelimit-remaining: "
        self.stopping = False

    def answer(self, request: Request) -> Answer:
        began = self._timer()
        wanted = request.headers.get("x-request-id")
        if wanted is not None and REQUEST_ID.fullmatch(wanted):
            request.id = wanted
        else:
            request.id = "req_" + self._entropy(16).hex()
        try:
            answer = self._answer(request)
        except Exception as error:
            answer = self._refused(error, request)
        if isinstance(answer, Later):
            return self._after(answer, request, began)
        answer.lines = self._lines(request)
        if request.timing is not None:
            request.timing.record(self._timer() - began)
        return answer

    def _lines(self, request: Request) -> str:
        """The header lines that differ from answer to answer."""
        fixed = f"x-request-id: {request.id}\r\nreferrer-policy: no-referrer\r\n"
        return fixed if request.remaining is None else f"{fixed}{self._limit_lines}{request.remaining}\r\n"

    def _answer(self, request: Request) -> Answer:
        self._journal.count("kxm_requests_total")
        head = request.head
        if head is None:
            head = request.head = Head(request.headers)
        if not head.admitted:
            self._guard.check(request)
            head.admitted = True
        monotonic = self._clock.monotonic()
        found = self._routes.find(request.method, request.path)
        if found is None:
            count(self._rates, request, request.peer.address, monotonic)
            raise RouteNotFound("route not found", nextAction="see_openapi_json")
        route, parameters = found
        request.timing = route.timing
        caller, unproven = self._auth.known(head) if route.proof is _AGENT else None, None
        if caller is None:
            caller, unproven = self._prove(route, request)
        if route.limited:
            key = caller.agent.id if caller is not None else request.peer.address
            count(self._rates, request, key, monotonic)
        if unproven is not None:
            raise unproven
        if self.stopping and request.method != "GET":
            raise Stopping("the hub is stopping", nextAction="retry")
        if caller is not None:
            self._agents.heard(caller.proven, monotonic)
        return route.answer(self._call(route, parameters, request, head, caller))

    def _prove(self, route: Route, request: Request) -> tuple[Caller | None, PeerlineError | None]:
        """Who calls, if the route wants to know; the failure is reported only after the rate limit has counted it."""
        try:
            if route.proof is _AGENT:
                return self._auth.agent(request), None
            if route.proof is Proof.ADMIN:
                self._auth.admin(request)
            elif route.proof is Proof.ADMIN_CONFIGURED:
                self._auth.admin(request, configured=True)
        except PeerlineError as error:
            return None, error
        return None, None

    def _call(self, route: Route, raw: dict[str, str], request: Request, head: Head, caller: Caller | None) -> Call:
        parameters = {name: segment(value) for name, value in raw.items()} if "%" in request.path else raw
        if route.fields is None:
            return Call(request, parameters, {}, caller)
        if not head.json:
            check_media(request)
            head.json = True
        body = decode(request.body)
        if route.strict:
            refuse_unknown(route.fields, body)
        return Call(request, parameters, body, caller)

    def _after(
        self, answer: Later[Response] | Later[Response | Stream], request: Request, began: float
    ) -> Later[Response]:
        def settled(done: Later[Any]) -> None:
            if done.error is not None:
                done.value, done.error = self._refused(done.error, request), None
            assert done.value is not None
            done.value.lines = self._lines(request)
            if request.timing is not None:
                request.timing.record(self._timer() - began)

        answer.then(settled)
        return answer  # type: ignore[return-value]

    def _refused(self, error: BaseException, request: Request) -> Response:
        response = refusal(error, request.id)
        self._journal.count("kxm_errors_total")
        if not isinstance(error, PeerlineError):
            self._oops(error)
        elif (request.method, request.path) == SEND:
            self._remember(error, request)
        if response.status >= 500:
            code = error.code if isinstance(error, PeerlineError) else "internal_error"
            self._journal.event("request_error", "error", requestId=request.id, method=request.method, code=code)
        elif response.status in (401, 403, 421):
            assert isinstance(error, PeerlineError)
            self._journal.event(
                "security_alert", "warning", requestId=request.id, code=error.code, address=request.peer.address
            )
        return response

    def _remember(self, refused: PeerlineError, request: Request) -> None:
        """Keep a refused send for its sender, if it proved who it is."""
        try:
            sender, body = self._auth.agent(request).agent, decode(request.body)
        except PeerlineError:
            return
        self._refused_sends.note(sender, body.get("target"), refused)

    def refuse(self, status: int, code: str, text: str, peer: Peer) -> Response:
        """For what never became a request: broken framing, too large, too slow."""
        request_id = random_id("req", self._entropy)
        self._journal.count("kxm_errors_total")
        response = error_answer(status, code, text, request_id, {})
        response.headers += (("x-request-id", request_id), ("referrer-policy", "no-referrer"))
        response.close = True
        return response


def check_media(request: Request) -> None:
    """Raises: WrongMedia."""
    if not request.headers.get("content-type", "").lower().startswith("application/json"):
        raise WrongMedia("content-type must be application/json")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise WrongMedia("content-encoding is not supported")


def segment(raw: str) -> str:
    """One path segment, decoded. Raises: InvalidRequest: broken escapes, not UTF-8, or a control character."""
    if "%" not in raw:
        return raw
    if re.search(r"%(?![0-9A-Fa-f]{2})", raw):
        raise InvalidRequest("the path holds a broken percent escape")
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise InvalidRequest("the path is not UTF-8") from None
    if not text.isprintable():
        raise Invalid("the path holds a control character")
    return text
