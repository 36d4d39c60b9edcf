"""The first answer, before asyncio is imported: a client waits for it, and the import is two thirds of the start."""

from __future__ import annotations

import os

from peerline.mcp_stdio import rpc
from peerline.mcp_stdio.handshake import introduce, label

CHUNK = 65_536


class Greeted:
    """The client's short name, and the lines that came behind its `initialize`."""

    def __init__(self, client: str, lines: list[bytes | None], rest: bytes) -> None:
        self.client, self.lines, self.rest = client, lines, rest


def greet(stdin: int, stdout: int, notice: str) -> Greeted | None:
    """Answer on these descriptors until the client has introduced itself; None: it left before."""
    lines = rpc.Lines()
    while chunk := os.read(stdin, CHUNK):
        came = lines.feed(chunk)
        for place, line in enumerate(came):
            client = None
            try:
                request = rpc.parse(line)
                if request is None:
                    continue
                answer = introduce(request, notice)
                if request.method == "initialize" and answer is not None:
                    client = label(request.params)
                elif answer is None and request.id is not None:
                    answer = rpc.failure(request.id, rpc.INVALID_REQUEST, "initialize comes first")
            except rpc.Malformed as bad:
                answer = rpc.failure(bad.request_id, bad.code, bad.text)
            if answer is not None:
                write(stdout, answer)
            if client is not None:
                return Greeted(client, came[place + 1 :], lines.left())
    return None


def write(fd: int, data: bytes) -> None:
    """Write all of it.

    Raises:
        OSError: nobody reads any more.
    """
    while data:
        data = data[os.write(fd, data) :]
