"""Routes of agents (spec/hub.md 3.7)."""

from peerline.core.access import GATEWAY_SCOPE
from peerline.core.agent import GATEWAY
from peerline.core.errors import GatewayOnly, InvalidAgentIdentity, LocalOnly
from peerline.database.later import Later
from peerline.hub.agents import Agents, Registered, Registration
from peerline.hub.messages import Messages
from peerline.hub.projects import Projects
from peerline.server.auth import Auth
from peerline.server.exchange import Answer, Response
from peerline.server.query import members, truth
from peerline.server.refusals import json_answer, raw_answer
from peerline.server.routes import Call, Proof, Route
from peerline.wire.agents import LOCAL_TOKEN, REGISTER
from peerline.wire.directory import DIRECTORY, directory
from peerline.wire.fields import read
from peerline.wire.messages import LINES


class AgentRoutes:
    def __init__(self, agents: Agents, messages: Messages, projects: Projects, auth: Auth, uid: int) -> None:
        """`uid` is the hub's own user: only that one may mint local tokens."""
        self._agents, self._messages, self._projects, self._auth, self._uid = agents, messages, projects, auth, uid

    def routes(self) -> list[Route]:
        return [
            Route(
                "POST",
                "/v1/agents/register",
                Proof.SELF,
                self.register,
                REGISTER,
                "Open a session for a name.",
                answers=(200, 201),
            ),
            Route(
                "GET",
                "/v1/agents",
                Proof.AGENT,
                self.list,
                None,
                "Agents of the project.",
                query=("includeOffline", "includeRemote"),
            ),
            Route(
                "POST",
                "/v1/agents/remote",
                Proof.AGENT,
                self.publish,
                DIRECTORY,
                "Who can be reached in rooms, as the gateway knows it.",
                strict=True,
            ),
            Route("POST", "/v1/agents/{id}/heartbeat", Proof.AGENT, self.heartbeat, (), "Renew the session's lease."),
            Route(
                "GET",
                "/v1/agents/{id}/inbox",
                Proof.AGENT,
                self.inbox,
                None,
                "The caller's open requests, in order.",
                query=("peek",),
            ),
            Route("DELETE", "/v1/agents/{id}", Proof.AGENT, self.unregister, None, "End the session.", answers=(204,)),
            Route(
                "POST",
                "/v1/local/token",
                Proof.SELF,
                self.mint,
                LOCAL_TOKEN,
                "Mint a project token for this machine's user.",
                strict=True,
                answers=(201,),
            ),
            Route(
                "GET",
                "/v1/local/projects",
                Proof.SELF,
                self.projects,
                None,
                "The hub's projects, for this machine's user.",
            ),
        ]

    def register(self, call: Call) -> Answer:
        asked = Registration(**read(REGISTER, call.body))
        gateway = asked.name == GATEWAY and self._auth.is_gateway(call.request, asked.project)
        if not gateway:
            self._auth.project(call.request, asked.project)
        return self._agents.register(asked, gateway=gateway).map(self._registered)

    def _registered(self, done: Registered) -> Response:
        answer = {"agent": self._agents.record(done.agent.id), "agentKey": done.key, "resumed": done.resumed}
        if done.lookalike is not None:
            answer["warning"] = f"the name looks like that of another online agent: {done.lookalike}"
        return json_answer(answer, 200 if done.resumed else 201)

    def list(self, call: Call) -> Answer:
        query, project = members(call.request), call.by.agent.project
        found = self._agents.listed(project, truth(query.get("includeOffline")))
        if truth(query.get("includeRemote")):
            found += self._agents.remote(project)
        return json_answer({"agents": found})

    def publish(self, call: Call) -> Answer:
        if not call.by.agent.gateway:
            raise GatewayOnly("only the project's gateway tells who is in the rooms", nextAction="nothing")
        known = directory(call.body)
        self._agents.directory.put(call.by.agent.project, known)
        return json_answer({"published": len(known)})

    def heartbeat(self, call: Call) -> Answer:
        self._own(call)
        return json_answer({"agent": self._agents.record(call.by.agent.id)})

    def inbox(self, call: Call) -> Answer:
        self._own(call)
        peek = truth(members(call.request).get("peek"))
        return self._messages.inbox(call.by.agent, peek=peek).map(
            lambda found: raw_answer(b'{"messages":[', b",".join(map(LINES.line, found)), b"]}")
        )

    def unregister(self, call: Call) -> Later[Response]:
        self._own(call)
        return self._agents.unregister(call.by.agent, call.by.key).map(lambda _: Response(status=204))

    def _own(self, call: Call) -> None:
        """The path's id must be the caller's. Raises: InvalidAgentIdentity."""
        if call.parameters["id"] != call.by.agent.id:
            raise InvalidAgentIdentity("invalid agent identity", nextAction="reconnect_with_current_agent_key")

    def mint(self, call: Call) -> Answer:
        self._own_user(call, "only the hub's own user may mint tokens, over its Unix socket")
        asked = read(LOCAL_TOKEN, call.body)
        project = asked["project"]
        mint = self._projects.mint_gateway if asked["scope"] == GATEWAY_SCOPE else self._projects.mint_local
        return mint(project).map(
            lambda made: json_answer({"project": project, "token": made.secret, "id": made.token.id}, 201)
        )

    def projects(self, call: Call) -> Answer:
        self._own_user(call, "only the hub's own user may list all projects, over its Unix socket")
        return json_answer({"projects": self._agents.projects()})

    def _own_user(self, call: Call, why: str) -> None:
        """Raises: LocalOnly."""
        peer = call.request.peer
        if not peer.unix or peer.uid != self._uid:
            raise LocalOnly(why, nextAction="export_kxm_auth_token")
