"""The name of a session that was given none."""

import json
import os
from pathlib import Path

import pytest

from peerline.cli.hot_name import session_name


def repository(folder: Path, head: str) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text(head)
    return folder


def named(folder: Path, home: Path) -> str:
    return session_name({"CLAUDE_PROJECT_DIR": str(folder), "HOME": str(home)})


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("ref: refs/heads/main\n", "shop-main"),
        ("ref: refs/heads/feature/cart@2\n", "shop-feature-cart-2"),
        ("8d3f" * 10 + "\n", "shop"),
    ],
)
def test_it_is_the_repository_and_the_branch(tmp_path: Path, head: str, name: str) -> None:
    top = repository(tmp_path / "shop", head)
    (top / "src").mkdir()
    assert named(top, tmp_path) == named(top / "src", tmp_path) == name


@pytest.mark.parametrize(
    ("about", "name"),
    [
        ({"name": "Cart expert", "nameSource": "user"}, "Cart expert"),
        ({"name": "a/b", "nameSource": "user"}, "a-b"),
        ({"name": "shop-c1", "nameSource": "derived"}, "shop-main"),
        ({"name": "shop-c1"}, "shop-main"),
        ({"name": "Cart expert", "nameSource": "user", "sessionId": "another"}, "shop-main"),
        ({}, "shop-main"),
    ],
)
def test_a_name_that_the_user_gave_the_session_comes_first(tmp_path: Path, about: dict[str, str], name: str) -> None:
    top = repository(tmp_path / "shop", "ref: refs/heads/main\n")
    registry = tmp_path / "claude" / "sessions"
    registry.mkdir(parents=True)
    (registry / f"{os.getppid()}.json").write_text(json.dumps({"sessionId": "s-1"} | about))
    env = {"CLAUDE_CODE_SESSION_ID": "s-1", "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    assert session_name({"CLAUDE_PROJECT_DIR": str(top), "HOME": str(tmp_path)} | env) == name


def test_a_work_tree_is_called_after_its_repository_and_its_own_branch(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "ref: refs/heads/main\n")
    private = top / ".git" / "worktrees" / "fix"
    private.mkdir(parents=True)
    (private / "HEAD").write_text("ref: refs/heads/fix\n")
    (private / "commondir").write_text("../..\n")
    tree = tmp_path / "elsewhere"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {private}\n")
    assert named(tree, tmp_path) == "shop-fix"


def test_without_a_repository_it_is_the_folder_and_never_a_name_that_a_hub_refuses(tmp_path: Path) -> None:
    for folder, name in (("notes", "notes"), ("a@b/..c d", "..c d"), ("Admin", "Admin-agent"), ("x" * 80, "x" * 64)):
        (tmp_path / folder).mkdir(parents=True)
        assert named(tmp_path / folder, tmp_path) == name
