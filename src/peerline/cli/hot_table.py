"""`kxm peer` as a table: its verbs, their fields, and the options that fill them (spec/hub.md 5.3, 6.2).

The parser, the help text and docs/reference/cli.md are all made from it.
"""

from __future__ import annotations

FLAG, TEXT, INTEGER, WORDS, OBJECT = "flag", "text", "integer", "words", "object"

# Every field of the tools behind the verbs: its kind, and what a help text says of it.
FIELDS = {
    "includeOffline": (FLAG, "also agents whose lease has lapsed"),
    "includeRemote": (FLAG, "also agents in the rooms that this machine follows, as <agent>@<room>"),
    "target": (TEXT, "the peer: its name (any case) or its id; <agent>@<room> on another machine"),
    "targets": (WORDS, "one to three peers, separated by spaces"),
    "content": (TEXT, "the text, at most 32,000 characters; - reads it from standard input"),
    "delivery": (TEXT, "followUp (default), steer or nextTurn"),
    "correlationId": (TEXT, "groups related requests; carries no authority"),
    "idempotencyKey": (TEXT, "makes an exact retry return the original message"),
    "idempotencyKeyPrefix": (TEXT, "makes an exact retry return the original messages"),
    "workflowContext": (OBJECT, "JSON object: runId, stageId, requirementKey, attempt"),
    "ttlMs": (INTEGER, "how long the request stays valid: 1000 to 604800000 (default 24 hours)"),
    "allowOffline": (FLAG, "queue for a registered agent that is offline"),
    "needs": (TEXT, "agent (default) or human: a person answers; only for <agent>@<room>"),
    "messageId": (TEXT, "the message"),
    "timeoutMs": (INTEGER, "how long to wait here"),
}

# verb: (positionals, further fields as options, fields that must be given, what it does)
VERBS = {
    "list": ((), ("includeOffline", "includeRemote"), (), "who is in this project"),
    "send": (
        ("target", "content"),
        ("delivery", "correlationId", "idempotencyKey", "workflowContext", "ttlMs", "allowOffline", "needs"),
        ("target", "content"),
        "send one request; returns at once with its id",
    ),
    "get": (("messageId",), (), ("messageId",), "read a message's state and reply"),
    "await": (("messageId",), ("timeoutMs",), ("messageId",), "wait for the reply, at most 60 seconds"),
    "cancel": (("messageId",), (), ("messageId",), "withdraw a request you sent"),
    "fanout": (
        (),
        (
            "targets",
            "content",
            "correlationId",
            "idempotencyKeyPrefix",
            "workflowContext",
            "ttlMs",
            "needs",
            "timeoutMs",
        ),
        ("targets", "content"),
        "ask up to three peers at once and wait, at most 30 minutes",
    ),
    "inbox": ((), (), (), "requests that still wait for this agent's reply"),
    "reply": (("messageId", "content"), (), ("messageId", "content"), "answer a request, once"),
    "note": (("messageId", "content"), (), ("messageId", "content"), "tell the sender how it goes; uses up no reply"),
    "undelivered": ((), (), (), "what this agent sent that nobody has taken yet"),
    "resend": (
        ("messageId",),
        ("idempotencyKey",),
        ("messageId",),
        "send a message again; an open one is cancelled first, the new one names it in replyTo",
    ),
    "trace": (("messageId",), (), ("messageId",), "who observed what of a message, and why it is not further"),
}
# Options of every verb: (value's name or None for a flag, what it does)
COMMON = {
    "--payload": ("JSON", "the fields as one JSON object; explicit options win"),
    "--as": ("NAME", "act as this agent (KXM_AGENT_NAME)"),
    "--project": ("PROJECT", "in this project (KXM_PROJECT)"),
    "--server": ("URL", "on this hub (KXM_SERVER_URL)"),
    "--workspace": ("DIR", "the workspace folder (default .kxm)"),
    "--json": (None, "add schema to a result; code, requestId and nextAction to a failure"),
    "--dry-run": (None, "print the parsed arguments without contacting the hub"),
    "--help": (None, "this text"),
    "--version": (None, "the version"),
}
SHORT = {"-h": "--help", "-V": "--version"}
CONTEXT = ("runId", "stageId", "requirementKey", "attempt")


BOUNDS = {"ttlMs": " between 1000 and 604800000"}
KINDS = {
    FLAG: (bool, "a boolean"),
    TEXT: (str, "a string"),
    INTEGER: (int, "an integer"),
    WORDS: (list, "an array of strings"),
    OBJECT: (dict, "an object"),
}


def option(field: str) -> str:
    """`idempotencyKey` is `--idempotency-key`."""
    return "--" + "".join("-" + c.lower() if c.isupper() else c for c in field)


def options(verb: str) -> dict[str, str]:
    """The options of `verb` that fill a field."""
    positionals, others, _, _ = VERBS[verb]
    return {option(field): field for field in (*positionals, *others)}
