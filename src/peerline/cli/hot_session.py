"""One command's session on the hub: register, ask, unregister, all over one connection.

Ctrl-C and SIGTERM end it in order: an agent that nobody is must not stay in the list.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` loads `enum`
import os
from time import monotonic, sleep

from peerline.cli.hot_address import escaped
from peerline.cli.hot_http import TIMEOUT_MS, Answer, Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import Caller, branch_here, unreachable
from peerline.cli.hot_output import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Each look renews the session's lease of 30 s, so a wait is cut into slices.
SLICE_MS = 10_000
LEAVE_MS = 2_000
ROUNDS = 20
FINAL = ("replied", "cancelled", "expired", "error")


class Interrupted(BaseException):
    """Ctrl-C or SIGTERM; `code` is the exit code a shell expects."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.code = 128 + signum
        self.result: dict[str, Any] | None = None  # what is worth printing all the same


class Lost(Failure):
    """The hub gave no answer: it is not there, or went away."""


class Session:
    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.agent_id: str | None = None
        self._hub = Connection(caller.address, {"Authorization": f"Bearer {caller.token()}"})
        self._entering = False
        self._caught = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Session:
        for signum in (_signal.SIGINT, _signal.SIGTERM, getattr(_signal, "SIGHUP", _signal.SIGTERM)):
            # None is a handler that is not Python's and could not be put back.
            if signum not in self._before and _signal.getsignal(signum) not in (_signal.SIG_IGN, None):
                self._before[signum] = _signal.signal(signum, self._interrupt)
        self._entering = True
        try:
            self._register()
        except BaseException:
            self._handlers_back()
            raise
        finally:
            self._entering = False
        if self._caught:
            self._leave()
            self._handlers_back()
            raise Interrupted(self._caught)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        # From here on a signal has nothing left to end: leaving takes two seconds at most.
        self._entering = True
        self._leave(again=kind is not None)
        self._handlers_back()

    def _handlers_back(self) -> None:
        """What goes on after the session is not the session's to interrupt."""
        for signum, handler in self._before.items():
            _signal.signal(signum, handler)
        self._before = {}

    def _interrupt(self, signum: int, frame: object) -> None:
        # An answer to a registration must be read, or nobody knows what to unregister; the second Ctrl-C means it.
        if self._entering and not self._caught:
            self._caught = signum
            return
        raise Interrupted(signum)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One request as this agent; the answer's body.

        Raises:
            Failure: the hub refused it, or gave no answer.
        """
        return accepted(self._ask(method, path, body))

    def message(self, message_id: str, wait_ms: int = 0) -> dict[str, Any]:
        """The message's record, at once when it is final, else as it is after `wait_ms` at most."""
        query = f"?waitMs={wait_ms}" if wait_ms else ""
        answer = self._ask("GET", f"/v1/messages/{escaped(message_id)}{query}", None, wait_ms + TIMEOUT_MS)
        return record(accepted(answer))

    def wait(self, message_id: str, timeout_ms: int) -> dict[str, Any]:
        """The final record, or the open one when the time is over. A restart of the hub is waited out."""
        end = monotonic() + timeout_ms / 1000
        while True:
            left = round((end - monotonic()) * 1000)
            asked = monotonic()
            try:
                message = self.message(message_id, max(0, min(left, SLICE_MS)))
            except Lost:
                if left <= 0:
                    raise
                sleep(min(0.5, left / 1000))
                continue
            if message.get("status") in FINAL or left <= 0:
                return message
            pause(asked, min(left, SLICE_MS), end)

    def twin(self) -> Connection:
        """A further connection as the same session, for requests side by side."""
        return Connection(self.caller.address, dict(self._hub.headers))

    def _ask(self, method: str, path: str, body: dict[str, Any] | None, timeout_ms: int = TIMEOUT_MS) -> Answer:
        return ask(self._hub, method, path, body, timeout_ms)

    def _register(self) -> None:
        """By a saved key if there is one: the same user is not "elsewhere", so calls side by side share a name."""
        caller = self.caller
        keys, tried, second_try = caller.saved_keys(), set[str](), False
        for _ in range(ROUNDS):
            key = keys.pop(0) if keys else None
            answer = self._ask("POST", "/v1/agents/register", self._introduction(key))
            code = answer.body.get("code")
            if answer.status in (200, 201):
                return self._registered(answer, key)
            if code == "invalid_auth" and caller.token_is_local and not second_try:
                # The hub forgot the token that it minted: it was given a new database.
                second_try, keys = True, caller.saved_keys()
                self._hub.headers["Authorization"] = f"Bearer {caller.mint()}"
            elif key is not None and answer.status in (401, 403, 409):
                tried.add(key)  # the hub does not know this key any more
            elif code == "duplicate_agent_name" and caller.named:
                keys = self._fresh_keys(tried)
                if not keys:
                    break
            elif code == "duplicate_agent_name" and not second_try:
                # The process number of another machine or container.
                second_try, caller.name = True, f"{caller.name}-{os.urandom(3).hex()}"
            else:
                break
        accepted(answer)
        return None

    def _introduction(self, key: str | None) -> dict[str, Any]:
        caller = self.caller
        host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
        body = {"name": caller.name, "purpose": caller.purpose, "project": caller.project, "host": host[:64]}
        if branch := branch_here(dict(os.environ)):
            body["branch"] = branch[:128]
        return body if key is None else {**body, "resume": key}

    def _registered(self, answer: Answer, by: str | None) -> None:
        agent, key = answer.body.get("agent"), answer.body.get("agentKey")
        if not isinstance(agent, dict) or not isinstance(agent.get("id"), str) or not isinstance(key, str):
            raise Failure(f"what answers at {self.caller.address.url} is no hub")
        self.agent_id = agent["id"]
        self._hub.headers |= {"x-kxm-agent-id": agent["id"], "x-kxm-agent-key": key}
        self.caller.keep_key(agent["id"], key, by)

    def _fresh_keys(self, tried: set[str]) -> list[str]:
        """The name is taken: perhaps by another call of this user that is just about to save its key."""
        for _ in range(10):
            if fresh := [key for key in self.caller.saved_keys() if key not in tried]:
                return fresh
            sleep(0.02)
        return []

    def _leave(self, again: bool = False) -> None:
        """Unregister; what goes wrong here changes nothing for the caller, since the lease ends by itself."""
        if self.agent_id is None:
            return
        if again:
            self._hub.close()  # an answer may be under way on this connection
        path = f"/v1/agents/{escaped(self.agent_id)}"
        self.agent_id = None
        try:
            self._hub.request("DELETE", path, timeout_ms=LEAVE_MS)
        except (Unreachable, ConnectionLost, ValueError, Interrupted):
            pass
        self._hub.close()


def ask(
    hub: Connection, method: str, path: str, body: dict[str, Any] | None = None, timeout_ms: int = TIMEOUT_MS
) -> Answer:
    """The hub's answer, whatever it says; that there is none is told in the words of the command line."""
    try:
        return hub.request(method, path, body, timeout_ms)
    except Unreachable as why:
        lost = unreachable(hub.address, why)
        raise Lost(lost.detail, more=lost.more) from None
    except ConnectionLost as why:
        raise lost_during(method, path, why) from None
    except ValueError as why:
        raise Failure(str(why)) from None


def lost_during(method: str, path: str, why: ConnectionLost) -> Lost:
    unsure = "; whether it was done is not known" if method != "GET" and path != "/v1/agents/register" else ""
    return Lost(f"{why}{unsure}", more={"code": "connection_lost", "requestId": None, "nextAction": "check_and_retry"})


def accepted(answer: Answer) -> dict[str, Any]:
    """The body of an answer that is no refusal.

    Raises:
        Failure: with the hub's text; from 500 on its `error` is always the same and `detail` says what is the matter.
    """
    if answer.status < 400:
        return answer.body
    body = answer.body
    text = body.get("detail") or body.get("error") or f"the hub answered HTTP {answer.status}"
    request_id = body.get("requestId") or answer.headers.get("x-request-id")
    more = {"code": body.get("code"), "requestId": request_id, "nextAction": body.get("nextAction")}
    if "retry-after" in answer.headers:
        more["retryAfter"] = answer.headers["retry-after"]
    raise Failure(str(text), more=more)


def record(body: dict[str, Any]) -> dict[str, Any]:
    message = body.get("message")
    if not isinstance(message, dict):
        raise Failure("the hub's answer holds no message")
    return message


def pause(asked: float, wait_ms: int, end: float) -> None:
    """A hub that does not hold the answer back, as long polling asks it to, is asked twice a second."""
    if monotonic() - asked < wait_ms / 2000:
        sleep(max(0.0, min(0.5, end - monotonic())))
