"""Who a person is on the hub: KXM_AGENT_NAME, else the login name."""

import getpass
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from peerline.cli.hot_address import escaped
from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_session import Session
from peerline.cli.person_voice import Voice
from peerline.core.agent import PERSON_PURPOSE
from peerline.core.limits import NAME
from peerline.core.text import bad_name_character, lower

RESERVED: Final = ("komnet-gateway", "human", "system", "admin")
FRAGMENT: Final = 4

Message = dict[str, Any]


@dataclass(slots=True)
class Person:
    """The command line's common part; `caller` and `session` are made when a verb needs the hub."""

    env: dict[str, str]
    common: dict[str, Any]
    voice: Voice
    by_login: bool = field(default=False)

    def caller(self) -> Caller:
        env = dict(self.env)
        if not env.get("KXM_AGENT_NAME", "").strip() and not self.common.get("--as"):
            env["KXM_AGENT_NAME"] = login()
            self.by_login = True
        env.setdefault("KXM_AGENT_PURPOSE", PERSON_PURPOSE)
        return Caller(env, self.common)

    def session(self) -> Session:
        return Session(self.caller())


def login() -> str:
    """The login name as an agent's name."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise usage("this user has no login name; set KXM_AGENT_NAME") from None
    name = "".join("-" if bad_name_character(c) else c for c in name)[:NAME].strip()
    return f"{name}-person" if lower(name) in RESERVED or not name else name


def inbox(session: Session) -> list[Message]:
    """Requests that need this person's reply, read: their trails will say so."""
    return _messages(session.call("GET", f"/v1/agents/{escaped(session.agent_id or '')}/inbox"))


def waiting(session: Session) -> list[Message]:
    """The same where only ids, names or a few words are shown: nobody has read them then."""
    return _messages(session.call("GET", f"/v1/agents/{escaped(session.agent_id or '')}/inbox?peek=1"))


def sent(session: Session, state: str, limit: int = 100) -> list[Message]:
    """What this person asked, newest first."""
    return _messages(session.call("GET", f"/v1/messages?state={state}&limit={limit}"))


def named(given: str, among: Callable[[], list[Message]]) -> str:
    """The message id that `given` means: itself, or the only one that holds this piece of an id.

    Raises:
        Failure: the piece is in none or in several of them.
    """
    if given.startswith("msg_") and len(given) == len("msg_") + 32:
        return given
    found = sorted({str(message["id"]) for message in among() if given in str(message.get("id", ""))})
    if len(given) < FRAGMENT or not found:
        raise Failure(f"no message here has {given} in its id; `peerline why` and `peerline inbox` list them")
    if len(found) > 1:
        raise Failure(f"{len(found)} messages have {given} in their ids; give more of it")
    return found[0]


def _messages(body: dict[str, Any]) -> list[Message]:
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise Failure("the hub's answer holds no messages; is it a hub of another version?")
    return [message for message in messages if isinstance(message, dict)]
