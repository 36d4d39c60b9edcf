"""`send`, `answer`, `forecastDelivery`: what goes into a room."""

from typing import Any

from peerline.core.errors import Conflict
from peerline.core.post import AuthorKind, Needs
from peerline.core.post_delivery import Outlook
from peerline.core.post_draft import PostDraft, draft
from peerline.network import shapes
from peerline.network.operations.params import InvalidParams, Params, text, text_or_none, texts
from peerline.network.operations.session import Session
from peerline.network.refusals import UnknownPost
from peerline.network.reports import Sent

INPUT = frozenset(
    ("body", "kind", "needs", "mentions", "tags", "priority", "refs", "inReplyTo", "thread", "forceUnsafe")
)


class NeedsHuman(Conflict):
    """Only a person answers this, in their own words."""

    code = "NEEDS_HUMAN"


class AnsweredAlready(Conflict):
    code = "ANSWERED_ALREADY"


def send(session: Session, params: Params) -> Any:
    """`{room, input}` → `{message, forecast}`; the message tells whether it is pushed or queued."""
    given = params.get("input")
    if not isinstance(given, dict):
        raise InvalidParams("input is required, as an object")
    if unknown := sorted(set(given) - INPUT):
        raise InvalidParams(f"input has no {unknown[0]!r}; known are {', '.join(sorted(INPUT))}")
    if given.get("inReplyTo") or given.get("thread"):
        session.refresh()  # what others wrote in the thread counts against its budget
    made = draft(
        room=text(params, "room"),
        body=_body(given),
        kind=text_or_none(given, "kind") or "msg",
        needs=_said(text_or_none(given, "needs"), "none"),
        priority=text_or_none(given, "priority") or "normal",
        mentions=texts(given, "mentions"),
        tags=texts(given, "tags"),
        refs=texts(given, "refs"),
        in_reply_to=text_or_none(given, "inReplyTo"),
        thread=text_or_none(given, "thread"),
        unsafe_reason=text_or_none(given, "forceUnsafe"),
    )
    return send_draft(session, made)


def answer(session: Session, params: Params, *, by_human: bool = False) -> Any:
    """`{messageId, body}` → the answer, to whoever wrote the message and in its thread.

    `by_human` comes from the process at whose terminal a person confirmed it, never from a caller's words.
    """
    message_id = text(params, "messageId")
    asked = session.view.find(message_id)
    if asked is None:
        session.refresh()
        asked = session.view.find(message_id)
    if asked is None:
        raise UnknownPost(
            f"no message {message_id} in the rooms this agent follows\n"
            "  it is new (komnet sync fetches it), or the id is wrong"
        )
    post = asked.post
    if post.needs is Needs.HUMAN and not by_human:
        raise NeedsHuman(
            f"message {message_id} is marked 'needs: human', so no agent's path answers it. Surface it to a person, "
            f"then relay their decision with 'komnet answer {message_id} \"<their words>\" --as-human'. "
            "Human attribution is cooperative, not identity proof."
        )
    mine = session.view.answer_of(message_id, session.me)
    if mine is not None:
        raise AnsweredAlready(
            f"this agent has answered {message_id} with {mine.id} already; an answer is permanent. "
            f"To add to it: komnet send {post.room} '<text>' --reply-to {message_id} --mention {post.sender}"
        )
    made = draft(
        room=post.room,
        body=_body(params),
        kind="answer",
        author=AuthorKind.HUMAN if by_human else AuthorKind.AGENT,
        mentions=(post.sender,) if post.sender != session.me else (),
        in_reply_to=message_id,
        thread=post.thread,
        unsafe_reason=text_or_none(params, "forceUnsafe"),
    )
    message: Any = send_draft(session, made)["message"]
    return message


def forecast(session: Session, params: Params) -> Any:
    """`{room, mentions}` → whom a message there would reach."""
    return _outlooks(session.engine.forecast(texts(params, "mentions"), text(params, "room")))


def delivery(session: Session, params: Params) -> Any:
    """`{result}` of a send or an answer that was only queued → the same as it stands now."""
    result = params["result"]
    message = result.get("message", result)
    waiting = session.view.waits(message["id"])
    message = {
        **{n: v for n, v in message.items() if n != "queuedReason"},
        "delivery": "queued" if waiting else "pushed",
    }
    if waiting and (reason := waiting.reason or session.view.health().reason):
        message["queuedReason"] = reason
    return {**result, "message": message} if "message" in result else message


def send_draft(session: Session, made: PostDraft) -> Any:
    """Queue the post, and unless somebody else flushes push it: `{message, forecast}`."""
    sent: Sent = session.engine.send(made, push=session.pushing)
    message = {**shapes.message(sent.post), "delivery": sent.delivery}
    if sent.reason:
        message["queuedReason"] = sent.reason
    return {"message": message, "forecast": _outlooks(sent.forecast)}


def _outlooks(found: dict[str, Outlook]) -> list[dict[str, str]]:
    return [{"agent": agent, "outlook": outlook.value, "reason": _WHY[outlook]} for agent, outlook in found.items()]


_WHY = {
    Outlook.REACHES: "its card lists the room",
    Outlook.MISSES: "its card does not list the room",
    Outlook.UNKNOWN: "not in this machine's copy of the roster — either new, or the id is wrong",
}


def _said(need: str | None, otherwise: str) -> str:
    """An empty need is one that nobody knows, not none."""
    return otherwise if need is None else need


def _body(given: Params) -> str:
    body = given.get("body")
    if not isinstance(body, str):
        raise InvalidParams("body is required, as a text")
    return body
