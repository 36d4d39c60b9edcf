"""Routes of messages: the hot ones of the hub (spec/hub.md 3.8)."""

import asyncio
from collections.abc import Callable
from typing import Any

from peerline.core.errors import GatewayOnly, Invalid
from peerline.core.ids import MessageId, Millis
from peerline.core.limits import AWAIT_MAX_MS
from peerline.core.message import Message
from peerline.core.trail import FAR, Fact, Observed
from peerline.database.later import Later
from peerline.hub.directory import Directory
from peerline.hub.facts import Facts
from peerline.hub.messages import SENT, Messages, Told
from peerline.hub.wakeups import Wakeups
from peerline.server.exchange import Answer, Response
from peerline.server.preferences import minimal
from peerline.server.query import integer, members
from peerline.server.refusals import json_answer, raw_answer, short_answer
from peerline.server.routes import Call, Proof, Route
from peerline.store.tables.trail import Note
from peerline.wire.fields import read
from peerline.wire.instants import instant
from peerline.wire.json_body import encode
from peerline.wire.messages import (
    ACKNOWLEDGE,
    FACT,
    LINES,
    NOTE,
    REPLY,
    SEND,
    draft,
    fact_record,
    head,
)

CallLater = Callable[[float, Callable[[], None]], asyncio.TimerHandle]


class MessageRoutes:
    def __init__(
        self,
        messages: Messages,
        wakeups: Wakeups,
        facts: Facts,
        default_ttl_ms: int,
        call_later: CallLater,
        now: Callable[[], Millis],
        directory: Directory,
    ) -> None:
        self._messages, self._wakeups, self._facts = messages, wakeups, facts
        self._default_ttl_ms, self._call_later, self._now = default_ttl_ms, call_later, now
        self._directory = directory

    def routes(self) -> list[Route]:
        agent = Proof.AGENT
        return [
            Route("POST", "/v1/messages", agent, self.send, SEND, "Send a request.", answers=(202, 200)),
            Route("GET", "/v1/messages", agent, self.list, None, "What the caller sent.", query=("state", "limit")),
            Route(
                "GET",
                "/v1/messages/{id}",
                agent,
                self.get,
                None,
                "Read a message; wait for its end.",
                query=("waitMs",),
            ),
            Route("DELETE", "/v1/messages/{id}", agent, self.cancel, None, "Withdraw a request."),
            Route("POST", "/v1/messages/{id}/ack", agent, self.acknowledge, ACKNOWLEDGE, "Take a request."),
            Route("POST", "/v1/messages/{id}/reply", agent, self.reply, REPLY, "Answer a request, once."),
            Route("GET", "/v1/messages/{id}/trail", agent, self.trail, None, "Who observed what of a message."),
            Route(
                "POST",
                "/v1/messages/{id}/facts",
                agent,
                self.report,
                FACT,
                "Say what became of a message, or of its outcome, at one's own end.",
                strict=True,
                answers=(201,),
            ),
            Route(
                "POST",
                "/v1/messages/{id}/notes",
                agent,
                self.note,
                NOTE,
                "A word of progress.",
                strict=True,
                answers=(201,),
            ),
            Route("GET", "/v1/messages/{id}/notes", agent, self.notes, None, "The notes on a message."),
        ]

    def send(self, call: Call) -> Answer:
        asked = draft(call.body, self._default_ttl_ms)
        return self._messages.send(call.by.agent, asked).become(
            self._sent_short if minimal(call.request) else self._sent
        )

    def _sent(self, done: tuple[Message, bool]) -> Response:
        message, repeated = done
        if repeated:
            return raw_answer(b'{"message":', *LINES.pieces(message), self._known(message) + b',"idempotent":true}')
        known = self._known(message) + b',"idempotent":false}'
        return raw_answer(b'{"message":', *LINES.pieces(message), known, status=202)

    def _sent_short(self, done: tuple[Message, bool]) -> Response:
        """What was sent before is told whole: it may have its reply by now."""
        message, repeated = done
        if repeated:
            return self._sent(done)
        return short_answer(
            b'{"message":%b%b,"idempotent":false}' % (LINES.short(message), self._known(message)), status=202
        )

    def _known(self, message: Message) -> bytes:
        """What is known of who is asked on another machine."""
        remote = self._directory.receipt(message.project, message.recipient_name) if message.to_room else None
        return b"" if remote is None else b',"remote":' + encode(remote)

    def list(self, call: Call) -> Answer:
        query = members(call.request)
        state = query.get("state", "all")
        if state not in SENT:
            raise Invalid("state must be open, undelivered, final, unread, or all")
        most = integer("limit", query.get("limit"), 1, 1000, 100)
        return self._messages.sent(call.by.agent, state, most).map(
            lambda found: raw_answer(b'{"messages":[', b",".join(map(LINES.line, found)), b"]}")
        )

    def get(self, call: Call) -> Answer:
        wait_ms = 0
        if call.request.query:
            wait_ms = integer("waitMs", members(call.request).get("waitMs"), 0, AWAIT_MAX_MS, 0)
        message_id, by = MessageId(call.parameters["id"]), call.by.agent
        if wait_ms == 0:
            return self._messages.get(message_id, by).become(_message)
        call.request.timing = None
        return self._wait(message_id, call, wait_ms).become(_message)

    def _wait(self, message_id: MessageId, call: Call, wait_ms: int) -> Later[Message]:
        """The message once it is final, or as it is when the wait ends."""
        by = call.by.agent
        outcome: Later[Message] = Later()
        timer: asyncio.TimerHandle

        def look(*_: Any) -> None:
            leave()
            timer.cancel()
            self._messages.get(message_id, by).then(lambda read: _pass_on(read, outcome))

        def looked(read: Later[Message]) -> None:
            nonlocal timer
            if read.error is not None or read.value is None or not read.value.open:
                leave()
                timer.cancel()
                _pass_on(read, outcome)
            elif (left_ms := read.value.expires_at - self._now()) < wait_ms and not outcome.settled:
                timer.cancel()  # its own end comes first; the loop's timers may ring early, then it is looked at again
                timer = self._call_later(max(1, left_ms) / 1000, again)

        def again() -> None:
            self._messages.get(message_id, by).then(looked)

        # Listening begins before the first look, so that nothing slips in between.
        leave = self._wakeups.wait(message_id, look)
        timer = self._call_later(wait_ms / 1000, look)
        self._messages.get(message_id, by).then(looked)
        return outcome

    def acknowledge(self, call: Call) -> Answer:
        adapter = ACKNOWLEDGE[0].read(call.body)
        return self._messages.acknowledge(MessageId(call.parameters["id"]), call.by.agent, adapter).become(
            _taken_short if minimal(call.request) else _taken
        )

    def reply(self, call: Call) -> Answer:
        text = REPLY[0].read(call.body)
        return self._messages.reply(MessageId(call.parameters["id"]), call.by.agent, text).become(
            _short if minimal(call.request) else _message
        )

    def cancel(self, call: Call) -> Answer:
        return self._messages.cancel(MessageId(call.parameters["id"]), call.by.agent).become(_message)

    def trail(self, call: Call) -> Answer:
        return self._messages.trail(MessageId(call.parameters["id"]), call.by.agent).map(_told)

    def report(self, call: Call) -> Answer:
        told = read(FACT, call.body)
        message_id, fact = MessageId(call.parameters["id"]), Observed(told["fact"])
        if fact in FAR and not call.by.agent.gateway:
            raise GatewayOnly(f"only a gateway tells of {fact}", nextAction="nothing")
        return self._facts.report(message_id, call.by.agent, fact, told["adapter"], told["reason"] or None).map(
            _reported
        )

    def note(self, call: Call) -> Answer:
        text = NOTE[0].read(call.body)
        return self._messages.note(MessageId(call.parameters["id"]), call.by.agent, text).map(
            lambda done: json_answer({"messageId": done[0].id, "note": _note(done[1])}, 201)
        )

    def notes(self, call: Call) -> Answer:
        return self._messages.notes(MessageId(call.parameters["id"]), call.by.agent).map(
            lambda found: json_answer({"notes": [_note(n) for n in found]})
        )


def _message(message: Message) -> Response:
    return raw_answer(b'{"message":', *LINES.pieces(message), b"}")


def _short(message: Message) -> Response:
    return short_answer(b'{"message":%b}' % LINES.short(message))


def _taken(done: tuple[Message, bool]) -> Response:
    message, first = done
    return raw_answer(b'{"message":', *LINES.pieces(message), b',"first":true}' if first else b',"first":false}')


def _taken_short(done: tuple[Message, bool]) -> Response:
    message, first = done
    return short_answer(b'{"message":%b,"first":%b}' % (LINES.short(message), b"true" if first else b"false"))


def _told(told: Told) -> Response:
    return json_answer(
        {
            "message": head(told.message),
            "facts": [fact_record(fact) for fact in told.facts],
            "standing": told.standing.why,
            "next": told.standing.next,
            "stuck": told.standing.stuck,
        }
    )


def _reported(done: tuple[Message, Fact]) -> Response:
    return json_answer({"messageId": done[0].id, "fact": fact_record(done[1])}, 201)


def _note(note: Note) -> dict[str, Any]:
    return {"number": note.number, "content": note.text, "createdAt": instant(note.at)}


def _pass_on(read: Later[Message], outcome: Later[Message]) -> None:
    if read.error is not None:
        outcome.fail(read.error)
    else:
        outcome.succeed(read.result())
