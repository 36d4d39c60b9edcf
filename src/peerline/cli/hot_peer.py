"""`kxm peer <verb>`: what each verb asks the hub and what of the answer it prints (spec/hub.md 5.3, 6.2)."""

from __future__ import annotations

import os

from peerline.cli.hot_address import escaped
from peerline.cli.hot_args import Call, parse, require
from peerline.cli.hot_output import Failure, Output, usage
from peerline.cli.hot_policy import permit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from peerline.cli.hot_session import Session

AWAIT_MIN_MS, AWAIT_MAX_MS = 100, 60_000
# More than any body that the hub takes; it judges the 32,000 characters.
BODY_BYTES = 262_144


def run(argv: list[str]) -> int:
    """Run `kxm peer <argv>`; the exit code."""
    env = dict(os.environ)
    call = Call()
    try:
        parse(argv, call)
    except Failure as failure:
        # What was typed behind the mistake has not been read; --json counts wherever it stands.
        return _output(env, call, "--json" in argv).failure(failure)
    output = _output(env, call, "--json" in call.common)
    if "--version" in call.common or "--help" in call.common:
        from peerline.cli import hot_help

        return hot_help.show("--version" in call.common, call.verb)
    try:
        _body(call)
        require(call)
        _check(call)
        permit(env, call.verb, call.fields)
        if "--dry-run" in call.common:
            return output.result({"ok": True, "command": output.command, "dryRun": True, "args": call.fields})
        return _online(env, call, output)
    except Failure as failure:
        return output.failure(failure)


def _output(env: dict[str, str], call: Call, as_json: bool) -> Output:
    return Output(env, as_json=as_json, command=f"peer {call.verb}".strip())


def _online(env: dict[str, str], call: Call, output: Output) -> int:
    from peerline.cli.hot_identity import Caller
    from peerline.cli.hot_session import Interrupted, Session

    verb = ACTS[call.verb]
    caller = Caller(env, call.common)
    try:
        with Session(caller) as session:
            try:
                return output.result(verb(session, call.fields))
            except Failure as failure:
                if failure.more.get("code") == "target_not_found":
                    failure.beside = {**failure.beside, "project": caller.project}
                return output.failure(failure)
    except Interrupted as interrupted:
        if interrupted.result is not None:
            output.result(interrupted.result)
        return interrupted.code


def _body(call: Call) -> None:
    """Read the text that `-` or --file stands for."""
    if call.file is not None:
        call.fields["content"] = _read(call.file)
    elif call.stdin:
        call.fields["content"] = _read("-")


def _check(call: Call) -> None:
    for value in (*call.fields.values(), *call.common.values()):
        if isinstance(value, str) and not value.isascii() and any("\udc80" <= c <= "\udcff" for c in value):
            raise usage("an argument is not UTF-8")
    if call.verb == "fanout":
        from peerline.cli.hot_fanout import check

        check(call.fields)
    elif call.fields.get("timeoutMs", AWAIT_MAX_MS) < AWAIT_MIN_MS:
        raise usage(f"timeoutMs must be an integer between {AWAIT_MIN_MS} and {AWAIT_MAX_MS}")


def _read(path: str) -> str:
    try:
        fd = 0 if path == "-" else os.open(path, os.O_RDONLY)
        data = b""
        while len(data) <= BODY_BYTES and (part := os.read(fd, 65_536)):
            data += part
        if fd:
            os.close(fd)
    except (OSError, ValueError) as error:
        raise usage(f"the text could not be read: {getattr(error, 'strerror', error)}") from None
    if len(data) > BODY_BYTES:
        raise Failure("content exceeds 32000 characters")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise usage("the text is not UTF-8") from None


def _list(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    query = "&".join(f"{name}=true" for name in ("includeOffline", "includeRemote") if fields.get(name))
    body = session.call("GET", "/v1/agents" + (f"?{query}" if query else ""))
    return {"agents": body.get("agents", [])}


def _send(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    answer = session.call("POST", "/v1/messages", fields)
    message = answer.get("message", {})
    sent = {"messageId": message.get("id"), "status": message.get("status"), "target": message.get("toName")}
    sent |= {"remote": answer["remote"]} if "remote" in answer else {}
    return {**sent, "held": message["held"]} if "held" in message else sent


def _get(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    return session.message(fields["messageId"])


def _await(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    from peerline.cli.hot_session import FINAL

    timeout_ms = fields.get("timeoutMs", AWAIT_MAX_MS)
    message = session.wait(fields["messageId"], min(timeout_ms, AWAIT_MAX_MS))
    if message.get("status") not in FINAL:
        raise Failure(f"timed out waiting for {fields['messageId']}")
    return message


def _cancel(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    from peerline.cli.hot_session import record

    return record(session.call("DELETE", _path(fields)))


def _inbox(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    body = session.call("GET", f"/v1/agents/{escaped(session.agent_id or '')}/inbox")
    return {"messages": body.get("messages", [])}


def _reply(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    message = session.call("POST", _path(fields, "/reply"), {"content": fields["content"]}).get("message", {})
    return {"messageId": message.get("id"), "status": message.get("status"), "recipient": message.get("fromName")}


def _note(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    return session.call("POST", _path(fields, "/notes"), {"content": fields["content"]})


def _trace(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    return session.call("GET", _path(fields, "/trail"))


def _fanout(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    from peerline.cli.hot_fanout import fanout

    return fanout(session, fields)


def _undelivered(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    from peerline.cli.hot_undelivered import undelivered

    return undelivered(session, fields)


def _resend(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    from peerline.cli.hot_undelivered import resend

    return resend(session, fields)


def _path(fields: dict[str, Any], rest: str = "") -> str:
    return f"/v1/messages/{escaped(fields['messageId'])}{rest}"


ACTS = {
    "list": _list,
    "send": _send,
    "get": _get,
    "await": _await,
    "cancel": _cancel,
    "fanout": _fanout,
    "inbox": _inbox,
    "reply": _reply,
    "note": _note,
    "undelivered": _undelivered,
    "resend": _resend,
    "trace": _trace,
}
