"""The sockets the hub listens on: one hub an address, and the user's socket nobody else's."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from peerline.server.sockets import listen_tcp, listen_unix, remove_unix
from tests.server.echo_server import EchoServer


def test_a_taken_port_is_named() -> None:
    with listen_tcp("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use") as refused:
            listen_tcp("127.0.0.1", port)
        assert refused.value.errno == errno.EADDRINUSE


def test_an_address_that_is_not_ours_is_named() -> None:
    with pytest.raises(OSError, match=r"cannot listen on 192\.0\.2\.1:7331"):
        listen_tcp("192.0.2.1", 7331)


def test_localhost_is_listened_on_over_ipv4() -> None:
    with listen_tcp("localhost", 0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_the_users_socket_and_its_folder_are_for_the_user_only(tmp_path: Path) -> None:
    path = tmp_path / "own" / "hub.sock"
    listener, inode = listen_unix(path)
    with listener:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.stat().st_ino == inode


def test_the_umask_is_what_it_was_before(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        listen_unix(tmp_path / "hub.sock")[0].close()
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def test_the_socket_of_a_dead_hub_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "hub.sock"
    listen_unix(path)[0].close()
    assert path.exists()
    with listen_unix(path)[0], socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_the_socket_of_a_living_hub_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hub.sock"
    first, inode = listen_unix(path)
    with first:
        with pytest.raises(OSError, match="another hub answers at"):
            listen_unix(path)
        assert path.stat().st_ino == inode


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_not_a_socket_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "hub.sock"
    if kind == "file":
        path.write_text("mine")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="not a socket"):
        listen_unix(path)
    assert path.is_symlink() if kind == "link" else path.exists()


def test_a_folder_that_others_may_change_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(OSError, match="not only yours"):
        listen_unix(folder / "hub.sock")


def test_a_path_too_long_for_the_kernel_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="longer than 100 bytes"):
        listen_unix(tmp_path / ("a" * 120) / "hub.sock")


def test_only_our_own_socket_file_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "hub.sock"
    listener, inode = listen_unix(path)
    listener.close()
    remove_unix(path, inode + 1)
    assert path.exists()
    remove_unix(path, inode)
    assert not path.exists()
    remove_unix(path, inode)


def test_a_stopped_server_takes_its_socket_file_with_it(tmp_path: Path) -> None:
    path = tmp_path / "own" / "hub.sock"
    server = EchoServer(socket_path=path).start()
    assert path.exists()
    server.stop()
    assert not path.exists()


def test_a_server_that_cannot_have_its_second_socket_gives_the_first_back(tmp_path: Path) -> None:
    path = tmp_path / "hub.sock"
    path.write_text("mine")
    server = EchoServer(socket_path=path)
    with pytest.raises(OSError, match="not a socket"):
        server.start()
    assert path.read_text() == "mine"
