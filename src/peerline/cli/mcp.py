"""`kxm mcp`: the tools of one agent session, over stdin and stdout. Started by the client, not by hand.

The first answer is given before anything heavy is imported (`mcp_stdio.greeting`); the rest comes while the client
reads it.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` loads `enum`
import os
import sys

from peerline.cli.hot_identity import Caller, branch_here, read_object
from peerline.cli.hot_name import session_name
from peerline.cli.hot_output import Failure, Output, usage, write
from peerline.cli.hot_paths import key_path, private_write
from peerline.mcp_stdio.greeting import Greeted, greet
from peerline.mcp_stdio.lock import lock_path, taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from peerline.mcp_stdio.place import Place

HELP = """Usage: kxm mcp [--as NAME] [--project NAME] [--server URL]

Serve the kxm_ tools to one agent session over stdin and stdout (MCP). The session's client starts it:

  claude mcp add kxm -- kxm mcp
  codex mcp add kxm -- kxm mcp

Without a name the session is <repository>-<branch>. KXM_TOOLS=all offers the tools of workflows and memory too.
"""
SETS = ("core", "all")
OPTIONS = ("--as", "--project", "--server")


def run(argv: list[str]) -> int:
    """Serve until the client leaves; the exit code."""
    env = dict(os.environ)
    output = Output(env, command="mcp")
    if "--help" in argv or "-h" in argv:
        return output.text(HELP.rstrip())
    try:
        desk = Desk(env, options(argv, OPTIONS))
    except Failure as failure:
        return output.failure(failure)
    for number in (_signal.SIGTERM, _signal.SIGINT):
        _signal.signal(number, _leave)
    # The conversation is the only thing on stdout: whatever else prints there goes to stderr.
    stdout = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        greeted = greet(0, stdout, desk.notice())
    except OSError:
        return 0
    if greeted is not None:
        desk.serve(greeted, stdout)
    # Not by way of the interpreter's end: a thread may be waiting in a read that nothing will end.
    os._exit(0)


def options(argv: list[str], known: tuple[str, ...], flags: tuple[str, ...] = ()) -> dict[str, str]:
    """`--name value` and `--name=value`; `flags` take no value, and are only let through.

    Raises:
        Failure: anything else.
    """
    given: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        if word in flags:
            continue
        name, equals, value = word.partition("=")
        if name not in known:
            raise usage("not an option of this command; known are " + ", ".join((*known, *flags)))
        given[name] = value if equals else next(words, "")
        if not given[name]:
            raise usage(f"{name} needs a value")
    return given


class Desk:
    """This process's settings, read once; what may change meanwhile (tokens, sockets) is looked up when asked for.

    Raises:
        Failure: a setting cannot be used.
    """

    def __init__(self, env: dict[str, str], common: dict[str, str]) -> None:
        self._env = env
        self._seat = env.get("KXM_WORKER_SEAT", "").strip()
        if self._seat:
            seat = read_object(self._seat)
            named = {"--as": seat.get("name"), "--project": seat.get("project"), "--server": seat.get("url")}
            common = {option: str(value) for option, value in named.items() if value} | common
        self._caller = Caller(env, common)
        self._common = common | {"--project": self._caller.project}
        self.name = self._caller.name if self._caller.named else session_name(env)
        self._tools = env.get("KXM_TOOLS", "").strip() or "core"
        if self._tools not in SETS:
            raise usage("KXM_TOOLS must be core or all")

    def notice(self) -> str:
        """What the session should know about its name before it uses it."""
        if self._seat:
            from peerline.mcp_stdio.seat import NOTICE

            return NOTICE
        if not taken(lock_path(self._key_file(self.name))):
            return ""
        return f"Your agent name is {self.name}-{os.getpid()}: another session on this machine is {self.name}."

    def serve(self, greeted: Greeted, stdout: int) -> None:
        if not self._caller.address.tls:
            # asyncio does without it, and 5 MiB in every session have no use.
            sys.modules.setdefault("ssl", None)  # type: ignore[arg-type]
        import asyncio

        from peerline.mcp_stdio.server import Server
        from peerline.wire.tools import SETS as TOOLS

        async def serve() -> None:
            place = self._place(greeted.client)
            tools = () if self._superseded(greeted.client) else TOOLS[self._tools]
            if self._seat:
                from peerline.mcp_stdio.seat import WITHOUT

                tools = tuple(tool for tool in tools if tool.name not in WITHOUT)
            await Server(place, greeted.client, tools, stdin=0, stdout=stdout, say=_say).run(greeted)

        asyncio.run(serve())

    def _superseded(self, client: str) -> bool:
        """Whether the client has our extension, which is the session's agent and has the tools."""
        return client == "pi" and self._env.get("KXM_PI_EXTENSION") == str(os.getppid())

    def _place(self, client: str) -> Place:
        from pathlib import Path

        from peerline.mcp_stdio.place import Place
        from peerline.mcp_stdio.session_id import session_id

        folder = Path(self._env.get("CLAUDE_PROJECT_DIR") or ".").absolute().name
        return Place(
            url=self._caller.address.url,
            project=self._caller.project,
            name=self.name,
            purpose=self._env.get("KXM_AGENT_PURPOSE", "").strip() or f"{client} session in {folder}"[:256],
            branch=branch_here(self._env),
            session_id=None if self._seat else session_id(client, self._env) or self._env.get("KXM_SESSION_ID") or None,
            headless=self._env.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk"),
            addresses=self._addresses,
            token=lambda: _asked(self._fresh().token),
            renewed_token=self._renewed_token,
            key_file=self._key_file,
            record_file=self._record_file,
            denial=self._denial,
            watched=self._watched,
            claim_name=self._claim_name,
            write=private_write,
            read=read_object,
            seat=(lambda: read_object(self._seat)) if self._seat else None,
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

    def _key_file(self, name: str) -> str:
        return key_path(self._env, self._caller.address.url, self._caller.project, name)

    def _record_file(self, session_id: str) -> str | None:
        from peerline.cli.hot_record import plain

        return f"{self._caller.root}/sessions/{session_id}.json" if plain(session_id) and not self._seat else None

    def _claim_name(self, path: str) -> str:
        from peerline.cli.hot_claim import claim_name

        return claim_name(path, self._env.get("CLAUDE_PROJECT_DIR") or ".", self._env.get("HOME", ""))

    def _denial(self, tool: str, arguments: object) -> str | None:
        from time import time

        from peerline.cli.hot_policy import found_policy

        policy = found_policy(self._env, time)
        denial = None if policy is None else policy.denial(tool, arguments)
        return None if denial is None else denial.text

    def _watched(self, session_id: str | None) -> bool:
        path = None if session_id is None else self._record_file(session_id)
        return path is not None and taken(path.removesuffix(".json") + ".watch")


def _asked(token: Any) -> str:
    """A token by the command line's way of finding one, its failures in the words of `mcp_stdio`."""
    from peerline.client.refusals import Unreachable
    from peerline.core.errors import Invalid
    from peerline.mcp_stdio.place import NoToken

    try:
        found: str = token()
    except Failure as failure:
        if failure.error == "project_token_missing":
            raise NoToken(failure.detail) from None
        if failure.more.get("code") != "hub_unreachable":
            raise Invalid(failure.detail) from None
        why = failure.__context__  # the cause alone, as `ECONNREFUSED`: the rest is said in our own words
        raise Unreachable(str(why) if why is not None else failure.detail) from None
    return found


def _say(line: str) -> None:
    write(2, line + "\n")


def _leave(*_: object) -> NoReturn:
    os._exit(0)
