"""Where a worker stands: its hub, its identity and its files, by the command line's way of finding them."""

from pathlib import Path
from typing import Any

from peerline.cli.hot_identity import Caller, branch_here, read_object
from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import key_path, private_write
from peerline.client.refusals import Unreachable
from peerline.core.errors import Invalid, PeerlineError
from peerline.mcp_stdio.identity import Identity
from peerline.mcp_stdio.place import NoToken
from peerline.mcp_stdio.place import Place as SessionPlace
from peerline.worker.files import Files, worker_key
from peerline.worker.place import Place
from peerline.worker.plan import Plan


class Stand:
    """What may change meanwhile (tokens, sockets) is looked up when asked for.

    Raises:
        Failure: the hub's URL or the state folder cannot be used.
    """

    def __init__(self, plan: Plan, env: dict[str, str], server: str | None) -> None:
        self._plan, self._env = plan, env
        self._common = {"--server": server, "--project": plan.project, "--as": plan.name}
        self._caller = Caller(env, self._common)
        self.url = self._caller.address.url

    def files(self) -> Files:
        root = Path(self._caller.root)
        key = worker_key(self._plan.project, self._plan.name)
        return Files(root=root, key=key, write=private_write, read=read_object)

    def place(self) -> Place:
        plan = self._plan
        purpose = self._env.get("KXM_AGENT_PURPOSE", "").strip() or f"supervised {plan.harness} in {plan.folder.name}"
        branch = branch_here({**self._env, "KXM_WORKDIR": str(plan.folder)})
        return Place(
            url=self.url,
            project=plan.project,
            name=plan.name,
            purpose=purpose[:256],
            branch=branch,
            identity=Identity(self._session_place(purpose, branch), plan.name),
            addresses=self._addresses,
            token=lambda: _asked(self._fresh().token),
            renewed_token=self._renewed_token,
        )

    def _session_place(self, purpose: str, branch: str | None) -> SessionPlace:
        """The part of a session's place by which a name is held."""
        return SessionPlace(
            url=self.url,
            project=self._plan.project,
            name=self._plan.name,
            purpose=purpose,
            branch=branch,
            session_id=None,
            headless=True,
            addresses=self._addresses,
            token=lambda: _asked(self._fresh().token),
            renewed_token=self._renewed_token,
            key_file=lambda name: key_path(self._env, self.url, self._plan.project, name),
            record_file=lambda _: None,
            watched=lambda _: False,
            claim_name=lambda path: path,
            write=private_write,
            read=read_object,
        )

    def _fresh(self) -> Caller:
        return Caller(self._env, self._common)

    def _addresses(self) -> list[str]:
        address = self._fresh().address
        return [*([f"unix:{address.unix}"] if address.unix else []), address.url]

    def _renewed_token(self) -> str:
        """Only a token that was minted here can be minted anew; another one is its user's to put right."""
        caller = self._fresh()
        token = _asked(caller.token)
        return _asked(caller.mint) if caller.token_is_local else token


def _asked(token: Any) -> str:
    """A token by the command line's way of finding one; a failure is the hub's or the user's to put right."""
    try:
        found: str = token()
    except Failure as failure:
        kind: type[PeerlineError] = Invalid
        if failure.error == "project_token_missing":
            kind = NoToken
        elif failure.more.get("code") == "hub_unreachable":
            kind = Unreachable
        raise kind(failure.detail) from None
    return found
