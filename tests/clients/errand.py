"""The same errand for every client: it looks who is there, asks, reads the answer, and answers what it is asked."""

from dataclasses import dataclass, field

from tests.clients.model.conversation import Now, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import Agent

PROMPT = "run the errand"
QUESTION, REPLY = "Which colour shall it be?", "Blue, says the lead."
REQUEST, ANSWER = "Is 7 prime? The body of a request.", "Yes, it is."


@dataclass
class Errand:
    """`lead` is the peer. It answers, and asks, between two steps of the client's model: nothing has to wait."""

    lead: Agent
    name: str
    sent: str = ""
    asked: str = field(default="", init=False)

    def script(self) -> Rules:
        steps = (
            call("kxm_list"),
            call("kxm_send", target=self.lead.name, content=QUESTION, idempotencyKey="errand"),
            call("kxm_get", messageId=self._answered),
            call("kxm_inbox"),
            call("kxm_reply", messageId=self._request, content=ANSWER),
            say("The errand is done."),
        )
        return Rules(Rule(PROMPT, steps))

    def _answered(self, now: Now) -> str:
        self.sent = "msg_" + now.result.partition("msg_")[2][:32]
        self.lead.reply(self.sent, REPLY)
        self.asked = self.lead.send(self.name, REQUEST)["id"]
        return self.sent

    def _request(self, now: Now) -> str:
        return self.asked

    def check(self, model: Endpoint) -> None:
        """What the hub has, and what the model was shown."""
        assert model.faults == []
        results = [one.conversation.result for one in model.requests]
        assert self.lead.name in results[1]
        assert f"│ {REPLY}" in results[3], "the reply, inside the frame"
        assert f"│ {REQUEST}" in results[4], "the request, inside the frame"
        question, request = self.lead.get(self.sent), self.lead.get(self.asked)
        assert (question["content"], question["fromName"]) == (QUESTION, self.name)
        assert (request["status"], request["reply"]["content"]) == ("replied", ANSWER)
        assert len({tool for tool in model.requests[0].conversation.tools if "kxm_" in tool}) == 10
