"""A server on a real socket that says what a test wants said, for the answers that no sound hub gives."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Turn = Callable[[socket.socket, bytes], None]


@contextmanager
def serving(*turns: Turn, path: Path | None = None) -> Iterator[str]:
    """The URL of a server whose n-th connection is handled by the n-th turn, given the request's bytes."""
    listener = socket.socket(socket.AF_UNIX) if path else socket.socket()
    listener.bind(str(path) if path else ("127.0.0.1", 0))
    listener.listen()

    def serve() -> None:
        for turn in turns:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                turn(connection, request(connection))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield "http://127.0.0.1:1" if path else f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=20)


def request(connection: socket.socket) -> bytes:
    """All of one request, by its Content-Length."""
    data = b""
    while b"\r\n\r\n" not in data and (part := connection.recv(65_536)):
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length and (part := connection.recv(65_536)):
        body += part
    return head + b"\r\n\r\n" + body


def saying(*pieces: bytes) -> Turn:
    """Answer with these bytes, piece by piece, and close."""

    def turn(connection: socket.socket, asked: bytes) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return turn


def silent(connection: socket.socket, asked: bytes) -> None:
    """Read the request, answer nothing, and wait until the client gives up."""
    connection.recv(1)
