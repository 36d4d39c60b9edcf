"""What git gets from its surroundings, and what it cannot make us wait for."""

import os
import select
import subprocess
from pathlib import Path

import pytest

from peerline.network.git.address import remote_address
from peerline.network.git.append import Addition, Author, append
from peerline.network.git.errors import (
    GitFailed,
    GitNotFound,
    GitTimedOut,
    GitTooMuch,
    RemoteFailed,
    RemoteRefused,
    RemoteUnreachable,
)
from peerline.network.git.remote import Move, fetch, heads
from peerline.network.git.remote import push as push_moves
from peerline.network.git.repository import UnsafeRepository, open_repository, set_aside
from peerline.network.git.runner import Git, Limits
from tests.network.remotes import STRANGER, BareRemote

ANNA = Author("Anna", "anna@example.test")


def opened(tmp_path: Path, remote: BareRemote, environ: dict[str, str], limits: Limits = Limits()) -> Git:  # noqa: B008
    return open_repository(tmp_path / "net" / "git", remote_address(remote.url), environ, limits=limits)


def push(git: Git, made: dict[str, str]) -> dict[str, RemoteFailed | None]:
    return push_moves(git, [Move(name, None, new) for name, new in made.items()])


def first_post(git: Git) -> dict[str, str]:
    return append(git, [Addition(branch="room/a", tip=None, message="m", files={"rooms/a/x": b"x"})], ANNA, 1_000)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_callers_git_variables_lead_nowhere(tmp_path: Path, remote: BareRemote, environ: dict[str, str]) -> None:
    other = BareRemote(tmp_path / "other.git")
    other.commit("main", {"a": b"a"})
    before = everything(other.path)
    hostile = environ | {
        "GIT_DIR": str(other.path),
        "GIT_WORK_TREE": str(tmp_path),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.path / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(other.path / "objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(tmp_path),
        "GIT_CONFIG_PARAMETERS": "'core.hooksPath=/tmp'",
        "GIT_SSH_COMMAND": "touch /nowhere/ssh",
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_EXTERNAL_DIFF": "touch",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_PROXY_COMMAND": "touch",
        "LANG": "C",
        "http_proxy": "http://127.0.0.1:1",
    }
    git = opened(tmp_path, remote, hostile)
    assert push(git, first_post(git)) == {"room/a": None}
    assert everything(other.path) == before
    assert remote.branches() == {"room/a"}
    assert not (tmp_path / "trace").exists()


def test_of_the_users_configuration_only_credentials_ssh_proxies_and_the_name_pass(
    tmp_path: Path, remote: BareRemote, environ: dict[str, str]
) -> None:
    trap = tmp_path / "trap"
    (Path(environ["HOME"]) / ".gitconfig").write_text(
        f"""[core]
    hooksPath = {tmp_path}
    fsmonitor = touch {trap}
    sshCommand = ssh -F "my \\"own\\" file"
    autocrlf = true
    pager = touch {trap}
[commit]
    gpgsign = true
[init]
    templateDir = {tmp_path}
[url "/nowhere/"]
    insteadOf = /
[alias]
    push = !touch {trap}
[credential "https://git.example.test"]
    helper = store
[http]
    proxy = http://proxy.example.test:3128
[user]
    name = Anna Ö.
    email = anna@example.test
[include]
    path = more
"""
    )
    (Path(environ["HOME"]) / "more").write_text(
        '[filter "lfs"]\n process = touch\n[http "https://x.test/"]\n proxy = p\n'
    )
    git = opened(tmp_path, remote, environ)
    assert push(git, first_post(git)) == {"room/a": None}
    assert not trap.exists()
    values = dict(git.user.values)
    assert values.pop("core.sshcommand") == 'ssh -F my "own" file'
    assert values == {
        "credential.https://git.example.test.helper": "store",
        "http.proxy": "http://proxy.example.test:3128",
        "http.https://x.test/.proxy": "p",
        "user.name": "Anna Ö.",
        "user.email": "anna@example.test",
    }
    assert git.user.path.stat().st_mode & 0o077 == 0
    again = subprocess.run(
        ["git", "config", "--file", str(git.user.path), "-z", "--list"], env=STRANGER, capture_output=True, check=True
    ).stdout.decode()
    read = dict(entry.split("\n", 1) for entry in again.split("\0") if entry)
    assert read == dict(git.user.values)


def test_a_repository_whose_configuration_was_changed_gets_ours_back(
    tmp_path: Path, remote: BareRemote, environ: dict[str, str]
) -> None:
    trap = tmp_path / "trap"
    folder = opened(tmp_path, remote, environ).repository
    with (folder / "config").open("a") as file:
        file.write(f'[core]\n\tfsmonitor = "touch {trap}"\n\talternateRefsCommand = "touch {trap}"\n')
    hooks = folder / "hooks"
    hooks.mkdir()
    for name in ("pre-push", "reference-transaction", "post-update"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {trap}\n")
        (hooks / name).chmod(0o755)
    git = opened(tmp_path, remote, environ)
    assert push(git, first_post(git)) == {"room/a": None}
    assert fetch(git, ["room/a"]) == {}
    assert not trap.exists()
    assert b"fsmonitor" not in (folder / "config").read_bytes()


def test_a_remote_that_hangs_is_ended_with_all_it_started(
    tmp_path: Path, remote: BareRemote, environ: dict[str, str]
) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    remote.hook("pre-receive", f"echo $$ > {started}; exec sleep 1000")
    git = opened(tmp_path, remote, environ, Limits(network_s=1.5))
    made = first_post(git)
    reader = os.open(started, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(RemoteUnreachable, match=r"longer than 1\.5 s"):
        push(git, made)
    hung = int(os.read(reader, 100))
    os.close(reader)
    assert ended(hung)


def ended(pid: int, within_s: float = 10) -> bool:
    """Waits for the end of a process that isn't our child."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], within_s)[0])
    finally:
        os.close(process)


def test_a_hook_that_refuses_is_quoted_without_its_control_characters(
    tmp_path: Path, remote: BareRemote, environ: dict[str, str]
) -> None:
    remote.hook("pre-receive", r"printf '\033]0;owned\007\033[2Jno secrets here\n' >&2; exit 1")
    git = opened(tmp_path, remote, environ)
    outcome = push(git, first_post(git))["room/a"]
    assert isinstance(outcome, RemoteRefused)
    assert "pre-receive hook declined" in outcome.text
    assert "no secrets here" in outcome.text
    assert "\x1b" not in outcome.text
    assert "\x07" not in outcome.text


def test_what_prints_or_lasts_too_long_is_ended(tmp_path: Path, remote: BareRemote, environ: dict[str, str]) -> None:
    git = opened(tmp_path, remote, environ, Limits(local_s=0.5, output_bytes=1_000))
    large = remote.commit("room/a", {f"rooms/a/{number}": b"x" for number in range(100)})
    fetch(git, ["room/a"])
    with pytest.raises(GitTooMuch):
        git.run("ls-tree", "-r", large)
    os.mkfifo(tmp_path / "never")
    with pytest.raises(GitTimedOut):
        git.run("hash-object", "--", str(tmp_path / "never"))


def test_a_fetch_that_brings_too_much_is_ended_and_leaves_nothing(
    tmp_path: Path, remote: BareRemote, environ: dict[str, str]
) -> None:
    remote.put_tree("room/a", remote.tree({"x": ("100644", remote.blob(os.urandom(3_000_000)))}))
    slow = tmp_path / "slow"  # the far end sends all but the end, then stays silent: what came by then is looked at
    slow.write_text('#!/bin/sh\n"$@" | { head -c 2000000; sleep 100; }\n')
    slow.chmod(0o755)
    (tmp_path / "gitconfig").write_text(f"[uploadpack]\n\tpackObjectsHook = {slow}\n")
    git = opened(tmp_path, remote, environ, Limits(fetch_bytes=1_000_000))
    git.user.path.write_text((tmp_path / "gitconfig").read_text())
    assert "more than 1000000 bytes" in fetch(git, ["room/a"])["room/a"].text
    assert not list((git.repository / "objects" / "pack").iterdir())


def test_a_folder_that_is_a_link_or_borrows_objects_is_refused(
    tmp_path: Path, remote: BareRemote, environ: dict[str, str]
) -> None:
    folder = opened(tmp_path, remote, environ).repository
    (folder / "objects" / "info").mkdir(exist_ok=True)
    (folder / "objects" / "info" / "alternates").write_text(str(remote.path / "objects"))
    with pytest.raises(UnsafeRepository, match="borrows"):
        opened(tmp_path, remote, environ)
    (folder / "objects" / "info" / "alternates").unlink()
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeRepository, match="not a folder"):
        opened(tmp_path, remote, environ)


def test_a_damaged_repository_is_set_aside_and_made_anew(
    tmp_path: Path, remote: BareRemote, environ: dict[str, str]
) -> None:
    git = opened(tmp_path, remote, environ)
    tip = remote.commit("room/a", {"rooms/a/x": b"x"})
    fetch(git, ["room/a"])
    for pack in (git.repository / "objects" / "pack").glob("*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(b"")
    with pytest.raises(GitFailed):
        git.run("log", tip, "--")
    assert set_aside(git.repository).name == "git.broken-1"
    assert fetch(opened(tmp_path, remote, environ), ["room/a"]) == {}


def test_without_git_the_next_step_is_said(tmp_path: Path, remote: BareRemote, environ: dict[str, str]) -> None:
    with pytest.raises(GitNotFound, match=r"install git|KOMNET_GIT"):
        opened(tmp_path, remote, environ | {"KOMNET_GIT": "no-such-git"})


def test_git_is_found_where_an_editor_forgot_to_set_the_path(
    tmp_path: Path, remote: BareRemote, environ: dict[str, str]
) -> None:
    git = opened(tmp_path, remote, environ | {"PATH": ""})
    assert heads(git) == {}
