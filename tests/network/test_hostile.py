"""Repositories made to hurt: nothing is run, nothing is written outside, and everything else still syncs (R22, R23)."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.network.nodes import Node, founded, node
from tests.network.remotes import BareRemote
from tests.network.test_arrivals import file_of

Attack = Callable[[BareRemote, Path], None]


def _blob(remote: BareRemote, data: bytes = b"touch canary") -> tuple[str, str]:
    return "100644", remote.blob(data)


def _links(remote: BareRemote, canary: Path) -> None:
    path, _ = file_of("mallory", "x", "bert")
    remote.put_tree("room/evil", remote.nested({path: ("120000", remote.blob(str(canary).encode()))}))


def _submodule(remote: BareRemote, canary: Path) -> None:
    path, _ = file_of("mallory", "x", "bert")
    modules = f'[submodule "a"]\n\tpath = rooms\r\n\turl = ext::touch {canary}\n\tupdate = !touch {canary}\n'.encode()
    remote.put_tree(
        "room/evil",
        remote.tree(
            {
                ".gitmodules": _blob(remote, modules),
                "rooms": ("160000", "1" * 40),
                "x": ("40000", remote.nested({path: ("160000", "1" * 40)})),
            }
        ),
    )


def _room_as_link(remote: BareRemote, canary: Path) -> None:
    remote.put_tree("room/evil", remote.nested({"rooms/evil": ("120000", remote.blob(b"/etc"))}))


def _names(remote: BareRemote, canary: Path) -> None:
    hook = _blob(remote, f"#!/bin/sh\ntouch {canary}\n".encode())
    odd = {
        ".git": ("40000", remote.nested({"hooks/post-checkout": hook, "config": hook})),
        ".GIT": ("40000", remote.nested({"config": hook})),
        "GIT~1": ("40000", remote.nested({"config": hook})),
        ".git\u200c": ("40000", remote.nested({"config": hook})),
        "..": ("40000", remote.nested({"canary": hook})),
        ".": hook,
        "a\nb": hook,
        "-rf": hook,
        "con": hook,
        "A": hook,
        "a": hook,
    }
    remote.put_tree("room/evil", remote.tree(odd))


def _attributes(remote: BareRemote, canary: Path) -> None:
    text = f"* filter=evil diff=evil merge=evil ident text eol=crlf working-tree-encoding=UTF-16\n# {canary}\n".encode()
    remote.put_tree("room/evil", remote.tree({".gitattributes": _blob(remote, text), "x": _blob(remote)}))


def _long_path(remote: BareRemote, canary: Path) -> None:
    remote.put_tree("room/evil", remote.tree({"x" * 2_000_000: _blob(remote)}))


def _not_utf8(remote: BareRemote, canary: Path) -> None:
    oid = remote.blob(b"x")
    raw = b"100644 \xff\xfe.md\0" + bytes.fromhex(oid)
    remote.put_tree("room/evil", remote.sh("hash-object", "-t", "tree", "-w", "--stdin", "--literally", data=raw))


def _many_files(remote: BareRemote, canary: Path) -> None:
    oid = remote.blob(b"x")
    raw = b"".join(b"100644 %06d\0" % number + bytes.fromhex(oid) for number in range(100_000))
    remote.put_tree("room/evil", remote.sh("hash-object", "-t", "tree", "-w", "--stdin", data=raw))


def _large_files(remote: BareRemote, canary: Path) -> None:
    path, _ = file_of("mallory", "x", "bert")
    remote.commit("room/evil", {path: b"x" * 30_000_000})


def _lost_object(remote: BareRemote, canary: Path) -> None:
    remote.commit("room/evil", {"rooms/evil/x": b"lost for ever"})
    lost = remote.sh("rev-parse", "refs/heads/room/evil:rooms/evil/x")
    (remote.path / "objects" / lost[:2] / lost[2:]).unlink()


ATTACKS: tuple[Attack, ...] = (
    _links, _submodule, _room_as_link, _names, _attributes, _long_path, _not_utf8, _many_files, _large_files,
    _lost_object,
)  # fmt: skip


@pytest.fixture
def bert(tmp_path: Path, remote: BareRemote) -> Node:
    founded(remote, "anna", "bert", rooms=("build", "evil"))
    bert = node(tmp_path, remote, "bert", "build", "evil")
    bert.sync()
    return bert


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__.strip("_"))
def test_nothing_is_run_or_written_and_the_other_room_still_syncs(
    attack: Attack, bert: Node, tmp_path: Path, remote: BareRemote
) -> None:
    canary = tmp_path / "canary"
    attack(remote, canary)
    anna = node(tmp_path, remote, "anna", "build")
    anna.sync()
    anna.send("all well", "bert")
    outside = set(tmp_path.iterdir())
    bert.engine.sync()
    assert bert.inbox() == ["all well"]
    assert not canary.exists()
    assert set(tmp_path.iterdir()) == outside
    assert not [path for path in (bert.folder / "networks").rglob("*") if path.is_symlink()]


def test_a_room_with_odd_names_in_it_can_still_be_read_and_written(
    bert: Node, tmp_path: Path, remote: BareRemote
) -> None:
    _names(remote, tmp_path / "canary")
    assert bert.engine.sync().failed is None
    assert bert.send("still here", room="evil").delivery == "pushed"
    assert [one.post.body for one in bert.engine.read("evil")] == ["still here\n"]


def test_a_room_that_cannot_be_fetched_is_named_and_the_sync_does_not_count(bert: Node, remote: BareRemote) -> None:
    _lost_object(remote, Path("/nonexistent"))
    report = bert.engine.sync()
    assert list(report.troubles) == ["room/evil"]
    assert bert.engine.health().degraded
    assert {view.room.id: view.trouble is None for view in bert.engine.rooms()} == {"build": True, "evil": False}


@pytest.mark.parametrize("each", [1_000, pytest.param(5_000, marks=pytest.mark.slow)])
def test_thousands_of_foreign_rooms_and_refs_are_only_noted(bert: Node, remote: BareRemote, each: int) -> None:
    tip = remote.tip("room/build")
    lines = [f"create refs/heads/room/r{number} {tip}" for number in range(each)]
    lines += [f"create refs/heads/other/{number} {tip}" for number in range(each)]
    lines += [f"create refs/tags/t{number} {tip}" for number in range(each)]
    lines += [f"create refs/heads/room/{name} {tip}" for name in ("Build", "BUILD", "a..b".replace("..", "_"), "-x")]
    remote.sh("update-ref", "--stdin", data="\n".join(lines).encode() + b"\n")
    remote.sh("pack-refs", "--all")
    report = bert.engine.sync()
    assert report.failed is None
    assert len([one for one in report.discovered if one.state == "appeared"]) == each
    assert not (bert.folder / "networks" / "net" / "git" / "packed-refs").exists()


@pytest.mark.slow
def test_memory_stays_bounded_over_many_large_posts(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert", rooms=("build", "evil"))
    for _ in range(4):
        files: dict[str, bytes | None] = dict(
            file_of("mallory", "y" * 250_000, "bert", room="evil") for _ in range(100)
        )
        files |= {file_of("mallory", "x", room="evil")[0]: os.urandom(3_000_000)}
        remote.commit("room/evil", files)
    script = (
        "import sys, resource; from pathlib import Path\n"
        "from tests.network.nodes import node\n"
        "bert = node(Path(sys.argv[1]), sys.argv[2], 'bert', 'build', 'evil')\n"
        "report = bert.engine.sync()\n"
        "assert report.failed is None and len(report.delivered) == 400, report\n"
        "print(*(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), remote.url], capture_output=True, text=True, check=True
    )
    ours, gits = map(int, ran.stdout.split())
    assert max(ours, gits) < 300_000  # KiB


@pytest.mark.skipif(not Path("/usr/bin/strace").exists(), reason="needs strace")
def test_no_program_but_git_is_started(bert: Node, tmp_path: Path, remote: BareRemote) -> None:
    for attack in (_submodule, _names, _attributes):
        attack(remote, tmp_path / "canary")
    remote.hook("post-update", f"touch {tmp_path / 'remotes-own'}")
    log = tmp_path / "log"
    script = (
        "import sys; from pathlib import Path; from tests.network.nodes import node\n"
        "bert = node(Path(sys.argv[1]), sys.argv[2], 'bert', 'build', 'evil')\n"
        "bert.engine.sync(); print(bert.send('x', 'anna', room='build').delivery)"
    )
    traced = ["strace", "-f", "-qq", "-e", "trace=execve", "-o", str(log)]
    ran = subprocess.run(
        [*traced, sys.executable, "-c", script, str(tmp_path), remote.url], capture_output=True, text=True, check=False
    )
    if "PTRACE" in ran.stderr or "Operation not permitted" in ran.stderr:
        pytest.skip("strace may not trace here")
    assert ran.stdout.strip() == "pushed"
    started = {
        line.split('execve("', 1)[1].split('"', 1)[0] for line in log.read_text().splitlines() if line.endswith(" = 0")
    }
    allowed = {
        sys.executable,
        str(remote.path / "hooks" / "post-update"),
        "hooks/post-update",
        "/bin/sh",
        "/usr/bin/touch",
    }
    assert {one for one in started if not Path(one).name.startswith("git") and one not in allowed} <= {
        one for one in started if Path(one).name.startswith("python")
    }
    assert not (tmp_path / "canary").exists()
