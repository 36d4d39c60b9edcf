"""Routes of project tokens: for the administrator; a secret is in the answer that creates it and nowhere else."""

from collections.abc import Callable
from typing import Any

from peerline.core.ids import Millis
from peerline.hub.projects import Created, Projects
from peerline.server.exchange import Answer, Response
from peerline.server.refusals import json_answer
from peerline.server.routes import Call, Proof, Route
from peerline.wire.projects import CREATE, GRACE, LABEL, PROJECT, ROTATE, TTL, record

TOKENS = "/v1/projects/{project}/tokens"


class ProjectRoutes:
    def __init__(self, projects: Projects, now: Callable[[], Millis]) -> None:
        self._projects, self._now = projects, now

    def routes(self) -> list[Route]:
        admin, one = Proof.ADMIN, TOKENS + "/{id}"
        return [
            Route("GET", TOKENS, admin, self.list, None, "The project's tokens, without their secrets."),
            Route("POST", TOKENS, admin, self.create, CREATE, "A further token.", strict=True, answers=(201,)),
            Route(
                "POST",
                one + "/rotate",
                admin,
                self.rotate,
                ROTATE,
                "A new token; the old one goes on for a while.",
                strict=True,
                answers=(201,),
            ),
            Route("DELETE", one, admin, self.revoke, None, "End a token, and the streams that it opened."),
        ]

    def list(self, call: Call) -> Answer:
        project = _project(call)
        now = self._now()
        tokens = [record(token, now) for token in self._projects.tokens(project)]
        return json_answer({"tokens": tokens, "configured": self._projects.configured(project), **self._door(project)})

    def create(self, call: Call) -> Answer:
        project, label, ttl_ms = _project(call), LABEL.read(call.body), TTL.read(call.body)
        return self._projects.create(project, label, ttl_ms=ttl_ms).map(self._created)

    def rotate(self, call: Call) -> Answer:
        project, grace_ms = _project(call), GRACE.read(call.body)
        return self._projects.rotate(project, call.parameters["id"], grace_ms).map(self._created)

    def revoke(self, call: Call) -> Answer:
        project = _project(call)
        return self._projects.revoke(project, call.parameters["id"]).map(
            lambda token: json_answer({"token": record(token, self._now()), **self._door(project)})
        )

    def _created(self, made: Created) -> Response:
        now = self._now()
        answer: dict[str, Any] = {"token": record(made.token, now), "secret": made.secret}
        if made.replaced is not None:
            answer["replaced"] = record(made.replaced, now)
        return json_answer({**answer, "closedToAdminNow": made.closed, **self._door(made.token.project)}, 201)

    def _door(self, project: str) -> dict[str, bool]:
        """Whether the admin token opens the project as well."""
        return {"adminTokenAccepted": self._projects.open_to_admin(project)}


def _project(call: Call) -> str:
    project = PROJECT.read(call.parameters)
    assert project is not None
    return project
