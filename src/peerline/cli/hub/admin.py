"""Asking a hub as its administrator, for one command."""

from typing import Any, Final

from peerline.cli.hot_address import Address
from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import Caller, read_object, unreachable
from peerline.cli.hot_output import Failure, usage
from peerline.cli.options import Asked, refused

NAME: Final = "hub-env.json"


class Administrator:
    """The hub that this machine's commands talk to, and the token for it: KXM_AUTH_TOKEN, else the saved one.

    The saved one belongs to the hub of this machine and goes to no other.
    """

    def __init__(self, asked: Asked, server: str | None, project: str | None = None) -> None:
        """Raises Failure: the address, the project or the token is unusable."""
        self._caller = Caller(asked.env, {"--server": server, "--project": project})
        self.project = self._caller.project
        self._given = asked.env.get("KXM_AUTH_TOKEN", "").strip()

    @property
    def address(self) -> Address:
        return self._caller.address

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The hub's answer.

        Raises:
            Failure: no token (exit 2), no hub, or a refusal of the hub.
        """
        hub = Connection(self.address, {"Authorization": f"Bearer {self._token()}"})
        try:
            answer = hub.request(method, path, body)
        except Unreachable as why:
            raise unreachable(self.address, why) from None
        except ConnectionLost as why:
            raise refused("hub_unreachable", f"{why}; whether it was done is not known: list the tokens") from None
        except ValueError as why:
            raise refused("hub_unreachable", str(why)) from None
        finally:
            hub.close()
        if answer.status < 400:
            return answer.body
        more = {name: answer.body.get(name) for name in ("code", "requestId", "nextAction")}
        if more["code"] == "invalid_auth":
            raise Failure(self._rejected(), more={**more, "nextAction": "use_the_admin_token"})
        text = answer.body.get("detail") or answer.body.get("error") or f"the hub answered HTTP {answer.status}"
        raise Failure(str(text), more=more)

    def _token(self) -> str:
        if self._given:
            if not all("!" <= c <= "~" for c in self._given):
                raise usage("KXM_AUTH_TOKEN holds a space, a line break or a character that is not ASCII")
            return self._given
        saved = read_object(f"{self._caller.root}/{NAME}").get("authToken") if self.address.loopback else None
        if isinstance(saved, str) and saved:
            return saved
        where = "no hub has run here yet: kxm hub start" if self.address.loopback else "set KXM_AUTH_TOKEN to it"
        raise refused(
            "admin_token_missing",
            f"this needs the admin token of {self.address.url}; {where}",
            exit_code=2,
            nextAction="export_kxm_auth_token",
        )

    def _rejected(self) -> str:
        if self._given:
            saved = "; unset it to use the one saved on this machine" if self.address.loopback else ""
            return f"the hub at {self.address.url} does not take KXM_AUTH_TOKEN as its admin token{saved}"
        return f"the hub at {self.address.url} has another admin token than {self._caller.root}/{NAME} says"
