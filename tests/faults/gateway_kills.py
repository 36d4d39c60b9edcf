"""The gateway's kill campaign (R21, R29): it dies by SIGKILL after every step of its journal, again and again.

Round a real gateway stand a hub with two sessions, a session that only has files, and bob's machine, which answers.
All of them act between two lives; whatever they saw is kept here and compared with what invariants G1 to G6 promise.
"""

import json
import os
import random
import subprocess
import sys
from base64 import b32encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import apsw

from peerline.client.hub import Hub
from peerline.client.records import Message
from peerline.core.fence import unrender
from peerline.core.post import Post
from peerline.gateway import status as gateway_status
from peerline.gateway.journal import Journal
from peerline.gateway.place import GatewayPlace
from peerline.gateway.reply_file import ReplyBox
from peerline.gateway.request_file import Request, queue_request
from peerline.network.direct import DirectCalls
from peerline.network.engine import Engine
from peerline.network.home import Home
from peerline.network.inbox import InboxQuery
from tests.hub_process import PATIENCE_S, HubProcess
from tests.network.nodes import Node, founded, node, now, written
from tests.network.nodes import environment as git_environment
from tests.network.remotes import BareRemote

ANSWERING: Final = ("answering", "answered", "answer refused", "answer told")
OUT: Final = ("claimed", "sending", "sent", "told", "refused")
IN: Final = ("arrived", "routed", "pushing", "pushed", "filed", "confirmed", "drained")
STOPPED: Final = ("held", "waits-for-person", "gone")
CALL: Final = "call"  # not after a step: before a rename, a removal or a child process
POINTS: Final = (*OUT, *IN, *STOPPED, *ANSWERING)
LATE: Final = "expired"
UNMET: Final = "over"  # a message on the hub that ended unanswered: its own clock would have to pass
DAYS_MS: Final = 3 * 86_400_000
FOOTER: Final = "— relayed for local session {} by the komnet gateway"
KEY: Final = "458696773"
FOR_A_PERSON: Final = "may we refund?"
TO_SETTLE: Final = 60
Way = Literal["file", "pushed", "hub"]
WAYS: Final[tuple[Way, ...]] = ("file", "pushed", "hub")
REACHED_BY: Final[dict[str, tuple[Way, ...]]] = {"filed": ("file",), "pushing": WAYS[1:], "pushed": WAYS[1:]}


@dataclass(slots=True, kw_only=True)
class Question:
    """`handle`: the stem of its request file, or the hub's message."""

    text: str
    way: Way
    handle: str
    post: str | None = None  # as bob got it
    answer: str | None = None  # bob's post
    secret: str | None = None

    @property
    def session(self) -> str:
        return {"file": "apart", "pushed": "served", "hub": "asker"}[self.way]


@dataclass(slots=True, kw_only=True)
class Errand:
    """Bob's question in the room that a session serves; `secret`: its first reply may not go out."""

    number: int
    secret: str | None
    answers: int = 0

    @property
    def text(self) -> str:
        return f"which branch has errand {self.number}?"

    @property
    def reply(self) -> str:
        return f"errand {self.number} is on main"


@dataclass(slots=True)
class GatewayCampaign:
    folder: Path
    chance: random.Random
    hub: HubProcess
    defect: str | None = None
    alice: Engine = field(init=False)
    network: str = field(init=False)
    bob: Node = field(init=False)
    place: GatewayPlace = field(init=False)
    asker: Hub = field(init=False)
    served: Hub = field(init=False)
    worker: Hub = field(init=False)
    kills: Counter[str] = field(default_factory=Counter, init=False)
    lives: int = field(default=0, init=False)
    questions: list[Question] = field(default_factory=list, init=False)
    posted: Counter[str] = field(default_factory=Counter, init=False)  # what bob got, by its whole text
    errands: dict[str, Errand] = field(default_factory=dict, init=False)  # by bob's post
    held: set[str] = field(default_factory=set, init=False)
    human: set[str] = field(default_factory=set, init=False)
    removed: set[str] = field(default_factory=set, init=False)
    read: set[str] = field(default_factory=set, init=False)  # what a reader really took
    unanswered: dict[str, str] = field(default_factory=dict, init=False)  # bob's item by its text
    on_hub: dict[str, str] = field(default_factory=dict, init=False)  # hub message to its text
    steps_seen: set[str] = field(default_factory=set, init=False)
    _launcher: subprocess.Popen[str] = field(init=False)
    _bob_seq: int = field(default=0, init=False)
    _steps: Path = field(init=False)
    remote: BareRemote = field(init=False)

    def begin(self) -> None:
        self.remote = founded(BareRemote(self.folder / "team.git"), "alice", "bob", rooms=("build", "desk"))
        home = self.folder / "alice"
        env = self.hub.environment | git_environment(home, "alice") | {"PYTHONPATH": str(Path(__file__).parents[2])}
        env |= {"KXM_SERVER_URL": self.hub.url, "KXM_STATE_HOME": str(home / "state")}
        env |= {"KXM_SOCKET_PATH": str(next((self.hub.home / "state").glob("hub-*.sock")))}
        komnet = (sys.executable, "-m", "peerline.cli.hot", "komnet")
        for words in (
            ("init", "--repo", self.remote.url, "--agent", "alice"),
            ("room", "join", "build"),
            ("room", "join", "desk"),
        ):
            subprocess.run([*komnet, *words], env=env, check=True, capture_output=True, timeout=PATIENCE_S)
        self.place = GatewayPlace(Home(home / ".komnet"))
        self.place.make()
        session = DirectCalls(Home(home / ".komnet"), now=now, entropy=os.urandom, environ=env).session(None)
        self.alice, self.network = session.engine, session.joined.id
        self.bob = node(self.folder, self.remote, "bob", "build", "desk")
        self.bob.sync()
        self.asker, self.served, self.worker = (
            Hub(self.hub.url, project="shop", name=name, token=self.hub.admin) for name in ("asker", "served", "worker")
        )
        for one in (self.asker, self.served, self.worker):
            one.start()
        self.journal(lambda tx: tx.subscriptions())  # the file is made here, and not by a life that is killed
        Journal(self.place.journal).write(lambda tx: tx.subscribe("worker", "desk", default=True))
        self._steps = self.folder / "steps"
        self._launcher = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.gateway_launcher", str(self._steps), str(self.folder / "said")],
            env=env,
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "errors").open("w"),
            text=True,
        )
        self.life()  # it comes to the hub's project, which takes addresses in rooms from now on

    def close(self) -> None:
        if hasattr(self, "_launcher"):
            assert self._launcher.stdin is not None
            assert self._launcher.stdout is not None
            self._launcher.stdin.close()
            self._launcher.wait(PATIENCE_S)
            self._launcher.stdout.close()
            for one in (self.asker, self.served, self.worker):
                one.stop()

    def round(self, *points: str) -> None:
        """Everybody acts, and a life ends at the first of `points` that it comes to."""
        point = self.chance.choice(points)
        self._inject(point)
        if point not in OUT and self.chance.random() < 0.6:
            self._far_side()
        if self.chance.random() < 0.6:
            self._read()
        hit = self.chance.randint(1, 40) if points == (CALL,) else self.chance.choice((1, 1, 2))
        self.life(*points, hit=hit)
        self.judge()

    def until(self, times: int, points: Sequence[str] = (*POINTS, CALL)) -> None:
        """Rounds until each point was met `times` times."""
        for _ in range(times * len(points) * 10):
            missing = [point for point in points if self.kills[point] < times]
            if not missing:
                return
            some = [point for point in missing if point != CALL and self.chance.random() < 0.5]
            self.round(*(some or [self.chance.choice(missing)]))
        raise AssertionError(f"not met often enough: {self.kills}")

    def end(self) -> None:
        """Unharmed lives until nothing moves any more; everything is where it belongs then."""
        for _ in range(TO_SETTLE):
            self._far_side(all_of_it=True)
            self._read(all_of_it=True)
            self.life()
            self.judge()
            self._far_side(all_of_it=True)  # bob sees the last answers
            if not self._moving():
                break
        self._judge_the_end()

    def expire(self, times: int) -> None:
        """Questions that nobody answers, and a clock that is days ahead."""
        waiting = [self._ask(self.chance.choice(WAYS)) for _ in range(times)]
        for _ in range(TO_SETTLE):
            self.life()
            if all(self._result(one)["state"] == "sent" for one in waiting if one.way != "hub"):
                break
        for _ in range(times):
            self.life(LATE, later_ms=DAYS_MS)
            self._judge_routes()
        self.life(later_ms=DAYS_MS)
        over = {row.summary for row in self.journal(lambda tx: tx.requests("expired"))}
        assert {one.text for one in waiting} <= over
        assert json.loads(self.place.routes.read_text())["pending"] == []
        self.questions = [one for one in self.questions if one not in waiting]

    def figures(self) -> str:
        kinds = ", ".join(f"{n} {point}" for point, n in sorted(self.kills.items()))
        asked = Counter("refused" if one.secret else one.way for one in self.questions)
        return (
            f"{sum(self.kills.values())} kills ({kinds}) in {self.lives} lives; {dict(asked)} requests, "
            f"{len(self.errands)} errands answered, {len(self.held)} held, {len(self.human)} for a person, "
            f"{len(self.removed)} taken away meanwhile; 0 sent twice, 0 lost, 0 delivered twice"
        )

    # The life of a gateway

    def life(self, *kill_at: str, hit: int = 1, later_ms: int = 0) -> None:
        order = {"kill_at": kill_at, "hit": hit, "later_ms": later_ms, "defect": self.defect}
        assert self._launcher.stdin is not None
        assert self._launcher.stdout is not None
        self._launcher.stdin.write(json.dumps(order) + "\n")
        self._launcher.stdin.flush()
        code = self._launcher.stdout.readline().strip()
        self.lives += 1
        assert code == "-9", f"the gateway ended by itself ({code}): {(self.folder / 'errors').read_text()[-4000:]}"
        steps = self._steps.read_text().splitlines()
        if steps and steps[-1].startswith("killed "):
            self.kills[steps.pop().removeprefix("killed ")] += 1
        self.steps_seen |= set(steps)
        assert not [step for step in steps if step.startswith("started ")], f"a child that is not git: {steps}"

    # What happens round it

    def _inject(self, point: str) -> None:
        """A question, of a kind that leads to `point`, and what else it takes to get there."""
        self._ask(self.chance.choice(REACHED_BY.get(point, WAYS)))
        if point == "refused":
            self._ask(self.chance.choice(("file", "hub")), secret=True)
        if point == "held" or (point == "gone" and not self._removable()):
            self.held.add(self._posted("for whom?"))
        if point in ANSWERING:
            self._errand(secret=point in ANSWERING[2:])
        if point == "waits-for-person":
            threads = [one.post for one in self.questions if one.post]  # also one in which a session waits
            self.human.add(self._posted(FOR_A_PERSON, needs="human", thread=threads[-1] if threads else None))
        if point == "gone":
            self.removed |= set(self._removable()[:1])
            self.alice.drain(self._removable_now())

    def _removable(self) -> list[str]:
        return [id for id in self._states("held") if id in self.held and id not in self.removed]

    def _removable_now(self) -> list[str]:
        waiting = self._inbox()
        return [id for id in self.removed if id in waiting]

    def _ask(self, way: Way, *, secret: bool = False) -> Question:
        number = len(self.questions)
        value = _secret(f"{number:010d}") if secret else None
        text = f"does {number} fail for you too?" if value is None else f"is {value} still in use?"
        if way == "hub":
            handle = self.asker.send("bob@build", text).id
        else:
            session = {"file": "apart", "pushed": "served"}[way]
            request = Request(session=session, reply_key=KEY, room="build", body=text, queued_at="", to="bob")
            handle = queue_request(self.place.requests, request, now=now(), entropy=os.urandom).removesuffix(".json")
        self.questions.append(Question(text=text, way=way, handle=handle, secret=value))
        return self.questions[-1]

    def _errand(self, *, secret: bool) -> None:
        number = len(self.errands)
        errand = Errand(number=number, secret=_secret(f"E{number:09d}") if secret else None)
        draft = written(errand.text, "alice", room="desk", kind="question", needs="agent")
        self.errands[self.bob.engine.send(draft).post.id] = errand

    def _posted(self, body: str, *, needs: str = "agent", thread: str | None = None) -> str:
        return self.bob.send(body, "alice", needs=needs, **({"thread": thread} if thread else {})).post.id

    def _far_side(self, *, all_of_it: bool = False) -> None:
        self.bob.sync()
        for item in self.bob.engine.arrived_after(self._bob_seq):
            self._bob_seq = item.seq
            self.posted[item.post.body] += 1
            assert "relay" in item.post.tags, "G6: an outbound relay is tagged"
            if item.post.room == "desk":
                self._answered(item.post)
            else:
                self.unanswered[item.post.id] = item.post.body
        for id, body in list(self.unanswered.items()):
            question = next(one for one in self.questions if body.startswith(one.text))
            question.post = id
            if question.answer is None and (all_of_it or self.chance.random() < 0.8):
                draft = written(_words(question), "alice", kind="answer", in_reply_to=id, thread=id)
                question.answer = self.bob.engine.send(draft, push=False).post.id
                del self.unanswered[id]
        self.bob.engine.flush()

    def _answered(self, post: Post) -> None:
        errand = self.errands[post.in_reply_to or ""]
        errand.answers += 1
        assert errand.answers == 1, "answered twice"
        assert post.body == f"{errand.reply}\n\n{FOOTER.format('worker')}\n"

    def _read(self, *, all_of_it: bool = False) -> None:
        """Sessions take what came to them, mostly."""
        for waiting in self.box.waiting():
            if all_of_it or self.chance.random() < 0.8:
                self.box.mark_delivered(waiting.file)
                self.read.add(waiting.id)
        for message in self.served.inbox(peek=True):
            self.on_hub[message.id] = unrender(message.content)
            if all_of_it or self.chance.random() < 0.8:
                self.read.add(self._id_of(unrender(message.content)))
                if self.chance.random() < 0.5:
                    self.served.report(message.id, "in turn", adapter="test")
                else:
                    self.served.reply(message.id, "thanks")
        for message in self.worker.inbox(peek=True):
            if all_of_it or self.chance.random() < 0.8:
                self._work(message)
        for message in self.asker.inbox(peek=True):
            self.on_hub[message.id] = unrender(message.content)
        for question in self.questions:
            if (
                question.way == "hub"
                and question.handle not in self.on_hub
                and (all_of_it or self.chance.random() < 0.5)
            ):
                self._read_reply(question)

    def _work(self, message: Message) -> None:
        """The serving session replies: with the answer, or first with a secret in it."""
        errand = self.errands[message.correlation_id or ""]
        refused = "did not send your answer" in message.content
        if not refused:
            self.on_hub[message.id] = unrender(message.content)
        secret = errand.secret if not refused else None
        assert not (refused and errand.secret and errand.secret in message.content), "the value came back"
        self.read.add(message.correlation_id or "")
        self.worker.reply(message.id, f"the key is {secret}" if secret else errand.reply)

    def _read_reply(self, question: Question) -> None:
        reply = self.asker.get(question.handle).reply
        if reply is not None:
            text = f"{question.handle}: {reply.content}" if question.secret else unrender(reply.content)
            self.on_hub[question.handle] = text
            self.read.add(question.answer or "")

    def _id_of(self, text: str) -> str:
        return next((one.answer or "" for one in self.questions if _words(one) == text), "")

    # What must hold

    @property
    def box(self) -> ReplyBox:
        return ReplyBox(self.place.replies, KEY)

    def journal(self, work: Any) -> Any:
        journal = Journal(self.place.journal)
        try:
            return journal.read(work)
        finally:
            journal.close()

    def _states(self, *states: str) -> list[str]:
        return [row.id for row in self.journal(lambda tx: tx.items(*states))]

    def _inbox(self) -> set[str]:
        return {item.post.id for item in self.alice.inbox(InboxQuery(), showing=False).items}

    def judge(self) -> None:
        """What holds after every life, however it ended."""
        self._judge_routes()
        assert [text for text, times in self.posted.items() if times > 1] == [], "sent twice"
        waiting = self._inbox()
        sent = {*(one.answer for one in self.questions if one.answer), *self.errands}
        arrived = {id for id in sent if self.alice.find(id)}
        gone = arrived - waiting
        assert gone <= self.read, f"G2: drained and not delivered: {gone - self.read}"
        for stopped in (self.human, self.held - self.removed):
            lost = {id for id in stopped if self.alice.find(id)} - waiting
            assert not lost, f"G1, G5: drained by software: {lost}"
        filed = Counter(file.name.split("--")[0] for file in self.place.replies.rglob("*.md"))
        assert [id for id, times in filed.items() if times > 1] == [], "filed twice"
        delivered = Counter(self.on_hub.values())
        assert [text for text, times in delivered.items() if times > 1] == [], "pushed twice"
        assert not set(filed) & (self.human | self.held), "G1, G5: what is nobody's was filed"
        assert FOR_A_PERSON not in delivered, "G1: pushed to a session"

    def _judge_routes(self) -> None:
        if self.place.routes.exists():
            routes = json.loads(self.place.routes.read_text())
            assert set(routes) == {"version", "subscriptions", "pending"}
            threads = [one["thread"] for one in routes["pending"]]
            assert all(self.journal(lambda tx: [tx.request_of(thread) for thread in threads]))

    def _moving(self) -> bool:
        open_items = self.journal(lambda tx: tx.items())
        requests = self.journal(lambda tx: tx.requests("claimed", "sending", "sent") + tx.untold())
        waiting = self.journal(
            lambda tx: tx.answers(self.network, "waiting", "sending", "correcting") + tx.untold_refusals(self.network)
        )
        stopped = ("held", "waits-for-person")
        files = [*self.place.requests.iterdir(), *self.box.waiting()]
        unanswered = [errand for errand in self.errands.values() if not errand.answers]
        at_work = [row for row in open_items if row.state not in stopped]
        return bool(at_work or requests or waiting or files or unanswered)

    def _judge_the_end(self) -> None:
        assert not self._moving(), self.journal(lambda tx: (tx.items(), tx.requests()))
        filed = Counter(file.name.split("--")[0] for file in self.place.replies.rglob("*.md"))
        for one in self.questions:
            body = f"{one.text}\n\n{FOOTER.format(one.session)}\n"
            if one.secret:
                self._judge_refused(one)
                continue
            assert self.posted[body] == 1, f"{one}: posted {self.posted[body]} times"
            on_hub = [id for id, text in self.on_hub.items() if text == _words(one)]
            ways = filed[one.answer or ""], len(on_hub)
            assert ways == ((1, 0) if one.way == "file" else (0, 1)), f"G4: {one}: files and pushes {ways}"
            if one.way == "hub":
                assert on_hub == [one.handle], "the answer is the reply of the very message that asked"
            else:
                assert self._result(one)["state"] == "answered"
        assert {errand.answers for errand in self.errands.values()} <= {1}, "an errand without its answer"
        asked = sum(one.secret is None for one in self.questions)
        assert sum(self.posted.values()) == asked + len(self.errands)
        assert list(self.place.claimed.iterdir()) == [], "a request stays claimed"
        found = gateway_status.status(Journal(self.place.journal))
        assert {one["id"] for one in found["waitingForPerson"]} == self.human
        assert {one["id"] for one in found["held"]} == self.held - self.removed
        assert self._inbox() == self.human | (self.held - self.removed)
        assert self.remote.fsck() == ""
        with apsw.Connection(str(self.place.journal)) as connection:
            assert connection.pragma("integrity_check") == "ok"

    def _judge_refused(self, one: Question) -> None:
        assert one.secret is not None
        told = self.on_hub[one.handle] if one.way == "hub" else json.dumps(self._result(one))
        assert "SECRET_DETECTED" in told
        assert one.secret not in told

    def _result(self, one: Question) -> Any:
        return json.loads((self.place.results / f"{one.handle}.json").read_text())


def _secret(text: str) -> str:
    """A value of its own that looks like a key; `text` has ten characters."""
    return "AKIA" + b32encode(text.encode()).decode()


def _words(question: Question) -> str:
    return f"yes, as {question.handle} says"
