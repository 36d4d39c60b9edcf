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


def ready_for_stream(transport: asyncio.BaseTransport, buffer: int, patience_s: float) -> None:
    """Tell the kernel what a stream needs.

    A small send buffer: megabytes there would hide that a peer does not read. And an end of its patience: a peer whose
    cable was cut never says so, and a heartbeat could wait for its acknowledgement for a quarter of an hour.
    """
    connection = transport.get_extra_info("socket")
    if connection is None:
        return
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
        if connection.family == socket.AF_UNIX:
            return
        if sys.platform == "linux":
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(patience_s * 1000))
        elif sys.platform == "darwin":
            connection.setsockopt(socket.IPPROTO_TCP, 0x80, max(1, int(patience_s)))  # TCP_RXT_CONNDROPTIME
    except OSError:
        pass  # it has gone; the transport will say so


def _peer_uid(connection: socket.socket) -> int | None:
    try:
        if sys.platform == "darwin":
            return int(struct.unpack("2I", connection.getsockopt(0, 1, 8))[1])  # SOL_LOCAL, LOCAL_PEERCRED
        return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    except OSError:
        return None
