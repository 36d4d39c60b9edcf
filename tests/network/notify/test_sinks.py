"""The sinks, with a real program on PATH, a real file, a real terminal and a real web server."""

import io
import json
import os
import pty
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from peerline.network.notify import sinks
from peerline.network.notify.notice import Arrival, Notice, Reason
from peerline.network.notify.notifier import Notifier
from peerline.network.notify.settings import NotifySettings, Sink

NOTICE = Notice(
    title="bob-codex needs a person", body="komnet, room build. Read it: komnet inbox --id 01M8", urgent=True
)
HUMAN = Arrival(id="01M8", room="build", sender="bob-codex", needs="human", priority="normal", mentions=())
MOMENT = "2026-11-30T10:06:34.906Z"


def program(folder: Path, name: str, then: str = "") -> dict[str, str]:
    """A desktop with this program, which writes its arguments and its variables down."""
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{folder}/words"\nenv >"{folder}/env"\n{then}\n')
    script.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder), "DISPLAY": ":7", "KOMNET_SECRET_OF_TEST": "x"}


@pytest.mark.parametrize(("urgent", "urgency"), [(True, "critical"), (False, "normal")])
def test_notify_send_gets_the_texts_as_arguments(tmp_path: Path, urgent: bool, urgency: str) -> None:
    environ = program(tmp_path / "bin", "notify-send")
    sinks.desktop(Notice(title=NOTICE.title, body=NOTICE.body, urgent=urgent), environ, "linux")
    words = (tmp_path / "bin" / "words").read_text().splitlines()
    assert words == ["--app-name=komnet", f"--urgency={urgency}", "--", NOTICE.title, NOTICE.body]


def test_the_desktops_program_gets_only_what_it_needs_of_the_environment(tmp_path: Path) -> None:
    sinks.desktop(NOTICE, program(tmp_path / "bin", "notify-send"), "linux")
    names = {line.split("=")[0] for line in (tmp_path / "bin" / "env").read_text().splitlines()}
    assert "DISPLAY" in names
    assert "KOMNET_SECRET_OF_TEST" not in names


def test_on_a_mac_the_texts_are_arguments_of_a_fixed_script(tmp_path: Path) -> None:
    sinks.desktop(NOTICE, program(tmp_path / "bin", "osascript"), "darwin")
    words = (tmp_path / "bin" / "words").read_text().splitlines()
    assert words[-2:] == [NOTICE.title, NOTICE.body]
    assert not any(NOTICE.title in word for word in words[:-2])


def test_a_title_that_looks_like_an_option_stays_a_title(tmp_path: Path) -> None:
    environ = program(tmp_path / "bin", "notify-send")
    sinks.desktop(Notice(title="--icon=x", body="-h", urgent=False), environ, "linux")
    assert (tmp_path / "bin" / "words").read_text().splitlines()[2:] == ["--", "--icon=x", "-h"]


def test_a_program_that_fails_or_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(sinks.NotTold, match="ended with code 3"):
        sinks.desktop(NOTICE, program(tmp_path / "bin", "notify-send", "exit 3"), "linux")
    with pytest.raises(sinks.NotTold, match="notify-send is not there"):
        sinks.desktop(NOTICE, {"PATH": str(tmp_path / "nothing")}, "linux")


def test_a_program_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "PATIENCE_S", 0.3)
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    held = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    environ = program(tmp_path / "bin", "notify-send", f"sleep 600 >{fifo} & wait")
    with pytest.raises(sinks.NotTold, match="took longer"):
        sinks.desktop(NOTICE, environ, "linux")
    os.set_blocking(held, True)
    assert os.read(held, 1) == b""  # the last one that held the other end is gone
    os.close(held)


def test_the_file_keeps_the_newest_on_top(tmp_path: Path) -> None:
    path = tmp_path / "inbox" / "NOTICE.md"
    sinks.file(NOTICE, path, MOMENT)
    assert path.stat().st_mode & 0o077 == 0
    path.write_text(path.read_text() + "".join(f"- {MOMENT} t{number} — b\n" for number in range(sinks.KEPT)))
    sinks.file(Notice(title="newest", body="b", urgent=False), path, MOMENT)
    lines = path.read_text().splitlines()
    assert lines[:3] == ["# komnet: what you were told", "", f"- {MOMENT} newest — b"]
    assert lines[3].startswith(f"- {MOMENT} **urgent** {NOTICE.title}")
    assert len(lines) == 2 + sinks.KEPT
    assert [entry.name for entry in path.parent.iterdir()] == ["NOTICE.md"]


def test_the_file_is_never_written_through_a_link(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    path = tmp_path / "NOTICE.md"
    path.symlink_to(other)
    sinks.file(NOTICE, path, MOMENT)
    assert other.read_text() == "mine"
    assert not path.is_symlink()


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "inbox").write_text("no folder")
    with pytest.raises(sinks.NotTold, match=r"NOTICE\.md cannot be written"):
        sinks.file(NOTICE, tmp_path / "inbox" / "NOTICE.md", MOMENT)


def test_a_terminal_gets_a_line_and_a_bell() -> None:
    reader, writer = pty.openpty()
    with open(writer, "w", encoding="utf-8") as stream:  # noqa: PTH123  (a file descriptor)
        sinks.terminal(NOTICE, stream)
        assert os.read(reader, 1_000).decode() == f"\a{NOTICE.title} — {NOTICE.body}\r\n"
    os.close(reader)
    with pytest.raises(sinks.NotTold, match="no terminal"):
        sinks.terminal(NOTICE, io.StringIO())


@contextmanager
def server(status: int = 204, **headers: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A web server on this machine and what it was sent."""
    got: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append({"path": self.path, "type": self.headers["Content-Type"], "body": json.loads(body)})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_port}", got
        finally:
            httpd.shutdown()
            thread.join()


def test_a_webhook_gets_the_notice_as_json() -> None:
    with server() as (address, got):
        sinks.webhook(NOTICE, f"{address}/hook?key=of-the-test")
    assert got == [
        {
            "path": "/hook?key=of-the-test",
            "type": "application/json",
            "body": {"title": NOTICE.title, "body": NOTICE.body, "urgent": True},
        }
    ]


def test_a_webhook_is_not_followed_elsewhere() -> None:
    with server() as (other, elsewhere), server(307, Location=f"{other}/x") as (address, _):
        with pytest.raises(sinks.NotTold, match="answered 307"):
            sinks.webhook(NOTICE, address)
        assert elsewhere == []


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nX: "], ids=["nothing", "half an answer"])
def test_a_webhook_that_trickles_is_cut_off_and_its_address_is_not_told(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "PATIENCE_S", 0.4)
    ended = threading.Event()

    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(answer)
            while not ended.wait(0.02):
                try:
                    connection.sendall(b"x" if answer else b"")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, args=(listener,))
        thread.start()
        with pytest.raises(sinks.NotTold, match="took longer") as refused:
            sinks.webhook(NOTICE, f"http://127.0.0.1:{listener.getsockname()[1]}/secret-of-the-test")
        ended.set()
        thread.join()
    assert "secret-of-the-test" not in str(refused.value)


def test_a_webhook_that_nobody_answers_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(sinks.NotTold, match="ConnectionRefusedError"):
        sinks.webhook(NOTICE, f"http://127.0.0.1:{port}/")


def notifier(inbox: Path, environ: dict[str, str]) -> Notifier:
    return Notifier(inbox, now=lambda: 0, environ=environ, stream=io.StringIO(), platform="linux")


def test_without_a_desktop_the_file_is_written_instead_and_the_log_says_why(tmp_path: Path) -> None:
    told = notifier(tmp_path, {"PATH": str(tmp_path)})
    said = told.tell([HUMAN], "ada-claude", NotifySettings(), agent_near=True)
    assert said == ["not told by os: notify-send is not there"]
    assert "bob-codex needs a person" in (tmp_path / "NOTICE.md").read_text()


def test_all_named_sinks_are_told_also_when_one_fails(tmp_path: Path) -> None:
    environ = program(tmp_path / "bin", "notify-send")
    with server() as (address, got):
        wanted = NotifySettings(sinks=(Sink.TERMINAL, Sink.OS, Sink.FILE, Sink.WEBHOOK), webhook=address)
        said = notifier(tmp_path / "inbox", environ).tell([HUMAN], "ada-claude", wanted, agent_near=True)
    assert said == ["not told by terminal: there is no terminal"]
    assert (tmp_path / "bin" / "words").exists()
    assert (tmp_path / "inbox" / "NOTICE.md").exists()
    assert len(got) == 1


def test_nobody_is_told_where_the_owner_wants_none_or_nothing_has_to_be(tmp_path: Path) -> None:
    told = notifier(tmp_path / "inbox", {"PATH": str(tmp_path)})
    assert told.tell([HUMAN], "ada-claude", NotifySettings(sinks=(Sink.NONE,)), agent_near=False) == []
    assert told.tell([], "ada-claude", NotifySettings(), agent_near=False) == []
    assert not (tmp_path / "inbox").exists()


def test_one_thing_is_told_once_whoever_tells_it_and_its_next_standing_is_another(tmp_path: Path) -> None:
    told = [notifier(tmp_path, {"PATH": str(tmp_path)}) for _ in range(2)]
    wanted = NotifySettings(sinks=(Sink.FILE,))
    for one in told:
        one.tell([HUMAN], "ada-claude", wanted, agent_near=True)
    assert (tmp_path / "NOTICE.md").read_text().count("\n- ") == 1
    told[0].tell([replace(HUMAN, standing=Reason.HELD)], "ada-claude", wanted, agent_near=True)
    assert (tmp_path / "NOTICE.md").read_text().count("\n- ") == 2


def test_what_nobody_has_to_be_told_of_is_not_taken_for_told(tmp_path: Path) -> None:
    mention = replace(HUMAN, needs="none", mentions=("ada-claude",))
    told, wanted = notifier(tmp_path, {"PATH": str(tmp_path)}), NotifySettings(sinks=(Sink.FILE,))
    told.tell([mention], "ada-claude", wanted, agent_near=True)
    assert not (tmp_path / "NOTICE.md").exists()
    told.tell([mention], "ada-claude", wanted, agent_near=False)
    assert (tmp_path / "NOTICE.md").exists()
