"""In one line, why a message is not further, and in another what its reader can do: from its state and its trail."""

from typing import NamedTuple

from peerline.core.agent import Presence
from peerline.core.brake import held, release
from peerline.core.ids import AgentId
from peerline.core.message import Message, Status
from peerline.core.trail import FAR, UNSAID, Fact, Observed, Reach, reach

AT_WORK = (Observed.IN_TURN, Observed.READ)
LISTENERS = ("by mcp:", "by pi")
NO_STEP = "nothing to do"
LATER = "do not send it again"


class Standing(NamedTuple):
    """Where a message is, why it is not further, and what its reader can do.

    `stuck`: nobody is at work on it, or nobody has its outcome. False says no more than that nothing is known to stand
    in its way.
    """

    why: str
    next: str
    stuck: bool = True


class Recipient(NamedTuple):
    """Who was asked, as the hub sees it now.

    `streams` are open; `full`: none of them takes more. `twin` is an agent that is here under the same name with a
    number behind it: a session that could not have the name.
    """

    presence: Presence
    streams: int = 0
    full: bool = False
    twin: str | None = None

    @property
    def away(self) -> bool:
        return self.presence is Presence.OFFLINE

    @property
    def silent(self) -> bool:
        return self.presence is Presence.STALE


def standing(message: Message, asked: Recipient, recorded: list[Fact], reader: AgentId | None = None) -> Standing:
    """The step is the reader's if it was asked, else the sender's."""
    told = _told(message, asked, recorded)
    if reader == message.recipient and not message.held:
        return told._replace(next=_recipients_step(message))
    return told


def _told(message: Message, asked: Recipient, recorded: list[Fact]) -> Standing:
    if message.held:
        ends = (message.sender, message.sender_name), (message.recipient, message.recipient_name)
        return Standing(held(message.sender_name, message.recipient_name), f"a person continues with: {release(*ends)}")
    if message.to_room and message.open:
        return _to_room(message, asked, recorded)
    if message.status == Status.QUEUED:
        return _queued(message, asked, recorded)
    if message.status == Status.DELIVERED:
        return _delivered(message, asked, recorded)
    if message.status == Status.REPLIED:
        refused = next((fact for fact in recorded if fact.fact == Observed.REFUSED), None)
        if refused is not None and message.to_room:
            return _refused(message, refused, recorded)
        return _replied(message, recorded)
    if message.status == Status.CANCELLED:
        undone = f"{NO_STEP}; work that was already done is not undone"
        return Standing(f"cancelled by {message.sender_name}", undone, stuck=False)
    return Standing(_expired(message, recorded), f"if it still matters: kxm peer resend {message.id}")


def _queued(message: Message, asked: Recipient, recorded: list[Fact]) -> Standing:
    name, came = message.recipient_name, reach(recorded, message.recipient)
    if came is not None and not (asked.away and came.fact is Observed.NOT_ANNOUNCED):
        found = _at_the_model(came, name)
        if asked.away:
            return Standing(f"{found.why}, and is offline now", f"it goes out again when {name} connects")
        return found
    seen = {fact.fact for fact in recorded if fact.observer == message.recipient}
    if Observed.READ in seen:
        gone = ", and is offline now" if asked.away else ""
        return Standing(f"read by {name}, which has not replied yet{gone}", f"wait; {LATER}", stuck=False)
    if asked.away:
        return _for_nobody(name, asked)
    if asked.streams == 0:
        return _unheard(name, asked, pushed=Observed.PUSHED in seen)
    if asked.full:
        return Standing(
            f"stored; {name}'s stream takes nothing more: its client does not read on",
            f"see whether its session hangs; it goes out when that reads on or connects again, {LATER}",
        )
    if Observed.PUSHED not in seen:
        return Standing(f"stored; being pushed to {name}", "wait a moment", stuck=False)
    if asked.silent:
        return Standing(
            f"pushed to {name}, which has not taken it and is not heard from any more",
            "see whether its session hangs or sleeps; it goes out again when it connects",
        )
    return Standing(f"pushed to {name}, which has not taken it yet", "wait: it may be busy with earlier work")


def _to_room(message: Message, asked: Recipient, recorded: list[Fact]) -> Standing:
    """An address in a room: how far the gateway has brought it, and what the far one says became of it."""
    name = message.recipient_name
    since = message.delivered_at or 0  # why it could not go out before is no news then
    told = (fact for fact in recorded if fact.fact in FAR and (fact.fact != Observed.WAITS or fact.at >= since))
    far = max(told, key=lambda fact: fact.at, default=None)
    by, _, why = (far.detail or "").removeprefix("by ").partition(": ") if far is not None else ("", "", "")
    kind = far.fact if far is not None else None
    if message.status == Status.DELIVERED:
        if kind == Observed.IN_TURN_THERE:
            return Standing(f"in a turn at {by}'s machine, which has not replied yet", f"wait; {LATER}", stuck=False)
        if kind == Observed.HELD_THERE:
            held_there = f"held by {by}'s gateway: {why or UNSAID}"
            return Standing(held_there, f"the person at {by}'s machine decides; {LATER}")
        if kind == Observed.TAKEN_THERE:
            where = f" ({why})" if why else ""
            return Standing(
                f"taken by {by}'s gateway{where}, not yet in a turn", "wait: its agent may be busy with earlier work"
            )
        if kind == Observed.WAITS:
            return Standing(f"in the room's repository, and {why or UNSAID}", "cancel it, and ask where they are")
        return Standing(f"in the room's repository; {name} has not answered yet", f"wait; {LATER}", stuck=False)
    if asked.away:
        return Standing("stored; this machine's gateway does not run", "its person starts it: komnet gateway run")
    if kind == Observed.WAITS:
        waits = f"with the gateway, which can't send it yet: {why or UNSAID}"
        return Standing(waits, f"it goes out by itself; {LATER}")
    return Standing("with the gateway; the room's remote has not got it yet", f"komnet gateway status; {LATER}")


def _refused(message: Message, refused: Fact, recorded: list[Fact]) -> Standing:
    """What came back is the gateway's word, and nobody else's."""
    code = (refused.detail or "").partition(": ")[2] or UNSAID
    read = any(fact.observer == message.sender and fact.fact in (*AT_WORK, Observed.FINAL_READ) for fact in recorded)
    why = f"refused by this machine's gateway ({code}); {message.recipient_name} never got it"
    return Standing(why, f"kxm peer get {message.id} tells why", stuck=not read)


def _for_nobody(name: str, asked: Recipient) -> Standing:
    if asked.twin is not None:
        return Standing(
            f"stored; {name} is offline; {asked.twin}, a session that could not have that name, is here",
            f"if that session was meant, cancel it and send it to {asked.twin}; else it goes out when {name} connects",
        )
    return Standing(f"stored; {name} is offline", f"it goes out when {name} connects; {LATER}")


def _unheard(name: str, asked: Recipient, *, pushed: bool) -> Standing:
    if pushed:
        gone = f"pushed to {name}, which did not take it; its stream is gone"
        return Standing(gone, f"it goes out again when {name} connects; {LATER}")
    if asked.silent:
        return Standing(
            f"stored; {name} is not heard from any more and has no open stream",
            f"see whether its session still runs; it goes out when it connects, {LATER}",
        )
    return Standing(f"stored; {name} is online but has no open stream", f"{name} sees it when it reads its inbox")


def _delivered(message: Message, asked: Recipient, recorded: list[Fact]) -> Standing:
    name, came = message.recipient_name, reach(recorded, message.recipient)
    idle = came.fact not in AT_WORK if came is not None else _taken_by_a_session(message, recorded)
    if asked.away or (idle and asked.streams == 0):
        return Standing(
            _left_behind(name, came, "went offline" if asked.away else "lost its connection"),
            f"wait for {name} to come back, or cancel it and send it again under a new idempotency key",
        )
    if came is not None:
        return _at_the_model(came, name, "taken; ")
    if asked.silent:
        return Standing(
            f"taken by {name}, which is not heard from any more",
            "see whether its session hangs or sleeps; if it is lost, cancel the request and send it again",
        )
    return Standing(f"taken by {name}, which has not replied yet", "wait: its turn may still be running", stuck=False)


def _taken_by_a_session(message: Message, recorded: list[Fact]) -> bool:
    """Whether an adapter took it that listens as long as its session lives; a program may stop, and work on."""
    return any(
        fact.fact == Observed.ACKNOWLEDGED
        and fact.observer == message.recipient
        and (fact.detail or "").startswith(LISTENERS)
        for fact in recorded
    )


def _left_behind(name: str, came: Reach | None, gone: str) -> str:
    """What a recipient that is `gone` had done with what it took."""
    if came is None:
        return f"taken by {name}, which {gone} before it replied"
    if came.fact in AT_WORK:
        return f"in a turn of {name}, which {gone} before it replied"
    if came.fact is Observed.ANNOUNCED:
        return f"taken by {name} and announced by {came.adapter}; it {gone} before a turn began with it"
    return f"taken by {name}, which {gone}; {came.adapter} could not announce it: {came.reason or UNSAID}"


def _at_the_model(came: Reach, name: str, taken: str = "") -> Standing:
    if came.fact is Observed.NOT_ANNOUNCED:
        return Standing(
            f"{taken}{came.adapter} could not announce it to {name}: {came.reason or UNSAID}",
            f"{name} sees it in its next session, or when it reads its inbox",
        )
    if came.fact is Observed.ANNOUNCED:
        announced = f"{taken}announced to {name} by {came.adapter}, not yet in a turn"
        return Standing(announced, "wait: it may be busy with earlier work")
    if came.fact is Observed.IN_TURN and came.reason:
        stands = f"in a turn of {name} ({came.adapter}) that does not go on by itself: {came.reason}"
        return Standing(stands, f"somebody has to answer it in {name}'s terminal")
    happened = "read by" if came.fact is Observed.READ else "in a turn of"
    return Standing(
        f"{happened} {name} ({came.adapter}), which has not replied yet",
        "wait: its turn may still be running",
        stuck=False,
    )


def _replied(message: Message, recorded: list[Fact]) -> Standing:
    name, asker, came = message.recipient_name, message.sender_name, reach(recorded, message.sender)
    if came is not None and came.fact in AT_WORK and not came.reason:
        happened = "has read the reply" if came.fact is Observed.READ else "has the reply in a turn"
        return Standing(f"replied by {name}, and {asker} {happened} ({came.adapter})", NO_STEP, stuck=False)
    seen = {fact.fact for fact in recorded if fact.observer == message.sender}
    if Observed.FINAL_READ in seen:
        return Standing(f"replied by {name}, and {asker} has the reply", NO_STEP, stuck=False)
    fetch = f"kxm peer get {message.id}"
    if came is not None and came.fact is Observed.NOT_ANNOUNCED:
        unsaid = f"{came.adapter} could not announce the reply to {asker}: {came.reason or UNSAID}"
        return Standing(f"replied by {name}; {unsaid}", fetch)
    if came is not None and came.fact is Observed.ANNOUNCED:
        announced = f"the reply was announced to {asker} by {came.adapter}, not yet in a turn"
        return Standing(f"replied by {name}; {announced}", f"wait: it may be busy with other work; {fetch} shows it")
    if came is not None:
        return Standing(f"replied by {name}; the reply is with {asker} ({came.adapter}), but {came.reason}", fetch)
    if Observed.FINAL_PUSHED in seen:  # a stream that was written to says nothing of who read from it
        pushed = f"the reply was pushed to {asker}, and nothing says that it was read"
        return Standing(f"replied by {name}; {pushed}", fetch)
    return Standing(f"replied by {name}; {asker} has not fetched the reply", fetch)


def _expired(message: Message, recorded: list[Fact]) -> str:
    """How far it had come when its time was over."""
    name, came = message.recipient_name, reach(recorded, message.recipient)
    if message.held_at is not None:
        return "expired while it was held: nobody let the two agents go on"
    if message.to_room:
        there = f"expired in the room's repository; {name} did not reply in time"
        return there if message.delivered_at is not None else "expired; the room's remote never got it"
    if came is not None and came.fact in AT_WORK:
        return f"expired in a turn of {name} ({came.adapter}), which did not reply in time"
    if came is not None and came.fact is Observed.NOT_ANNOUNCED:
        return f"expired; {came.adapter} could not announce it to {name}: {came.reason or UNSAID}"
    if came is not None:
        return f"expired; it was announced to {name} by {came.adapter}, and no turn began with it"
    if message.delivered_at is None:
        return f"expired; {name} never took it"
    return f"expired; {name} took it and did not reply in time"


def _recipients_step(message: Message) -> str:
    if message.open:
        return f'kxm peer reply {message.id} "TEXT"'
    if message.status == Status.CANCELLED:
        return "stop work on it; what was already done is not undone"
    return NO_STEP
