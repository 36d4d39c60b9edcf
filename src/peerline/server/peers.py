"""Who is at the other end of a connection."""

import asyncio
import socket
import struct
import sys

from peerline.server.exchange import Peer


def peer_of(transport: asyncio.BaseTransport) -> Peer:
    """The peer of a TCP or Unix connection; the kernel says the uid of the latter."""
    name = transport.get_extra_info("peername")
    if isinstance(name, tuple):
        return Peer(address=str(name[0]))
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family == socket.AF_UNIX:
        return Peer(address="unix", unix=True, uid=_peer_uid(connection))
    return Peer(address="unknown")  # gone before we could ask


def limit_send_buffer(transport: asyncio.BaseTransport, size: int) -> None:
    """Keep the kernel from buffering megabytes for a peer that does not read, and from hiding that it does not."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        try:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
        except OSError:
            pass  # it has gone; the transport will say so


def _peer_uid(connection: socket.socket) -> int | None:
    try:
        if sys.platform == "darwin":
            return int(struct.unpack("2I", connection.getsockopt(0, 1, 8))[1])  # SOL_LOCAL, LOCAL_PEERCRED
        return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    except OSError:
        return None
