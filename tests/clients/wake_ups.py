"""The same rounds for every client that can be woken: an idle session is woken by a request, answers it and asks back,
rests, and is woken by the reply."""

import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.clients import latency
from tests.clients.model.conversation import Now, Rule, Rules, Step, call, say
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import Agent, Project, Stream

WAKE_UPS = int(os.environ.get("KXM_TEST_WAKE_UPS", "5"))
REQUEST = "The body of a request, for its recipient alone."
REPLY = "The body of a reply, for its asker alone."
ANSWER = "answered by the model"
KNOWN = "make yourself known"
INTRODUCTION = Rule(KNOWN, (call("kxm_list"), say("here I am")))
_numbers = itertools.count()


def named(now: Now) -> str:
    """What the rule found first: the message that the session was told of."""
    return now.found[1]


def asker(now: Now) -> str:
    return now.found[2]


def script(request: str, reply: str, *, settles: bool = False) -> Rules:
    """`request` finds a message's id and its sender in what wakes a session, `reply` an id. `settles`: the answer of
    the turn is the reply and needs no call; then the session asks because its user tells it to (ask_for)."""
    read_it = Rule(reply, (call("kxm_get", messageId=named), say("read the reply")))
    if settles:
        asked = (call("kxm_send", target=named, content="a question of its own"), say("asked"))
        return Rules(Rule(request, (say(ANSWER),)), read_it, Rule(ask_for("(lead[0-9]+)"), asked))
    answers: tuple[Step, ...] = (
        call("kxm_inbox"),
        call("kxm_reply", messageId=named, content=ANSWER),
        call("kxm_send", target=asker, content="a question of its own"),
        say("answered and asked"),
    )
    return Rules(Rule(request, answers), read_it, INTRODUCTION)


def ask_for(name: str) -> str:
    return f"put a question to {name}"


@dataclass(frozen=True, slots=True)
class WakeUps:
    """`title` names the client. `rest` waits until the session has ended a turn that began after a mark. `body`: what
    wakes the session holds the request itself. `prompt`: types for its user, where the session asks only then."""

    title: str
    model: Endpoint
    shop: Project
    name: str = "builder"
    body: bool = False
    rest: Callable[[int], object] = lambda mark: None
    prompt: Callable[[str], None] = lambda text: None

    def round(self) -> set[str]:
        """One request and one reply; the facts of the request's trail."""
        # A peer of its own for each round: two agents that write to each other all the time are held back.
        lead = self.peer()
        with _listening(lead) as stream:
            sent = self.by_a_request(lead)
            assert stream.next("reply").message["reply"]["content"] == ANSWER
            self.prompt(ask_for(lead.name))
            question = stream.next("message").message["id"]
            lead.acknowledge(question)
            self.by_the_reply(lead, question)
        return facts(lead, sent)

    def peer(self) -> Agent:
        return self.shop.register(f"lead{next(_numbers)}")

    def by_a_request(self, lead: Agent) -> str:
        mark, sent_at = self.model.mark, time.monotonic()
        sent = str(lead.send(self.name, REQUEST)["id"])
        woken = self.model.asked(lambda one: sent in one.asked, after=mark)
        if self.body:
            assert "│ " + REQUEST in woken.conversation.asked, "inside the frame"
        else:
            assert REQUEST not in woken.conversation.asked, "a line holds no body"
        latency.took(f"{self.title}, request sent to start of turn", woken.at - sent_at)
        self.rest(mark)
        return sent

    def by_the_reply(self, lead: Agent, question: str) -> None:
        mark, sent_at = self.model.mark, time.monotonic()
        lead.reply(question, REPLY)
        woken = self.model.asked(lambda one: question in one.asked, after=mark)
        latency.took(f"{self.title}, reply sent to start of turn", woken.at - sent_at)
        assert REPLY not in woken.conversation.asked
        read = self.model.asked(lambda one: question in one.asked and REPLY in one.result, after=mark)
        assert "│ " + REPLY in read.conversation.result, "inside the frame"
        self.rest(mark)


def side_by_side(sessions: Sequence[WakeUps], rounds: int) -> list[set[str]]:
    """So many rounds in all, each session taking the next one when it has done one; the facts of each."""
    left, done, failed = iter(range(rounds)), list[set[str]](), list[BaseException]()
    lock = threading.Lock()

    def work(session: WakeUps) -> None:
        while not failed:
            with lock:
                if next(left, None) is None:
                    return
            try:
                done.append(session.round())
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return done


def _listening(lead: Agent) -> Stream:
    """Its stream. Beside other sessions somebody's presence may come before the `ready`."""
    stream = lead.project.hub.stream(f"/v1/events?agentId={lead.id}", lead.headers)
    stream.next("ready")
    return stream


def facts(lead: Agent, message_id: str) -> set[str]:
    """What the message's trail says happened."""
    return {fact["fact"] for fact in lead.call("GET", f"/v1/messages/{message_id}/trail").json["facts"]}
