"""The hub as a client of itself: the same requests, proofs, limits and refusals as from outside, without a socket."""

from collections.abc import AsyncIterator

from peerline.client.address import Address
from peerline.client.connection import Answer
from peerline.client.refusals import Unreachable
from peerline.database.later import Later
from peerline.server.exchange import Application, Peer, Request, Response

URL = "unix:/inside"
"""What a client of this kind is given as the hub's address; nobody looks there."""


class Inside:
    """Dials the application itself; `address` is that of the caller on whose behalf the requests are made."""

    def __init__(self, app: Application, address: str) -> None:
        self._app = app
        self._peer = Peer(address=address, unix=True)

    async def __call__(self, to: Address, /) -> "InsideLine":
        return InsideLine(self._app, self._peer)


class InsideLine:
    reusable = True

    def __init__(self, app: Application, peer: Peer) -> None:
        self._app, self._peer = app, peer

    async def exchange(self, request: bytes) -> Answer:
        answer = self._app.answer(_read(request, self._peer))
        settled = await answer if isinstance(answer, Later) else answer
        assert isinstance(settled, Response), "only streams are no responses, and none is asked for here"
        lines = (line.partition(": ") for line in settled.lines.splitlines())
        headers = dict(settled.headers) | {name: value for name, _, value in lines}
        return Answer(settled.status, headers, settled.whole)

    async def stream(self, request: bytes) -> tuple[Answer, AsyncIterator[bytes]]:
        raise Unreachable("inside the hub nobody listens to a stream")

    def close(self) -> None:
        pass


def _read(request: bytes, peer: Peer) -> Request:
    """A request as our own client writes it."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    path, _, query = target.partition("?")
    headers = {name: value for name, _, value in (line.partition(": ") for line in lines)}
    return Request(method=method, path=path, query=query, headers=headers, body=body, peer=peer)
