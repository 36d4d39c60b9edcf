"""The seeds' promises, one id each: what tests cite with `@pytest.mark.requirement("ID")`.

`seed` and `line` say where the promise stands; `text` says it in our words; `part` is the part of the plan in which it
is due. `tests/test_requirements.py` compares these ids with what the tests cite. Deliberate departures from the wire
contract or from a reader's expectation stand in `DEVIATIONS`, each with its reason.
"""

from dataclasses import dataclass
from typing import Final

CURRENT_PART: Final = 4

MESSAGES: Final = "message-peer-agents.md"
RELAY: Final = "relay.md"
SEED_LINES: Final = {MESSAGES: 304, RELAY: 177}


@dataclass(frozen=True, slots=True)
class Requirement:
    id: str
    seed: str
    line: int
    text: str
    part: int


@dataclass(frozen=True, slots=True)
class Deviation:
    """`what` differs, and from what; `reason` says why it is meant; `decision` is the architecture's number, if any."""

    id: str
    what: str
    reason: str
    decision: int | None = None


def _msg(name: str, line: int, text: str, part: int = 1) -> Requirement:
    return Requirement(f"MSG-{name}", MESSAGES, line, text, part)


def _relay(name: str, line: int, text: str, part: int = 4) -> Requirement:
    return Requirement(f"RELAY-{name}", RELAY, line, text, part)


_SETUP = (
    _msg("FORMS-CLI", 3, "every step of the guide works as a `kxm peer` command"),
    _msg("FORMS-MCP", 3, "every step of the guide works as an MCP tool", 2),
    _msg("SETUP-HUB-START", 7, "`kxm hub start` runs a hub"),
    _msg("SETUP-SERVER-URL", 7, "clients find the hub by KXM_SERVER_URL"),
    _msg("SETUP-SAME-PROJECT", 8, "agents of one project reach each other with that project's token"),
    _msg("SETUP-CLAUDE-PLUGIN", 8, "the Claude Code plugin joins a project", 2),
    _msg("SETUP-PI-PACKAGE", 8, "Pi joins a project with the package", 2),
    _msg("SETUP-PI-WORKER", 8, "a supervised Pi worker joins a project", 2),
    _msg("SETUP-CLI-TOKEN", 9, "`kxm peer` takes the project token from KXM_AUTH_TOKEN and never borrows the admin's"),
    _msg("SETUP-CLI-PROJECT", 9, "`kxm peer` takes the project from KXM_PROJECT"),
    _msg("SETUP-CLI-NAME", 9, "`kxm peer` acts as the stable KXM_AGENT_NAME"),
)

_STATES = (
    _msg("STATE-ONE-FINAL", 13, "a request goes from queued to exactly one final state"),
    _msg("STORE-SQLITE", 13, "a request is a durable record in the hub's SQLite file"),
    _msg("MOVE-SEND", 18, "a sender's post makes a queued request"),
    _msg("MOVE-ACK", 19, "queued becomes delivered when the recipient acknowledges"),
    _msg("MOVE-REPLY-QUEUED", 20, "queued becomes replied when the recipient replies"),
    _msg("MOVE-REPLY-DELIVERED", 21, "delivered becomes replied when the recipient replies"),
    _msg("MOVE-CANCEL-QUEUED", 22, "queued becomes cancelled when the sender cancels"),
    _msg("MOVE-CANCEL-DELIVERED", 23, "delivered becomes cancelled when the sender cancels"),
    _msg("MOVE-EXPIRE-QUEUED", 24, "queued becomes expired when its TTL has passed"),
    _msg("MOVE-EXPIRE-DELIVERED", 25, "delivered becomes expired when its TTL has passed"),
    _msg("REPLAY-UNTIL-ACK", 30, "a queued request is pushed at each reconnect until it is acknowledged"),
    _msg("STATE-QUEUED", 39, "queued: accepted and stored"),
    _msg("STATE-QUEUED-HUB-RESTART", 39, "a queued request survives a restart of the hub"),
    _msg("STATE-QUEUED-AGENT-RESTART", 39, "a queued request survives a restart of its recipient"),
    _msg("STATE-DELIVERED", 40, "delivered: acknowledged by the recipient"),
    _msg("STATE-DELIVERED-NOT-PUSHED", 40, "a delivered request is not pushed again after a reconnect"),
    _msg("STATE-DELIVERED-READ-BACK", 40, "who comes back under the same name reads a delivered request from the hub"),
    _msg("STATE-DELIVERED-PI", 40, "Pi acknowledges when the model's turn starts", 2),
    _msg("STATE-DELIVERED-CLAUDE", 40, "the Claude Code plugin acknowledges on arrival", 2),
    _msg("STATE-DELIVERED-CLAUDE-RESTART", 40, "a restarted Claude Code session reads its delivered requests back", 2),
    _msg("STATE-FINAL-REPLIED", 41, "replied refuses a later reply and a later cancel"),
    _msg("STATE-FINAL-CANCELLED", 41, "cancelled refuses a later reply"),
    _msg("STATE-FINAL-EXPIRED", 41, "expired refuses a later reply and a later cancel"),
    _msg("STATE-ERROR-RESERVED", 42, "the status error exists in the protocol and is never set"),
    _msg("REPLY-WHILE-QUEUED", 44, "a recipient may reply without acknowledging first"),
    _msg("AT-LEAST-ONCE", 44, "an unacknowledged request may be delivered more than once"),
)

_DISCOVERY = (
    _msg("LIST-ONLINE", 48, "the list shows the online agents of one's own project"),
    _msg("LIST-FIELDS", 48, "a listed agent has its purpose, model, host label and presence"),
    _msg("LIST-INCLUDE-OFFLINE", 48, "includeOffline adds registered agents whose lease has lapsed"),
    _msg("PRESENCE-ONLINE", 48, "presence online: the lease runs"),
    _msg("PRESENCE-STALE", 48, "presence stale: the lease has run out and the sweep has not seen it yet"),
    _msg("PRESENCE-OFFLINE", 48, "presence offline: left, or swept"),
    _msg("TOOL-LIST", 50, "tool kxm_list", 2),
    _msg("CMD-LIST", 59, "`kxm peer list --include-offline`"),
    _msg("NAME-UNIQUE", 62, "a second live registration of a name is refused with duplicate_agent_name"),
    _msg("NAME-CLAUDE-PID", 62, "the Claude Code plugin then registers as <name>-<pid> and says so", 2),
)

_SENDING = (
    _msg("TARGET-NAME", 66, "a target is a name, whatever its case"),
    _msg("TARGET-ID", 66, "a target is an agent id"),
    _msg("SEND-AT-ONCE", 66, "a send returns at once with a durable message id"),
    _msg("TOOL-SEND", 68, "tool kxm_send", 2),
    _msg("CMD-SEND", 81, "`kxm peer send TARGET TEXT --idempotency-key KEY`"),
    _msg("OUT-SEND", 88, "a send prints messageId, status and target"),
    _msg("FIELD-DELIVERY", 97, "delivery / --delivery, default followUp"),
    _msg("FIELD-IDEMPOTENCY-KEY", 98, "idempotencyKey / --idempotency-key, default none: a retry returns the original"),
    _msg("FIELD-CORRELATION-ID", 99, "correlationId / --correlation-id, default none"),
    _msg("FIELD-TTL-MS", 100, "ttlMs / --ttl-ms, default 24 hours, one second to seven days"),
    _msg("FIELD-ALLOW-OFFLINE", 101, "allowOffline / --allow-offline, default false"),
    _msg("FIELD-WORKFLOW-CONTEXT", 102, "workflowContext / --workflow-context binds a request to a stage", 5),
    _msg("BODY-AS-SENT", 105, "the hub stores a body as it was sent"),
)

_WAITING = (
    _msg("GET-NO-WAIT", 109, "get reads the status and a reply without blocking"),
    _msg("AWAIT-DEFAULT-MAX", 109, "await waits up to 60 s, default and maximum"),
    _msg("AWAIT-TIMED-OUT", 109, "an await that ran out says `timed out waiting for <id>`"),
    _msg("AWAIT-LEAVES-REQUEST", 109, "an await that ran out changes nothing"),
    _msg("TOOL-GET", 114, "tool kxm_get", 2),
    _msg("TOOL-AWAIT", 118, "tool kxm_await", 2),
    _msg("CMD-GET", 124, "`kxm peer get ID`"),
    _msg("CMD-AWAIT", 125, "`kxm peer await ID --timeout-ms N`"),
    _msg("VISIBILITY", 128, "only sender and recipient read a message"),
    _msg("LONG-WORK", 128, "long work goes into a webhook workflow and pauses with kxm_workflow_wait", 5),
)

_FANOUT = (
    _msg("FANOUT-ONE-TO-THREE", 132, "a fan-out reaches one, two or three peers"),
    _msg("FANOUT-INDEPENDENT", 132, "a fan-out's requests are independent of each other"),
    _msg("FANOUT-MERGES-NAMES", 132, "duplicate names are one"),
    _msg("FANOUT-FOLLOWUP", 132, "each request of a fan-out is followUp"),
    _msg("FANOUT-WAIT", 132, "a fan-out waits up to timeoutMs, 30 minutes as default and maximum"),
    _msg("TOOL-FANOUT", 134, "tool kxm_fanout", 2),
    _msg("CMD-FANOUT", 148, "`kxm peer fanout --targets A B --content … --idempotency-key-prefix … --timeout-ms N`"),
    _msg("FANOUT-ENTRY", 153, "each response is final or pending"),
    _msg("OUT-FANOUT", 156, "a pending entry has target, messageId, status, messageStatus, expiresAt and waitStatus"),
    _msg("FANOUT-REPEAT", 170, "the exact call again resolves to the same messages"),
    _msg("FANOUT-REPEAT-CONTEXT", 170, "the workflow context is part of what must be the same", 5),
    _msg("FANOUT-ONLINE-ONLY", 170, "an offline target comes back as error, online target not found"),
    _msg("REPLY-IS-DATA", 172, "a reply is shown as input from another model", 2),
)

_CANCELLING = (
    _msg("CMD-CANCEL", 176, "`kxm peer cancel ID` withdraws one's own open request"),
    _msg("TOOL-CANCEL", 176, "tool kxm_cancel", 2),
    _msg("CANCEL-EVENT", 176, "the recipient gets a cancelled event"),
    _msg("CANCEL-PI", 176, "Pi drops a cancelled request from its queue", 2),
    _msg("CANCEL-CLAUDE", 176, "the Claude Code inbox drops a cancelled request", 2),
    _msg("CANCEL-AGAIN", 176, "cancelling a cancelled request returns it unchanged"),
    _msg("CANCEL-FINAL", 176, "a replied or an expired request cannot be cancelled"),
    _msg("CANCEL-NO-ROLLBACK", 178, "the tool says that cancelling undoes nothing", 2),
)

_RECEIVING = (
    _msg("PI-ONE-AT-A-TIME", 184, "Pi takes one request at a time", 2),
    _msg("PI-ORDER", 184, "Pi takes steer first, then followUp, then nextTurn", 2),
    _msg("PI-ACK", 184, "Pi acknowledges as the turn starts", 2),
    _msg("PI-REPLY", 184, "Pi's settled final answer is the reply, without kxm_reply", 2),
    _msg("PI-TRUNCATES", 184, "Pi cuts a reply over 32,000 characters and notes it", 2),
    _msg("CLAUDE-PUSHED", 188, "pushed mode: a request arrives as a channel event with its message_id", 2),
    _msg("CLAUDE-PULL", 189, "pull mode, the default: kxm_inbox lists what needs a reply", 2),
    _msg("CMD-CLAUDE-CHANNELS", 193, "`claude --channels plugin:kxm@kxm`", 2),
    _msg("CMD-CLAUDE-DEVELOPMENT", 195, "`claude --dangerously-load-development-channels plugin:kxm@kxm`", 2),
    _msg("TOOL-INBOX", 189, "tool kxm_inbox", 2),
    _msg("TOOL-REPLY", 198, "tool kxm_reply", 2),
    _msg("CMD-REPLY", 210, "`kxm peer reply ID TEXT` as the recipient"),
    _msg("REPLY-RECIPIENT-ONLY", 213, "only the recipient replies"),
    _msg("REPLY-ONCE", 213, "a request has one reply"),
    _msg("CMD-INBOX", 213, "`kxm peer inbox` lists the requests that wait for KXM_AGENT_NAME"),
    _msg("INBOX-OFFLINE", 213, "the inbox holds what was queued while the agent was offline"),
    _msg("INBOX-NO-ACK", 213, "reading the inbox acknowledges nothing"),
    _msg("INBOX-PID-NAME", 213, "the default cli-<pid> name is new at each call: an empty inbox"),
    _msg("MODE-FOLLOWUP", 221, "the hub keeps delivery followUp for the recipient, the default"),
    _msg("MODE-STEER", 222, "the hub keeps delivery steer for the recipient"),
    _msg("MODE-NEXTTURN", 223, "the hub keeps delivery nextTurn for the recipient"),
    _msg("PI-MODE-FOLLOWUP", 221, "Pi handles followUp after the current work settles", 2),
    _msg("PI-MODE-STEER", 222, "Pi handles steer at the next safe turn boundary and aborts nothing", 2),
    _msg("PI-MODE-NEXTTURN", 223, "Pi queues nextTurn after other work and runs it as a follow-up", 2),
    _msg("CLAUDE-MODE", 225, "Claude Code gets the mode as `delivery` in the channel's metadata", 2),
    _msg("WEBHOOK-MODES", 225, "webhook workflows take followUp and steer only", 5),
)

_RETRIES = (
    _msg("KEY-LENGTH", 229, "an idempotency key has up to 128 characters"),
    _msg("KEY-SENDER", 229, "an idempotency key belongs to its sender"),
    _msg("KEY-RETRY", 229, "the same key with the same fields returns the original"),
    _msg("KEY-CONFLICT-TARGET", 229, "the same key with another target conflicts"),
    _msg("KEY-CONFLICT-CONTENT", 229, "the same key with another content conflicts"),
    _msg("KEY-CONFLICT-DELIVERY", 229, "the same key with another delivery conflicts"),
    _msg("KEY-CONFLICT-CORRELATION", 229, "the same key with another correlation id conflicts"),
    _msg("KEY-CONFLICT-TTL", 229, "the same key with another TTL conflicts"),
    _msg("KEY-CONFLICT-CONTEXT", 229, "the same key with another workflow context conflicts", 5),
    _msg("KEY-RETENTION", 229, "a key is remembered as long as its message is kept"),
    _msg("CORRELATION-LENGTH", 231, "a correlation id has up to 128 characters"),
    _msg("CORRELATION-GROUPS", 231, "a correlation id deduplicates and authorises nothing"),
    _msg("CORRELATION-RUN", 231, "with workflowContext the correlation id is the run's id and nothing else", 5),
    _msg("EVIDENCE-CONTEXT", 233, "evidence counts by the workflowContext that the hub authorised", 5),
)

_LIMITS = (
    _msg("LIMIT-CONTENT", 239, "a request's content has at most 32,000 characters"),
    _msg("LIMIT-REPLY", 239, "a reply's content has at most 32,000 characters"),
    _msg("LIMIT-BODY", 239, "an HTTP body has at most 256 KiB"),
    _msg("LIMIT-TTL-DEFAULT", 240, "the TTL is 24 hours by default"),
    _msg("LIMIT-TTL-RANGE", 240, "a request's TTL is 1 second to 7 days"),
    _msg("LIMIT-TTL-FROM-SEND", 240, "the TTL counts from the send, time in the queue included"),
    _msg("LIMIT-TTL-VARIABLE", 240, "KXM_MESSAGE_TTL_MS sets the hub's default TTL"),
    _msg("LIMIT-AWAIT", 241, "await: 60 seconds"),
    _msg("LIMIT-FANOUT", 242, "fan-out's local wait: 30 minutes"),
    _msg("LIMIT-HOPS-DEFAULT", 243, "maxHops is 5 by default"),
    _msg("LIMIT-HOPS-RANGE", 243, "maxHops is 1 to 20"),
    _msg("LIMIT-RETENTION", 244, "a final message is kept 7 days, or KXM_MESSAGE_RETENTION_MS"),
    _msg("LIMIT-RETENTION-PURGED", 244, "a purged message is not found"),
    _msg("LIMIT-RATE", 245, "600 requests in 60 seconds"),
    _msg("LIMIT-RATE-WHO", 245, "the rate is counted for each agent, else for each client address"),
    _msg("LIMIT-RATE-VARIABLES", 245, "KXM_RATE_LIMIT_MAX and KXM_RATE_LIMIT_WINDOW_MS set the rate"),
    _msg("EXPIRED-BOTH", 247, "sender and recipient both get an expired event"),
    _msg("HOP-REFUSED", 249, "a request whose hops have reached maxHops is refused"),
    _msg("HOP-TOOLS", 249, "kxm_send and kxm_fanout send one hop past the request at hand, under its maxHops", 2),
    _msg("HOP-CLAUDE-FURTHEST", 249, "the MCP server counts from the furthest request in its open inbox", 2),
    _msg("HOP-CLI", 249, "`kxm peer send` starts at hop 0"),
    _msg("OFFLINE-REFUSED", 253, "a send to an offline agent fails by default"),
    _msg("OFFLINE-QUEUED", 253, "allowOffline queues for an agent that was here before"),
    _msg("OFFLINE-STAYS-QUEUED", 253, "such a request stays queued until the agent is back or its TTL has passed"),
    _msg("OFFLINE-UNKNOWN", 253, "an unknown name fails even with allowOffline"),
    _msg("OFFLINE-NO-FANOUT", 253, "fan-out has no offline option"),
)

_CLI = (
    _msg("CLI-REGISTERS", 257, "a `kxm peer` command registers, makes one call and unregisters"),
    _msg("CLI-DEFAULT-NAME", 257, "without KXM_AGENT_NAME the name is cli-<pid>"),
    _msg("CLI-STABLE-NAME", 259, "get, await and cancel under another name are refused as not visible"),
    _msg("CLI-OFFLINE-BETWEEN", 260, "between commands the CLI's identity is offline; peers can still reply to it"),
    _msg("CLI-ALLOW-OFFLINE", 260, "a CLI identity is reached with --allow-offline"),
    _msg("CLI-NAME-LIVE", 261, "a name that is live elsewhere is refused with duplicate_agent_name"),
    _msg("CLI-DRY-RUN", 262, "--dry-run prints the parsed arguments and does not contact the hub"),
    _msg("CLI-FAILURE", 264, "a failure prints ok, error and the hub's text as detail"),
)

_ERRORS = (
    _msg("ERR-TEXT-AND-CODE", 268, "tools and CLI report the text; the HTTP answer has the code beside it"),
    _msg("ERR-TARGET-NOT-FOUND", 272, "online target not found: <name> (target_not_found)"),
    _msg("ERR-SELF-TARGET", 273, "cannot send a request to yourself (self_target)"),
    _msg(
        "ERR-IDEMPOTENCY-CONFLICT", 274, "idempotency key was already used for another request (idempotency_conflict)"
    ),
    _msg("ERR-HOP-LIMIT", 275, "hop limit reached (<hops>/<max>): … (hop_limit_reached)"),
    _msg("ERR-TTL", 276, "ttlMs must be an integer between 1000 and 604800000 (protocol_error)"),
    _msg("ERR-FORBIDDEN", 277, "message is not visible to this agent (message_forbidden)"),
    _msg("ERR-DUPLICATE-REPLY", 278, "message already has a reply (duplicate_reply)"),
    _msg("ERR-STATE", 279, "cannot cancel a replied message (invalid_message_state)"),
    _msg("ERR-NOT-FOUND", 280, "message not found (message_not_found)"),
    _msg("ERR-DUPLICATE-NAME", 281, "agent name already active in project: <name> (duplicate_agent_name)"),
    _msg("ERR-RATE-LIMITED", 282, "request rate limit exceeded (rate_limited), with retry-after"),
    _msg("ERR-WORKFLOW-CONTEXT", 284, "the errors about workflowContext", 5),
)

_TROUBLE = (
    _msg("TROUBLE-QUEUED", 290, "stays queued: the recipient is offline or busy; the list shows it"),
    _msg("TROUBLE-QUEUED-PI", 290, "stays queued: the recipient swaps its Pi session; its log shows it", 2),
    _msg("TROUBLE-DELIVERED", 291, "stays delivered: cancel it and send it again with a new key"),
    _msg(
        "TROUBLE-DELIVERED-CLAUDE", 291, "stays delivered: a kept agent_name lets a restarted session read it back", 2
    ),
    _msg("TROUBLE-PENDING", 292, "fan-out pending: the ids work with get; the exact call may be repeated"),
    _msg("TROUBLE-CLAUDE-SILENT", 293, "Claude Code sees nothing: kxm_inbox and kxm_reply work without the channel", 2),
    _msg("TROUBLE-INBOX-EMPTY", 294, "an empty inbox: KXM_AGENT_NAME is not set to the name that peers send to"),
)

_GATEWAY_ROLES = (
    _relay("BETWEEN-MACHINES", 10, "komnet moves messages between machines", 3),
    _relay("HOME", 12, "what arrives lies in the user's komnet home until someone reads it", 3),
    _relay("REACHES-WORKING-SESSION", 17, "a remote reply reaches a working session in seconds"),
    _relay("ONLY-RELAYS", 20, "the gateway relays; it neither decides, executes nor speaks for anyone"),
    _relay("GATEWAY-ONE", 24, "one gateway session a machine, started by a person and addressable by name"),
    _relay("CMD-RELAY", 25, "`/komnet-gateway:relay`"),
    _relay("GATEWAY-IDENTITY", 25, "the gateway owns the machine's identity and alone sends for other sessions"),
    _relay("CMD-ASK", 30, "`/komnet-gateway:ask`"),
    _relay("CLIENT-KNOWS-NOTHING", 30, "a client session needs no knowledge of rooms or git"),
)

_TRANSPORTS = (
    _relay("WAY-ORDER", 34, "the cross-session message is tried before the file"),
    _relay("WAY-MESSAGE", 36, "SendMessage to the peer's name from ListAgents, at once"),
    _relay("WAY-FILE", 41, "a request file gateway/requests/<ulid>.json"),
    _relay("WAY-FILE-CLAIM", 42, "the watcher claims it by an atomic rename into claimed/"),
    _relay("WAY-FILE-POLL", 42, "the file way is bounded by the poll interval and needs only the file system"),
    _relay("UNREACHABLE-IS-NORMAL", 49, "a session without an inbox socket is the normal case, no failure"),
    _relay("CLIENT-WRITES-FILE", 54, "a client that cannot see the gateway writes a request file"),
    _relay(
        "REPLY-FILE",
        57,
        "a reply that cannot be pushed goes to gateway/replies/<replyKey>/pending/<id>--<room>--<from>.md",
    ),
    _relay("REPLY-FILE-TOLD", 58, "the gateway tells its own person; it drops nothing in silence and pretends nothing"),
    _relay("REPLY-KEY", 59, "replyKey comes from the request that opened the thread"),
    _relay("REPLY-NAME-CHARACTERS", 60, "each part of the file name is made of A-Z a-z 0-9 . _ -"),
    _relay("HOOK-READS-NAME", 61, "the hooks read the metadata from the name without opening the file"),
    _relay("REPLY-FILE-OR-PUSH", 61, "the file is written only when the push failed"),
    _relay("NO-FALSE-DELIVERY", 63, "delivered is what the tool reported, not that it returned"),
)

_ROUTING = (
    _relay("ROUTES-FILE", 68, "gateway/routes.json is the gateway's"),
    _relay("ROUTES-VERSION", 72, "routes.json: version 1"),
    _relay("ROUTES-SUBSCRIPTIONS", 73, "routes.json: subscriptions with session and rooms"),
    _relay("ROUTES-PENDING-THREAD", 76, "routes.json: pending, thread"),
    _relay("ROUTES-PENDING-SESSION", 77, "routes.json: pending, session"),
    _relay("ROUTES-PENDING-ASKED", 78, "routes.json: pending, asked"),
    _relay("ROUTES-PENDING-SUMMARY", 79, "routes.json: pending, summary"),
    _relay("ROUTE-FIRST-MATCH", 85, "the first rule that matches routes an item"),
    _relay("ROUTE-HUMAN", 87, "needs: human is never routed to an agent"),
    _relay("ROUTE-THREAD", 88, "a pending thread gets the reply, then its entry goes"),
    _relay("ROUTE-ROOM", 90, "a subscribed session gets the room's item"),
    _relay("ROUTE-HOLD", 91, "what matches nothing is held, reported to the person and never broadcast"),
    _relay("THREAD-INHERITED", 94, "a reply has its parent's thread", 3),
    _relay("THREAD-RECORDED", 95, "the thread is recorded with its session at send time"),
)

_TRUST = (
    _relay("TRUST-DATA", 104, "a remote body is quoted, attributed and fenced, introduced as data"),
    _relay("TRUST-NO-PARAPHRASE", 105, "a remote text never becomes an imperative or the user's own instruction"),
    _relay("TRUST-NO-EXECUTION", 109, "the gateway never does what a remote agent asked for"),
    _relay("TRUST-NO-PROXY", 111, "the gateway asks no peer to do it for the remote party"),
    _relay("TRUST-NO-LAUNDERING", 114, "a peer acts with its own permissions; the gateway is no hop around them"),
    _relay("TRUST-REFUSED-STAYS", 117, "what was refused here is not relayed onward to get it done"),
    _relay("TRUST-HUMAN-TOOL", 122, "komnet_answer refuses a needs: human item", 3),
    _relay("TRUST-HUMAN-DAEMON", 122, "the daemon refuses to answer a needs: human item", 3),
    _relay("TRUST-HUMAN-GATEWAY", 123, "the gateway refuses to answer a needs: human item"),
    _relay("TRUST-HUMAN-SHOWN", 123, "it is shown to the person verbatim and left pending"),
    _relay("CMD-ANSWER-AS-HUMAN", 125, '`komnet answer ID "WORDS" --as-human`', 3),
    _relay("TRUST-NO-AS-HUMAN", 125, "the gateway never uses --as-human"),
    _relay("TRUST-NO-DRAIN", 130, "nothing is drained that was not delivered"),
    _relay("TRUST-DRAIN-AFTER", 131, "draining follows a confirmed relay and never touches needs: human"),
    _relay("CMD-INBOX-DRAIN", 134, "`komnet inbox --drain` filters by --room and --needs", 3),
    _relay("DRAIN-ROOM", 134, "a drain clears every match of its filter", 3),
    _relay("DRAIN-RE-READ", 139, "the room is read again and everything relayed before it is drained"),
    _relay("SCANNER-REFUSES", 141, "the secret scanner refuses instead of warning", 3),
    _relay("SCANNER-REPORTED", 142, "a refused relay is reported back to the session that asked"),
    _relay("FORCE-UNSAFE", 143, "--force-unsafe is a person's decision about their own words", 3),
    _relay("TRUST-NO-FORCE-UNSAFE", 143, "the gateway never uses --force-unsafe"),
    _relay("TRUST-ATTRIBUTION", 146, "an outbound relay says in its body for which session it is sent"),
    _relay("TRUST-TAG", 147, "an outbound relay has the tag relay"),
)

_SENDING_FOR_CLIENTS = (
    _relay("SEND-SUBSCRIBED-ONLY", 152, "a room without a subscription is refused; the gateway joins none"),
    _relay("CMD-STATUS", 152, "`komnet status --json` names the subscriptions", 3),
    _relay("CMD-SEND", 156, '`komnet send ROOM "BODY" --tag relay`', 3),
    _relay("SEND-FOOTER", 158, "the body ends with the line that names the session and the gateway"),
    _relay("CMD-KOMNET-ASK", 161, "`komnet ask` opens a thread", 3),
    _relay("ASK-HUMAN", 162, "needs: human parks the thread for a person", 3),
    _relay("ASK-EXPLICIT", 164, "needs: human is no default and must be passed", 3),
    _relay("SEND-THREAD-RECORDED", 166, "the returned message's thread is recorded against the session"),
    _relay("NO-SPAWN", 171, "neither komnet nor the gateway starts an agent"),
    _relay("NAMES-ARE-CLAIMS", 176, "a session's name is a claim, never a proof"),
)

REQUIREMENTS: Final[tuple[Requirement, ...]] = (
    *_SETUP, *_STATES, *_DISCOVERY, *_SENDING, *_WAITING, *_FANOUT, *_CANCELLING, *_RECEIVING, *_RETRIES, *_LIMITS,
    *_CLI, *_ERRORS, *_TROUBLE,
    *_GATEWAY_ROLES, *_TRANSPORTS, *_ROUTING, *_TRUST, *_SENDING_FOR_CLIENTS,
)  # fmt: skip

DEVIATIONS: Final[tuple[Deviation, ...]] = (
    Deviation(
        "CONTENT-AS-SENT",
        "content is judged (empty, too long) trimmed, but stored with its edge white space",
        "the seed says that bodies are stored as sent; code blocks and hashes depend on it",
        14,
    ),
    Deviation(
        "REPLAY-EVERY-QUEUED",
        "a reconnect pushes every queued request, also one older than an acknowledged one",
        "the seed promises a push until the acknowledgement; the contract's cursor loses messages",
        3,
    ),
    Deviation(
        "OWN-EVENTS-REPLAYED",
        "reply, cancelled and expired are replayed to a stream that missed them; frames have id lines",
        "a sender that was away must not have to poll; clients ignore id lines",
        3,
    ),
    Deviation(
        "RESUME",
        "registering an online name with `resume` and a key of that agent adds a session instead of 409",
        "a crashed agent must not be locked out of its own name; without the key the contract's 409 stands",
        6,
    ),
    Deviation(
        "SAME-USER-IS-NOT-ELSEWHERE",
        "`kxm peer` joins the live agent of its own user on its own machine instead of failing",
        "the seed refuses a name that is live elsewhere; a shell inside an agent's session is not elsewhere",
        6,
    ),
    Deviation(
        "RESTART-KEEPS-PRESENCE",
        "after a hub restart an agent is online until its stored lease has run out, not offline at once",
        "sends must not fail because the hub was restarted",
        6,
    ),
    Deviation(
        "NAMES",
        "agent names have no control or format character, no @ and no /; four names are reserved",
        "names are shown in terminals and routed to the gateway by @",
        7,
    ),
    Deviation(
        "SYNCHRONOUS-FULL",
        "SQLite runs with synchronous=FULL, not NORMAL",
        "acknowledged means on disk",
        5,
    ),
    Deviation(
        "HOST-AND-ORIGIN",
        "a foreign Host is 421 host_not_allowed, none or two are 400, a foreign Origin is 403 origin_not_allowed",
        "a web page in the user's browser must not reach the hub",
        16,
    ),
    Deviation(
        "RATE-AFTER-PROOF",
        "an agent's bucket is charged only after its identity is proved; else the address's is",
        "an unproved header must neither evade a limit nor exhaust another agent's",
        16,
    ),
    Deviation(
        "PROOF-WITHOUT-SIDE-EFFECTS",
        "a request whose identity holds but whose token does not leaves no trace, neither online nor last seen",
        "a refused request changes nothing",
        16,
    ),
    Deviation(
        "ALWAYS-A-TOKEN",
        "a hub never runs without a token: it makes one, and mints project tokens over the user's own socket",
        "loopback is no credential; nobody types a token on one machine all the same",
        16,
    ),
    Deviation(
        "STRICT-JSON",
        "duplicate members, NaN, integers above 2^53, depth above 32, lone surrogates and U+0000 are invalid_json",
        "two readers of one body must not see two things",
        14,
    ),
    Deviation(
        "EXPLAINED-5XX",
        "an answer of 500 or more keeps the fixed text and adds detail and nextAction",
        "the contract hides what to do",
        14,
    ),
    Deviation(
        "AWAIT-BY-LONG-POLL",
        "waiting asks the hub once (waitMs) instead of every 500 ms",
        "polling eats the caller's own rate limit",
        12,
    ),
    Deviation(
        "STARTUP-NAMES-VARIABLE",
        "a refused setting is named with its own bounds, not by the contract's two collective texts",
        "who starts a hub must know which variable to change",
    ),
    Deviation(
        "ORDERED-IDS",
        "message ids have the prefix and 32 hex digits, but begin with the time instead of being uuid4",
        "rows stored one after another stay neighbours in the index; a client sees only the shape",
    ),
    Deviation(
        "FAILURE-NAMES-PROJECT",
        "a failed send's line has `project` beside ok, error and detail when the target was not found",
        "the commonest cause is that two shells stand in two projects",
        7,
    ),
    Deviation(
        "PAIRS-ARE-HELD",
        "after 12 requests in 10 minutes between two agents the next are accepted, but held until a person goes on",
        "a reply wakes its asker, so two agents can keep each other awake; KXM_PAIR_LIMIT=0 is the contract's way",
        21,
    ),
    Deviation(
        "RINGS-BY-PATH",
        "a send may carry the path of its chain, and is refused when its target stands in it",
        "the hop limit stops a ring late; a request without a path is as in the contract",
        21,
    ),
    Deviation(
        "PRESENCE-IN-SMALL-PROJECTS",
        "in a project with more than 256 open streams no presence frames are pushed; the list of agents stays true",
        "each agent that comes would be told to each stream: 10,000 agents would push 100 million frames",
        3,
    ),
    Deviation(
        "ACK-DOES-NOT-PURGE",
        "an acknowledgement does not purge final messages first; the sweep does, every 10 s",
        "the busiest route would delete rows that nobody waits for",
        13,
    ),
    Deviation(
        "DIGESTS-STAY",
        "64 hex digits in a command's output are not replaced; values of secret variables are",
        "a digest in a body is content; our tokens have a prefix by which they are known",
    ),
    Deviation(
        "NO-WORKFLOWS-YET",
        "until part 5 a workflowContext that is well formed is refused with workflow_context_forbidden",
        "no run exists that could authorise it",
    ),
)
