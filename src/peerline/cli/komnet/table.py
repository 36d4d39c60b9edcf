"""`komnet` as a table: its commands, what each takes, and where each is written (spec/network.md 7).

The parser, the help texts, docs/reference/komnet.md and the plugin's test are all made from it.
"""

from typing import Final, NamedTuple

FLAG, TEXT, MANY, COUNT = "flag", "text", "many", "count"


class Option(NamedTuple):
    """`kind` is FLAG, TEXT, MANY (may be repeated) or COUNT (a whole number ≥ `least`)."""

    kind: str
    value: str
    about: str
    least: int = 1


class Command(NamedTuple):
    """`takes` names the words: `ROOM` must be given, `[ID]` may be, `TEXT...` is the rest joined by spaces.

    `body` says that the rest may come from `--file` or, as `-`, from standard input instead.
    """

    takes: str
    about: str
    module: str
    options: dict[str, Option] = {}  # noqa: RUF012  (read only, like the whole table)
    body: bool = False


JSON: Final = {"--json": Option(FLAG, "", "print the result as JSON")}
COMMON: Final = {
    "--agent": Option(TEXT, "ID", "act as this agent of the machine (KOMNET_AGENT)"),
    "--network": Option(TEXT, "ID", "in this network instead of the default one"),
    "--direct": Option(FLAG, "", "do the work in this process, also where a daemon runs"),
    "--json": JSON["--json"],
    "--help": Option(FLAG, "", "this text"),
}
SHORT: Final = {"-h": "--help"}
ROOM = Option(TEXT, "ROOM", "only this room")
TAG = Option(TEXT, "TAG", "only messages with this tag")
NEEDS = Option(TEXT, "WHO", "only what needs none, agent or human")
LIMIT = Option(COUNT, "N", "at most so many")
_WRITING: Final = {
    "--needs": Option(TEXT, "WHO", "none, agent or human"),
    "--kind": Option(TEXT, "KIND", "msg, question, answer, decision, status or artifact"),
    "--mention": Option(MANY, "ID", "an agent it is for, or @room; repeat it for several"),
    "--tag": Option(MANY, "TAG", "a tag; repeat it for several"),
    "--ref": Option(MANY, "REF", "what it is about, as repository@revision:path; repeat it for several"),
    "--priority": Option(TEXT, "P", "low, normal, high or blocking"),
    "--reply-to": Option(TEXT, "ID", "the message it replies to"),
    "--force-unsafe": Option(TEXT, "REASON", "send although the scanner found a secret: your own words, at a terminal"),
}
_WORDS: Final = "TEXT..."

COMMANDS: Final[dict[str, Command]] = {
    "init": Command(
        "",
        "set this agent up in the network of a Git repository",
        "places",
        {"--repo": Option(TEXT, "URL", "the repository that carries the network")},
    ),
    "agent add": Command(
        "ID",
        "set a further agent of this machine up, with a home of its own",
        "places",
        {"--repo": Option(TEXT, "URL", "the repository that carries the network")},
    ),
    "agent list": Command("", "the further agents of this machine", "places"),
    "agent path": Command("ID", "the home of a further agent", "places"),
    "room list": Command("", "the rooms of the network", "rooms"),
    "room create": Command(
        "ROOM",
        "open a room and follow it",
        "rooms",
        {
            "--title": Option(TEXT, "TEXT", "its title"),
            "--purpose": Option(TEXT, "TEXT", "what belongs into it"),
            "--reply-budget": Option(COUNT, "N", "agents' messages in a row before a thread waits for a person"),
        },
    ),
    "room join": Command("ROOM", "follow a room: what is addressed to you there comes into the inbox", "rooms"),
    "room leave": Command("ROOM", "follow a room no longer", "rooms"),
    "room show": Command("ROOM", "how a room is set up", "rooms"),
    "send": Command(f"ROOM {_WORDS}", "write into a room", "writing", _WRITING, body=True),
    "ask": Command(
        f"ROOM {_WORDS}",
        "ask in a room; needs an agent's answer unless --needs says else",
        "writing",
        _WRITING,
        body=True,
    ),
    "answer": Command(
        f"ID {_WORDS}",
        "answer a message of your inbox",
        "writing",
        {
            "--as-human": Option(FLAG, "", "a person's own answer: asked for at the terminal, recorded as theirs"),
            "--force-unsafe": _WRITING["--force-unsafe"],
        },
        body=True,
    ),
    "decide": Command(
        f"ROOM TITLE [{_WORDS}]",
        "record a decision",
        "writing",
        {
            "--reply-to": Option(TEXT, "ID", "the decision that it replaces, or the message it settles"),
            "--force-unsafe": _WRITING["--force-unsafe"],
        },
        body=True,
    ),
    "read": Command(
        "ROOM",
        "what stands in a room now, by thread",
        "reading",
        {"--limit": LIMIT, "--thread": Option(TEXT, "ID", "only this thread")},
    ),
    "history": Command(
        "ROOM",
        "everything ever written into a room, sealed messages too",
        "reading",
        {"--since": Option(TEXT, "TIME", "from this time on, as 2026-08-12 or 2026-08-12T09:00:00Z"), "--limit": LIMIT},
    ),
    "search": Command("WORDS...", "find messages by their words", "reading", {"--room": ROOM, "--limit": LIMIT}),
    "inbox": Command(
        "",
        "what waits for you",
        "inbox",
        {
            "--drain": Option(FLAG, "", "mark what is shown as done; what needs a human stays"),
            "--id": Option(MANY, "ID", "only this message; repeat it for several"),
            "--room": ROOM,
            "--needs": NEEDS,
            "--tag": TAG,
            "--brief": Option(FLAG, "", "a line each, nothing when nothing waits: for a session's start"),
            "--all-networks": Option(FLAG, "", "of every network of this agent"),
        },
    ),
    "trace": Command("ID", "where a message is: here, on the remote, read, answered", "reading"),
    "receipts": Command(
        "ROOM", "who has read how far", "reading", {"--reply-to": Option(TEXT, "ID", "who has read this message")}
    ),
    "mentions": Command("", "messages for you in rooms you do not follow", "reading"),
    "sync": Command("", "send what is queued and fetch what is new", "state"),
    "status": Command("", "where this agent stands", "state", {"--all-networks": Option(FLAG, "", "in every network")}),
    "watch": Command(
        "",
        "a line for each message that comes",
        "watch",
        {
            "--interval": Option(COUNT, "S", "seconds between two looks (default 15)", 2),
            "--once": Option(FLAG, "", "look once"),
            "--wait": Option(
                COUNT, "S", "until something comes, at most so many seconds; exit 3: nothing, 4: could not look"
            ),
            "--new-only": Option(FLAG, "", "not what waits already"),
            "--room": ROOM,
            "--thread": Option(TEXT, "ID", "only this thread"),
            "--tag": TAG,
            "--needs": NEEDS,
            "--all-networks": Option(FLAG, "", "of every network of this agent"),
        },
    ),
    "handshake": Command(
        "ROOM [NOTE...]",
        "say hello in a room and see who answers",
        "people",
        {"--peer": Option(MANY, "ID", "whom it is for (default: everybody there); repeat it for several")},
    ),
    "handshake ack": Command("ID [NOTE...]", "answer a handshake", "people"),
    "agents": Command("", "who is in the network, and what each covers", "people"),
    "profile": Command("[ID]", "what an agent says of itself (default: you)", "people"),
    "profile show": Command("[ID]", "what an agent says of itself (default: you)", "people"),
    "profile update": Command(
        "",
        "say what you cover, so that others know what to ask you",
        "people",
        {
            "--role": Option(TEXT, "TEXT", "what you are"),
            "--mission": Option(TEXT, "TEXT", "what you are for"),
            "--focus": Option(TEXT, "TEXT", "what you are at now"),
            "--workspace": Option(TEXT, "NAME", "a label or repository id, no path"),
            "--capability": Option(MANY, "TEXT", "what you can do"),
            "--responsibility": Option(MANY, "TEXT", "what you answer for"),
            "--constraint": Option(MANY, "TEXT", "what you may not do"),
            "--help-with": Option(MANY, "TEXT", "what others may ask you"),
        },
    ),
    "presence": Command(
        "",
        "who is there",
        "people",
        {"--live": Option(FLAG, "", "say that you are"), "--away": Option(FLAG, "", "say that you are not")},
    ),
    "network list": Command("", "the networks of this agent", "places"),
    "network use": Command("ID", "make a network the default", "places"),
    "policy": Command(
        "",
        "what the machine's owner allows",
        "places",
        {"--init": Option(FLAG, "", "write the file, with its defaults explained")},
    ),
    "daemon status": Command("", "whether the daemon runs; exit 1 when not", "daemon"),
    "daemon start": Command("", "start it in the background", "daemon"),
    "daemon stop": Command("", "stop it", "daemon"),
    "daemon run": Command("", "run it in the foreground", "daemon"),
    "daemon install": Command("", "start it at each login", "daemon"),
    "daemon uninstall": Command("", "no longer start it at login", "daemon"),
    "gateway run": Command("", "relay between the rooms and this machine's sessions, in the foreground", "gateway"),
    "gateway prepare": Command(
        "", "make the gateway's folders; exit 3: a gateway runs on this machine already", "gateway"
    ),
    "gateway status": Command("", "what the gateway is in the middle of", "gateway"),
    "gateway ask": Command(
        f"ROOM {_WORDS}",
        "ask in a room by way of the gateway, from a session that needs to know nothing of it",
        "gateway_ask",
        {
            "--to": Option(TEXT, "ID", "the agent that it is for (default: everybody in the room)"),
            "--needs": Option(TEXT, "WHO", "agent (default), or human: a person there has to answer"),
            "--session": Option(TEXT, "NAME", "the session that asks (default: the project's folder)"),
            "--project-dir": Option(TEXT, "DIR", "the project's folder as the session spells it (default: this one)"),
            "--key": Option(TEXT, "DIGITS", "the reply key (default: that of the project's folder)"),
            "--wait": Option(COUNT, "S", "wait for the answer, at most so many seconds; exit 3: none came"),
        },
        body=True,
    ),
    "gateway subscribe": Command(
        "SESSION ROOM",
        "let a session serve a room: what nobody asked for comes to it",
        "gateway",
        {"--default": Option(FLAG, "", "of several that serve the room, this one gets it")},
    ),
    "gateway unsubscribe": Command("SESSION [ROOM]", "a session serves a room, or all its rooms, no longer", "gateway"),
    "gateway routes": Command("", "who waits in which thread, and who serves which room", "gateway"),
    "gateway held": Command("", "what is nobody's, and what waits for a person", "gateway"),
    "gateway send": Command(
        "FILE", "send a claimed request, once: attributed, tagged, its thread recorded", "gateway_session"
    ),
    "gateway show": Command("ID", "whom an item is for, and its text in a fence, ready to push", "gateway_session"),
    "gateway resolve": Command(
        "ID",
        "say what became of an item",
        "gateway_session",
        {
            "--to": Option(TEXT, "SESSION", "hand a held item to this session"),
            "--pushed": Option(TEXT, "REPORT", "a session that plays the gateway pushed it; what its tool reported"),
            "--filed": Option(FLAG, "", "it could not be pushed: leave it as a reply file for the project that asked"),
            "--dismiss": Option(FLAG, "", "a person has seen it, and nobody needs it"),
        },
    ),
    "gateway drain": Command(
        "ID", "take out of the inbox what was delivered; refused without a recorded result", "gateway_session"
    ),
    "gateway watch": Command(
        "", "a line for each request and each item, for a session that plays the gateway", "gateway_watch"
    ),
    "gateway replies": Command(
        "",
        "the answers that wait as files for a project",
        "gateway_replies",
        {
            "--read": Option(TEXT, "FILE", "print one"),
            "--brief": Option(FLAG, "", "a line each, nothing when none waits: for a session's start"),
            "--mark-delivered": Option(TEXT, "FILE", "one was read: move it out of the way"),
            "--project-dir": Option(TEXT, "DIR", "the project's folder as the session spells it (default: this one)"),
        },
    ),
    "gateway await-reply": Command(
        "",
        "wait for answers as files; exit 3: none came in time",
        "gateway_replies",
        {
            "--key": Option(TEXT, "DIGITS", "the reply key (default: that of this folder)"),
            "--expect": Option(COUNT, "N", "how many (default 1)"),
            "--timeout": Option(COUNT, "S", "at most so many seconds (default 900)", 10),
            "--project-dir": Option(TEXT, "DIR", "the project's folder as the session spells it (default: this one)"),
        },
    ),
    "setup": Command("TOOL", "give claude-code, claude-desktop, cursor or codex the tools of this agent", "setup"),
    "doctor": Command("", "what is wrong here, and how to put it right", "doctor"),
    "mcp": Command("", "serve the tools to one agent session; its client starts it", "mcp"),
}

# Verbs of the network that this release reads but does not write.
LATER: Final = ("task", "review", "claim", "claims", "approvals", "repo", "seal")
GROUPS: Final = tuple(sorted({name.split()[0] for name in COMMANDS if " " in name}))


def options(name: str) -> dict[str, Option]:
    """Every option that the command takes."""
    command = COMMANDS[name]
    body = (
        {"--file": Option(TEXT, "FILE", "read the text from FILE; a text - reads standard input")}
        if command.body
        else {}
    )
    return {**command.options, **body, **COMMON}
