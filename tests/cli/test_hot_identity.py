"""Who a command acts as, worked out from options, environment and machine."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from peerline.cli.hot_identity import Caller, keep, project_of, read_object
from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import key_path, private_write, sha256_hex, socket_path, state_root


def git(folder: Path, *words: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": str(folder)}
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
    env = {"PATH": os.environ["PATH"], **own}
    subprocess.run(["git", *who, *words], cwd=folder, env=env, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def named(folder: Path, **env: str) -> str:
    return project_of({"KXM_WORKDIR": str(folder), **env})


def test_a_folder_without_a_repository_is_its_own_project(tmp_path: Path) -> None:
    assert named(tmp_path) == tmp_path.name


def test_a_folder_inside_a_repository_belongs_to_it(tmp_path: Path) -> None:
    inside = repository(tmp_path / "shop") / "src" / "deep"
    inside.mkdir(parents=True)
    assert named(inside) == "shop"


def test_a_work_tree_belongs_to_the_repository_that_it_is_a_tree_of(tmp_path: Path) -> None:
    git(repository(tmp_path / "shop"), "worktree", "add", str(tmp_path / "fix-checkout"))
    inside = tmp_path / "fix-checkout" / "src"
    inside.mkdir()
    assert {named(tmp_path / "fix-checkout"), named(inside)} == {"shop"}


def test_a_work_tree_of_a_bare_repository_is_named_after_it(tmp_path: Path) -> None:
    git(tmp_path, "clone", "--bare", str(repository(tmp_path / "origin")), "shop.git")
    git(tmp_path / "shop.git", "worktree", "add", str(tmp_path / "fix-checkout"))
    assert named(tmp_path / "fix-checkout") == "shop"


def test_a_submodule_is_its_own_project(tmp_path: Path) -> None:
    part = repository(tmp_path / "part")
    shop = repository(tmp_path / "shop")
    git(shop, "-c", "protocol.file.allow=always", "submodule", "add", str(part), "parts")
    assert named(shop / "parts") == "parts"


def test_package_json_names_the_project_first(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    (top / "package.json").write_text('{"name": " @acme/shop "}')
    (top / "src").mkdir()
    assert {named(top), named(top / "src")} == {"@acme/shop"}
    (top / "src" / "package.json").write_text('{"name": "inner"}')
    assert named(top / "src") == "inner"


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"name": 1}', '{"name": " "}', "\xff"])
def test_a_package_json_without_a_name_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "package.json").write_bytes(text.encode("latin-1"))
    assert named(tmp_path) == tmp_path.name


def test_a_home_folder_under_version_control_is_nobodys_project(tmp_path: Path) -> None:
    home = repository(tmp_path / "home")
    (home / "notes").mkdir()
    assert named(home / "notes", HOME=str(home)) == "notes"


def test_a_relative_state_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure) as caught:
        Caller({"KXM_STATE_HOME": "state", "KXM_PROJECT": "p"}, {})
    assert (caught.value.error, caught.value.exit_code) == ("local_state_root_not_absolute", 2)


def test_the_state_folder_follows_the_variables_in_order(tmp_path: Path) -> None:
    home = {"HOME": "/h"}
    assert state_root({**home, "XDG_STATE_HOME": "/x", "KXM_STATE_HOME": "/k"}) == "/k"
    if os.uname().sysname == "Linux":
        assert state_root({**home, "XDG_STATE_HOME": "/x"}) == "/x/kxm"
        assert state_root({**home, "XDG_STATE_HOME": "relative"}) == "/h/.local/state/kxm"


def test_a_socket_path_that_the_system_could_not_take_is_shortened_the_same_way_each_time(tmp_path: Path) -> None:
    deep = {"KXM_STATE_HOME": "/" + "d" * 120, "XDG_RUNTIME_DIR": "/run/user/7"}
    assert socket_path({"KXM_STATE_HOME": "/s"}, 7331) == "/s/hub-7331.sock"
    assert socket_path(deep, 7331) == socket_path(deep, 7331)
    assert socket_path(deep, 7331).startswith("/run/user/7/kxm/")
    for env in (deep, {**deep, "XDG_RUNTIME_DIR": "/" + "r" * 120}, {"KXM_STATE_HOME": "/" + "ä" * 60}):
        assert len(os.fsencode(socket_path(env, 65_535))) <= 100
    assert socket_path({**deep, "KXM_SOCKET_PATH": "/own"}, 1) == "/own"


def test_a_key_belongs_to_hub_project_and_name_in_any_case(tmp_path: Path) -> None:
    env = {"KXM_STATE_HOME": str(tmp_path)}
    path = key_path(env, "http://h", "p", "Lead")
    assert path == key_path(env, "http://h/", "p", "lead")
    others = {
        key_path(env, *who) for who in (("http://i", "p", "lead"), ("http://h", "q", "lead"), ("http://h", "p", "x"))
    }
    assert len(others | {path}) == 4


def test_the_hash_is_sha256() -> None:
    assert sha256_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_saved_file_is_this_users_alone_and_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "state" / "agents" / "a.key"
    keep(str(path), {"agentKey": "k1"})
    keep(str(path), {"agentKey": "k2"})
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert read_object(str(path)) == {"agentKey": "k2"}
    assert [kept.name for kept in path.parent.iterdir()] == ["a.key"]


def test_a_link_in_the_place_of_a_saved_file_is_replaced_and_never_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text('{"agentKey":"x"}')
    (tmp_path / "a.key").symlink_to(victim)
    assert read_object(str(tmp_path / "a.key")) == {}
    private_write(str(tmp_path / "a.key"), b"{}")
    assert victim.read_text() == '{"agentKey":"x"}'
    assert not (tmp_path / "a.key").is_symlink()


def test_a_file_that_others_can_write_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "hub-env.json"
    path.write_text('{"projectTokens":{"p":"t"}}')
    path.chmod(0o666)
    assert read_object(str(path)) == {}


def test_a_state_folder_that_cannot_be_written_costs_no_command(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    keep(str(tmp_path / "file" / "agents" / "a.key"), {"agentKey": "k"})
    assert (tmp_path / "file").read_text() == ""


class Machine:
    """A state folder, filled as a test wants it."""

    def __init__(self, root: Path, **env: str) -> None:
        self.root = root
        self.env = {"KXM_STATE_HOME": str(root), "KXM_PROJECT": "p", "HOME": str(root), **env}

    def save(self, name: str, value: object) -> "Machine":
        private_write(str(self.root / name), json.dumps(value).encode())
        return self

    def caller(self, **common: str) -> Caller:
        return Caller(self.env, {f"--{name}": value for name, value in common.items()})


@pytest.mark.requirement("MSG-SETUP-SERVER-URL")
def test_the_hub_is_the_option_then_the_variable_then_the_binding_then_the_default(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.caller().address.url == "http://127.0.0.1:7331"
    machine.save("hub-binding.json", {"url": "https://bound"})
    assert machine.caller().address.url == "https://bound"
    machine.env["KXM_SERVER_URL"] = "http://variable/"
    assert machine.caller().address.url == "http://variable"
    assert machine.caller(server="http://option").address.url == "http://option"


@pytest.mark.requirement("MSG-SETUP-CLI-TOKEN")
def test_the_token_is_the_variable_then_the_saved_one_then_the_minted_one(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.save("local-tokens.json", {"hubs": {"http://127.0.0.1:7331": {"p": "minted", "q": "other"}}})
    assert machine.caller().token() == "minted"
    machine.save("hub-env.json", {"authToken": "admin", "projectTokens": {"p": "saved"}})
    assert machine.caller().token() == "saved"
    machine.env["KXM_AUTH_TOKEN"] = " variable\n"
    assert machine.caller().token() == "variable"


@pytest.mark.requirement("MSG-SETUP-CLI-TOKEN")
def test_without_any_token_for_a_hub_elsewhere_the_command_is_refused_and_the_admins_is_not_borrowed(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path, KXM_SERVER_URL="http://hub.invalid").save("hub-env.json", {"authToken": "admin"})
    with pytest.raises(Failure) as caught:
        machine.caller().token()
    assert (caught.value.error, caught.value.exit_code) == ("project_token_missing", 2)
    assert caught.value.beside == {"nextAction": "export_kxm_auth_token"}


@pytest.mark.parametrize("token", ["a b", "a\nX-Evil: 1", "tökén"])
def test_a_token_that_no_header_can_hold_is_refused_without_repeating_it(tmp_path: Path, token: str) -> None:
    with pytest.raises(Failure, match=r"^KXM_AUTH_TOKEN holds") as caught:
        Machine(tmp_path, KXM_AUTH_TOKEN=token).caller().token()
    assert token not in caught.value.detail


@pytest.mark.requirement("MSG-CLI-DEFAULT-NAME", "MSG-SETUP-CLI-NAME")
def test_the_name_is_the_option_then_the_variable_then_cli_and_the_process_number(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.caller().name == f"cli-{os.getpid()}"
    machine.env["KXM_AGENT_NAME"] = "lead"
    assert machine.caller().name == "lead"
    assert machine.caller(**{"as": "other"}).name == "other"


def test_an_agent_without_a_name_of_its_own_keeps_no_key(tmp_path: Path) -> None:
    Machine(tmp_path).caller().keep_key("agt_1", "key_1", None)
    assert list(tmp_path.iterdir()) == []
