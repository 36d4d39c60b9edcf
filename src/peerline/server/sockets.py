"""The sockets the hub listens on."""

import errno
import os
import socket
import stat
from pathlib import Path

BACKLOG = 4_096
UNIX_PATH_BYTES = 100  # the kernel's limit is 104 on macOS and 108 on Linux


def listen_tcp(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 picks a free one.

    Raises:
        OSError: the address is taken or not ours; the text says which.
    """
    last: OSError = OSError(errno.EADDRNOTAVAIL, f"cannot listen on {host}:{port}: no such address")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise OSError(errno.EADDRNOTAVAIL, f"cannot listen on {host}:{port}: {error.strerror}") from error
    for family, kind, protocol, _, address in sorted(found, key=lambda entry: entry[0] != socket.AF_INET):
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            last = OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}")
        else:
            listener.setblocking(False)
            return listener
    raise last


def listen_unix(path: Path) -> tuple[socket.socket, int]:
    """The user's own socket and its inode: 0600 from birth, in a folder that only its owner may change.

    What a dead hub left at `path` is removed, but only after nobody has answered there.

    Raises:
        OSError: a hub answers there, the place is not safe, or the path is too long.
    """
    if len(os.fsencode(path)) > UNIX_PATH_BYTES:
        raise OSError(errno.ENAMETOOLONG, f"socket path is longer than {UNIX_PATH_BYTES} bytes: {path}")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = path.parent.stat()
    if folder.st_uid != os.getuid() or folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise OSError(errno.EPERM, f"folder of the socket is not only yours: {path.parent}")
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, f"cannot listen on {path}: {error.strerror}") from error
    finally:
        os.umask(mask)
    listener.setblocking(False)
    return listener, path.lstat().st_ino


def _remove_stale(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise OSError(errno.EEXIST, f"something that is not a socket stands at {path}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            raise OSError(error.errno, f"cannot tell whether a hub lives at {path}: {error.strerror}") from error
    raise OSError(errno.EADDRINUSE, f"another hub answers at {path}")


def remove_unix(path: Path, listener_inode: int) -> None:
    """Remove our socket file, unless another hub has put its own there meanwhile."""
    try:
        if path.lstat().st_ino == listener_inode:
            path.unlink()
    except FileNotFoundError:
        pass
