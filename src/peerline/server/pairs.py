"""Routes of pairs of agents: what is held between two, and letting it go on (decision 21)."""

from typing import Any

from peerline.core import limits
from peerline.core.brake import release
from peerline.hub.pairs import HeldPair, Pairs
from peerline.server.exchange import Answer
from peerline.server.refusals import json_answer
from peerline.server.routes import Call, Proof, Route
from peerline.wire.fields import Field, Texts
from peerline.wire.instants import instant

AGENTS = Texts("agents", 2, 2, each=limits.TARGET, of="names or ids of agents")
CONTINUE: tuple[Field, ...] = (AGENTS,)


class PairRoutes:
    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    def routes(self) -> list[Route]:
        agent = Proof.AGENT
        return [
            Route("GET", "/v1/pairs", agent, self.list, None, "Pairs of agents of which something is held."),
            Route(
                "POST",
                "/v1/pairs/continue",
                agent,
                self.go_on,
                CONTINUE,
                "Let two agents go on; for a person.",
                strict=True,
            ),
        ]

    def list(self, call: Call) -> Answer:
        return self._pairs.held(call.by.agent.project).map(
            lambda found: json_answer({"pairs": [_record(each) | {"next": release(*each.agents)} for each in found]})
        )

    def go_on(self, call: Call) -> Answer:
        first, second = AGENTS.read(call.body) or ("", "")
        return self._pairs.go_on(call.by.agent, first, second).map(
            lambda done: json_answer({"agents": _record(done)["agents"], "released": done.waiting})
        )


def _record(held: HeldPair) -> dict[str, Any]:
    agents = [{"id": agent_id, "name": name} for agent_id, name in held.agents]
    return {"agents": agents, "held": held.waiting, "since": instant(held.since)}
