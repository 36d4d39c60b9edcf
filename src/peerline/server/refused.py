"""Route of refused sends: why something that was sent is not even a message."""

from typing import Any

from peerline.hub.refused import Refused, RefusedSend
from peerline.server.exchange import Response
from peerline.server.refusals import json_answer
from peerline.server.routes import Call, Proof, Route
from peerline.wire.instants import instant


class RefusedRoutes:
    def __init__(self, refused: Refused) -> None:
        self._refused = refused

    def routes(self) -> list[Route]:
        about = "Sends of the caller that were refused in the last hour."
        return [Route("GET", "/v1/refused", Proof.AGENT, self.list, None, about)]

    def list(self, call: Call) -> Response:
        return json_answer({"refused": [_record(one) for one in self._refused.of(call.by.agent)]})


def _record(one: RefusedSend) -> dict[str, Any]:
    return {
        "at": instant(one.at),
        "target": one.target,
        "code": one.code,
        "why": one.why,
        "next": one.next,
        "times": one.times,
    }
