"""Two machines on one repository: alice's with a hub and its gateway, bob's with a gateway of its own."""

from dataclasses import dataclass
from typing import Any

from tests.gateway.hub import Line
from tests.gateway.stage import Hub as Sessions
from tests.gateway.stage import Stage
from tests.hub_process import Agent
from tests.network.remotes import BareRemote
from tests.truth.scene import Scene

MINUTE = 61_000


@dataclass
class FarScene:
    """`lead` asks; bob's sessions are `there_sessions`. Time passes by minutes, in one step."""

    scene: Scene
    line: Line
    here: Stage
    there: Stage
    there_sessions: Sessions
    remote: BareRemote
    lead: Agent
    other: Agent
    left: bool = False

    def now(self) -> int:
        return self.here.now()

    def leave(self) -> None:
        """Alice's gateway goes."""
        self.line.line.stop()
        self.left = True

    def sent(self, target: str = "bob@build", *, by: str = "lead", content: str = "why?", **fields: Any) -> str:
        asker = self.lead if by == "lead" else self.other
        return str(asker.send(target, content, **fields)["id"])

    def asked(self, target: str = "bob@build", **fields: Any) -> str:
        """Sent, and with the gateway."""
        request = self.sent(target, **fields)
        self.line.wait(lambda: any(one.hub_message == request for one in self.line.sessions.asked()))
        return request

    def stepped(self, request: str) -> str:
        for _ in range(2):
            self.here.relay().step()
        return request

    def cancel(self, request: str) -> None:
        assert self.lead.call("DELETE", f"/v1/messages/{request}").status == 200

    def expired(self, request: str) -> str:
        assert self.lead.wait(request, 60_000)["status"] == "expired"
        return self.stepped(request)

    def serves(self, session: str) -> None:
        self.there.relay()
        self.there.journal().write(lambda tx: tx.subscribe(session, "build", default=False))

    def there_and_back(self, request: str) -> str:
        """Both machines do what they can, a minute later."""
        self.here.relay().step()
        self.here.time += MINUTE
        self.there.time = self.here.time
        self.here.bob.sync()
        self.there.relay().step()
        self.there.relay().step()
        self.here.alice.sync()
        self.here.relay().step()
        return request
