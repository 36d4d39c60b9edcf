"""Bare repositories that stand for a network's remote, and git as a stranger uses it: every object made by hand."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

STRANGER = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "mallory",
    "GIT_AUTHOR_EMAIL": "mallory@example.test",
    "GIT_COMMITTER_NAME": "mallory",
    "GIT_COMMITTER_EMAIL": "mallory@example.test",
}


class BareRemote:
    """A bare repository on this machine; `sh` is git on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        subprocess.run(["git", "init", "-q", "--bare", "--template=", str(path)], env=STRANGER, check=True)

    @property
    def url(self) -> str:
        return str(self.path)

    def sh(self, *words: str, data: bytes = b"", email: str | None = None) -> str:
        environ = STRANGER | ({"GIT_AUTHOR_EMAIL": email} if email else {})
        done = subprocess.run(
            ["git", f"--git-dir={self.path}", *words], env=environ, input=data, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def tip(self, branch: str) -> str:
        return self.sh("rev-parse", f"refs/heads/{branch}")

    def branches(self) -> set[str]:
        return set(self.sh("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split())

    def files(self, branch: str) -> dict[str, bytes]:
        listed = self.sh("ls-tree", "-r", "--name-only", f"refs/heads/{branch}").splitlines()
        return {name: self.show(branch, name) for name in listed}

    def show(self, branch: str, path: str) -> bytes:
        return subprocess.run(
            ["git", f"--git-dir={self.path}", "cat-file", "blob", f"refs/heads/{branch}:{path}"],
            env=STRANGER, capture_output=True, check=True,
        ).stdout  # fmt: skip

    def fsck(self) -> str:
        done = subprocess.run(
            ["git", f"--git-dir={self.path}", "fsck", "--full", "--strict"],
            env=STRANGER,
            capture_output=True,
            check=False,
        )
        lines = (done.stdout + done.stderr).decode().splitlines()
        return "\n".join(line for line in lines if not line.startswith(("dangling", "notice", "Checking")))

    def blob(self, data: bytes) -> str:
        return self.sh("hash-object", "-w", "--stdin", data=data)

    def tree(self, entries: Mapping[str, tuple[str, str]]) -> str:
        """`entries`: name to (mode, oid). Written raw, so that names git would refuse get in."""
        ordered = sorted(entries.items(), key=lambda e: e[0].encode() + (b"/" if e[1][0] == "40000" else b""))
        raw = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for name, (mode, oid) in ordered)
        return self.sh("hash-object", "-t", "tree", "-w", "--stdin", "--literally", data=raw)

    def nested(self, files: Mapping[str, tuple[str, str]]) -> str:
        """A tree of trees from slashed paths."""
        here: dict[str, tuple[str, str]] = {}
        below: dict[str, dict[str, tuple[str, str]]] = {}
        for path, entry in files.items():
            head, slash, rest = path.partition("/")
            if slash:
                below.setdefault(head, {})[rest] = entry
            else:
                here[head] = entry
        return self.tree(here | {head: ("40000", self.nested(rest)) for head, rest in below.items()})

    def commit(
        self, branch: str, files: Mapping[str, bytes | None], message: str = "by hand", email: str | None = None
    ) -> str:
        """Add, change or (None) delete files on a branch, like any client of git would."""
        index = self.path / "by-hand.index"
        environ = STRANGER | {"GIT_INDEX_FILE": str(index)} | ({"GIT_AUTHOR_EMAIL": email} if email else {})

        def run(*words: str, data: bytes = b"") -> str:
            done = subprocess.run(
                ["git", f"--git-dir={self.path}", *words], env=environ, input=data, capture_output=True, check=True
            )
            return done.stdout.decode().strip()

        parent = [self.tip(branch)] if branch in self.branches() else []
        run("read-tree", *(parent or ["--empty"]))
        lines = b"".join(
            b"0 %b\t%b\0" % (b"0" * 40, path.encode())
            if data is None
            else b"100644 %b\t%b\0" % (self.blob(data).encode(), path.encode())
            for path, data in files.items()
        )
        run("update-index", "-z", "--index-info", data=lines)
        tree = run("write-tree")
        made = run("commit-tree", tree, "-m", message, *(word for oid in parent for word in ("-p", oid)))
        run("update-ref", f"refs/heads/{branch}", made)
        index.unlink(missing_ok=True)
        return made

    def put_tree(self, branch: str, tree: str, message: str = "by hand", orphan: bool = False) -> str:
        """A commit with exactly this tree."""
        parent = [] if orphan or branch not in self.branches() else ["-p", self.tip(branch)]
        made = self.sh("commit-tree", tree, "-m", message, *parent)
        self.sh("update-ref", f"refs/heads/{branch}", made)
        return made

    def hook(self, name: str, script: str) -> None:
        folder = self.path / "hooks"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    def no_hook(self, name: str) -> None:
        (self.path / "hooks" / name).unlink()
