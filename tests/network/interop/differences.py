"""Where our `komnet` differs from the recorded one on purpose, each with its reason."""

from typing import Final

# Members that ours adds, by how their path ends; a reader of the recorded shapes ignores what it does not know.
ADDED: Final = {
    "[].verified": "whether the sender was verified stands on every item (spec/network.md 15.2-5)",
    "[].reason": "why not",
    "[].mentions": "an item tells whom it is for",
    "[].refs": "what it is about (spec/network.md 16, inbox)",
    "[].inReplyTo": "what it answers (spec/network.md 16, inbox)",
    "[].authorKind": "whether a person wrote it",
    ".delivery": "decide and handshake may be queued like any other message, and say so",
    ".queuedReason": "what the remote said when a message is only queued",
}

_ID = "an id that can't be written is not understood: exit 2, like a wrong kind, need or priority"
_TASKS = "the recording stops for a task's event; tasks come later, so nothing waits here"

# Calls by file and number: the exit code and the members are not compared, for this reason.
DIFFERENT: Final = {
    ("captures-1", 11): _ID,
    ("captures-1", 12): _ID,
    ("captures-1", 30): "an answer is given once; a second one is refused and told how to add to it (15.2-16)",
    ("captures-1", 72): "--force-unsafe is a person's at a terminal, about their own words",
    ("captures-2", 129): _TASKS,
    ("captures-3", 9): "a post that a seal took away is no anomaly: each seal would be reported by every peer (15.2-9)",
    ("captures-3", 14): "a sealed message can be traced too (16, receipts and trace)",
    ("captures-3", 18): "what interrupts there is a task that is blocked; tasks come later",
}
