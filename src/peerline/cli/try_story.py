"""The steps of the demo: what each agent does, and what must come back for the story to be true."""

from collections.abc import Callable
from typing import Any, Final

from peerline.cli.try_stage import Broken, Stage, Staying

REQUEST: Final = "Review the plan for the discount rules. List blocking issues first."
ANSWER: Final = "Three steps. The risk is rounding."


class Story:
    """The steps share the agents that stay online and the first request."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._tell = stage.tell.result
        self._reviewer: Staying
        self._tester: Staying
        self._first = ""

    def a_hub_starts(self) -> None:
        stage = self._stage
        stage.tell.line("you", "$ kxm hub start")
        stage.start_hub()
        stage.tell.line("hub", f"listens at {stage.url}, keeps all in one SQLite file")
        self._reviewer, self._tester = stage.stay("reviewer"), stage.stay("tester")
        agents = stage.kxm("lead", "list")["agents"]
        online = sorted(agent["name"] for agent in agents if agent["presence"] == "online")
        _expect("who is online", online, ["lead", "reviewer", "tester"])
        self._tell(f"online: {', '.join(online)}; nobody typed a token")

    def one_asks_another_answers(self) -> None:
        stage = self._stage
        asked = ("reviewer", REQUEST, "--idempotency-key", "plan-review-1")
        self._first = self._sent(*asked)["messageId"]
        _expect("what the reviewer took", self._reviewer.wait_for("took")["id"], self._first)
        got = stage.kxm("lead", "await", self._first)
        self._told_reply(got)
        again = stage.kxm("lead", "send", *asked)
        _expect("the id of an exact retry", again["messageId"], self._first)
        self._tell("an exact retry is the same message, not a second one")

    def three_ways_around(self) -> None:
        stage = self._stage
        _expect("the inbox of a new agent", stage.kxm("planner", "inbox")["messages"], [])
        self._tell("planner is known now; between its commands it is offline")
        refused = stage.refused("lead", "send", "planner", "Propose a plan.")
        _expect("the refusal", refused.startswith("online target not found: planner"), True)
        self._tell(f"refused: {refused}")
        sent = self._sent("planner", "Propose a plan.", "--allow-offline")
        waiting = stage.kxm("planner", "inbox")["messages"]
        _expect("what waits for planner", [message["id"] for message in waiting], [sent["messageId"]])
        self._tell(f"1 request waits, from {waiting[0]['fromName']}: {waiting[0]['content']}")
        replied = stage.kxm("planner", "reply", sent["messageId"], ANSWER)
        _expect("the state after the reply", replied["status"], "replied")
        second = stage.refused("planner", "reply", sent["messageId"], "On second thoughts, no.")
        _expect("the refusal of a second reply", second, "message already has a reply")
        self._tell(f"a second reply is refused: {second}")
        got = stage.kxm("lead", "get", sent["messageId"])
        _expect("the reply that lead reads", got["reply"]["content"], ANSWER)
        self._told_reply(got)

    def two_at_once(self) -> None:
        asked = ("fanout", "--targets", "reviewer", "tester", "--content", "Name one risk of PROD-123.")
        responses = self._stage.kxm("lead", *asked)["responses"]
        _expect("the states of the fan-out", [one["status"] for one in responses], ["replied", "replied"])
        for one in responses:
            self._tell(f"{one['target']}: {_text(one)}")

    def withdrawn_and_too_late(self) -> None:
        stage = self._stage
        sent = self._sent("planner", "Never mind me.", "--allow-offline")
        cancelled = stage.kxm("lead", "cancel", sent["messageId"])
        _expect("the state after the cancel", cancelled["status"], "cancelled")
        _expect("planner's inbox after the cancel", stage.kxm("planner", "inbox")["messages"], [])
        self._tell("cancelled; planner never sees it")
        sent = self._sent("planner", "Within a second, please.", "--allow-offline", "--ttl-ms", "1000")
        late = stage.kxm("lead", "await", sent["messageId"])
        _expect("the state after its time", late["status"], "expired")
        self._tell(f"expired: {late['error']}")

    def the_hub_dies(self) -> None:
        stage = self._stage
        kept = self._sent("planner", "Are you still there?", "--allow-offline")
        stage.tell.line("hub", "killed (kill -9)", style="1;31")
        stage.kill_hub()
        stage.start_hub()
        stage.tell.line("hub", "started again on the same file")
        waiting = stage.kxm("planner", "inbox")["messages"]
        _expect("what survived the kill", [message["id"] for message in waiting], [kept["messageId"]])
        self._tell("the request is still there")
        sent = self._sent("reviewer", "And you?")
        got = stage.kxm("lead", "await", sent["messageId"])
        self._told_reply(got)

    def the_truth_about_delivery(self) -> None:
        trail = self._stage.kxm("lead", "trace", self._first)
        facts = [fact["fact"] for fact in trail["facts"]]
        for wanted in ("stored", "acknowledged", "replied"):
            _expect(f"{wanted!r} among the facts", wanted in facts, True)
        for fact in trail["facts"]:
            detail = f" ({fact['detail']})" if fact.get("detail") else ""
            self._stage.tell.line("", f"{fact['at'][11:23]}  {fact['fact']:<15} {fact['observer']}{detail}")
        self._tell(f"{trail['standing']}")

    def the_end(self) -> None:
        stage = self._stage
        stage.all_leave()
        stage.tell.line("you", "$ kxm hub stop")
        _expect("the exit code of the hub", stage.stop_hub(), 0)
        self._tell("the hub has ended in order")

    def _sent(self, *words: str) -> dict[str, Any]:
        sent = self._stage.kxm("lead", "send", *words)
        _expect("the state after the send", sent["status"], "queued")
        self._tell(f"{sent['messageId']} is on the disk, {sent['status']}")
        return sent

    def _told_reply(self, message: dict[str, Any]) -> None:
        _expect("the state", message["status"], "replied")
        self._tell(f"{message['toName']} says: {_text(message)}")


STEPS: Final[tuple[tuple[str, Callable[[Story], None]], ...]] = (
    ("A hub, and two agents that stay online", Story.a_hub_starts),
    ("One asks, another answers", Story.one_asks_another_answers),
    ("A peer that is offline", Story.three_ways_around),
    ("Two at once", Story.two_at_once),
    ("Withdrawn, and too late", Story.withdrawn_and_too_late),
    ("The hub is killed", Story.the_hub_dies),
    ("What was observed of the first request", Story.the_truth_about_delivery),
    ("The end", Story.the_end),
)


def _text(answered: dict[str, Any]) -> str:
    return str(answered["reply"]["content"])


def _expect(what: str, came: object, wanted: object) -> None:
    if came != wanted:
        raise Broken(f"{what}: expected {wanted!r}, got {came!r}")
