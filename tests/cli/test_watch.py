"""`kxm watch` beside a real session: what wakes it, once, and nothing of the bodies."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.hub_process import KXM, PATIENCE_S, Agent, Project
from tests.mcp_stdio.session import AgentSession

SESSION = "c0ffee-1"


class Watching:
    def __init__(self, env: dict[str, str], home: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [*KXM, "watch", *words],
            env=env,
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def out(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def line(self) -> str:
        return self.out.readline().rstrip("\n")

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self) -> str:
        """What it printed on stderr."""
        self.process.terminate()
        assert self.process.wait(PATIENCE_S) == 0
        assert self.process.stderr is not None
        return self.process.stderr.read()

    def leave(self) -> None:
        """Close its standard input, which ends it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(PATIENCE_S) == 0

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def session(tmp_path: Path, project: Project) -> Iterator[AgentSession]:
    variables = {"KXM_AGENT_NAME": "me", "CLAUDE_CODE_SESSION_ID": SESSION, "KXM_AUTH_TOKEN": project.token}
    opened = AgentSession(tmp_path / "user", project.hub, project.name, **variables).open()
    opened.call("kxm_list")
    yield opened
    opened.stop()


@pytest.fixture
def watching(session: AgentSession) -> Iterator[Watching]:
    started = Watching(session.env, session.home)
    yield started
    started.stop()


def request_line(message_id: str) -> str:
    return f"KXM request {message_id} from lead: read it with kxm_inbox, answer with kxm_reply"


def test_a_request_and_a_reply_are_one_line_each_without_a_body(
    session: AgentSession, watching: Watching, lead: Agent
) -> None:
    sent = session.call("kxm_send", target="lead", content="?")["messageId"]
    lead.reply(sent, "very secret words")
    assert watching.line() == f"KXM reply to {sent} from lead: read it with kxm_get"
    asked = lead.send("me", "more secret words")["id"]
    assert watching.line() == request_line(asked)
    steered = lead.send("me", "now", delivery="steer")["id"]
    assert watching.line() == request_line(steered).replace(" from lead:", " from lead, steer: soon:")
    assert watching.end() == ""
    assert watching.out.read() == ""


def test_the_trail_tells_what_the_line_has_told_and_what_nothing_has(session: AgentSession, lead: Agent) -> None:
    def reports(message_id: str) -> list[tuple[str, str]]:
        facts = lead.call("GET", f"/v1/messages/{message_id}/trail").json["facts"]
        return [(fact["fact"], fact["detail"]) for fact in facts if "announced" in fact["fact"]]

    unwatched = lead.send("me", "one")["id"]
    session.push()
    session.call("kxm_list")
    reason = "no monitor runs in its session, and whether a channel push is taken is not known"
    while not (told := reports(unwatched)):
        session.call("kxm_list")
    assert told == [("not announced", f"by mcp:claude-code: {reason}")]
    watching = Watching(session.env, session.home)
    try:
        assert watching.line() == request_line(unwatched)
        watched = lead.send("me", "two")["id"]
        assert watching.line() == request_line(watched)
        assert reports(unwatched)[-1] == ("announced", "by claude-code monitor")
        watching.end()
    finally:
        watching.stop()
    assert "not announced" not in [fact for fact, _ in reports(watched)]


def test_a_reader_that_confirms_says_what_became_of_the_lines(session: AgentSession, lead: Agent) -> None:
    def reports(message_id: str) -> list[tuple[str, str]]:
        facts = lead.call("GET", f"/v1/messages/{message_id}/trail").json["facts"]
        return [(one["fact"], one["detail"]) for one in facts if "by claude-code monitor" in one.get("detail", "")]

    asked = lead.send("me", "one")["id"]
    first = Watching(session.env, session.home, "--confirm")
    try:
        assert [first.line(), first.line()] == [request_line(asked), ""]
        first.say("the conversation did not take it")
        while not (told := reports(asked)):
            session.call("kxm_list")
    finally:
        first.stop()
    assert told == [("not announced", "by claude-code monitor: the conversation did not take it")]
    second = Watching(session.env, session.home, "--confirm")
    try:
        assert [second.line(), second.line()] == [request_line(asked), ""], "it was not told yet"
        second.say("ok")
        another = lead.send("me", "two")["id"]
        assert [second.line(), second.line()] == [request_line(another), ""]
        assert reports(asked)[-1] == ("announced", "by claude-code monitor")
        second.leave()
    finally:
        second.stop()


def test_what_was_there_before_is_told_once_and_a_lot_in_few_lines(session: AgentSession, lead: Agent) -> None:
    ids = [lead.send("me", f"request {number}")["id"] for number in range(5)]
    first = Watching(session.env, session.home)
    try:
        lines = [first.line() for _ in range(4)]
        assert lines == [*map(request_line, ids[:3]), "KXM: 2 more wait: kxm_inbox lists them"]
        first.end()
    finally:
        first.stop()
    second = Watching(session.env, session.home)
    try:
        last = lead.send("me", "one more")["id"]
        assert second.line() == request_line(last)
    finally:
        second.stop()


def test_a_reply_that_a_call_waited_for_wakes_nobody(session: AgentSession, watching: Watching, lead: Agent) -> None:
    sent = session.call("kxm_send", target="lead", content="?")["messageId"]
    waiting = session.begin_call("kxm_await", messageId=sent)
    with lead.stream() as stream:
        stream.next("message")
        lead.reply(sent, "yes")
    session.answer(waiting)
    barrier = lead.send("me", "barrier")["id"]
    assert watching.line() == request_line(barrier)


def test_it_follows_its_session_to_the_next_server(session: AgentSession, watching: Watching, lead: Agent) -> None:
    assert watching.process.poll() is None
    session.signal(signal.SIGKILL)
    again = AgentSession(session.home, None, "")
    again.env = session.env
    try:
        again.open().call("kxm_list")
        asked = lead.send("me", "still there?")["id"]
        assert watching.line() == request_line(asked)
    finally:
        again.stop()


def test_it_ends_when_nobody_reads_it(session: AgentSession, watching: Watching, lead: Agent) -> None:
    asked = lead.send("me", "one")["id"]
    assert watching.line() == request_line(asked)
    watching.out.close()
    lead.send("me", "two")
    assert watching.process.wait(PATIENCE_S) == 0


def test_outside_of_a_session_it_says_what_it_needs(tmp_path: Path) -> None:
    ran = subprocess.run(
        [*KXM, "watch"],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "--session is required" in ran.stderr


def test_an_option_that_does_not_exist_is_told_with_those_that_do(tmp_path: Path) -> None:
    ran = subprocess.run(
        [*KXM, "watch", "--bogus"], check=False, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert ran.returncode == 2
    assert "known are --session, --confirm" in ran.stderr
