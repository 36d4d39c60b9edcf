"""`kxm hub token` as an operator types it, against a hub of this machine."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.hub.shell import Operator, Ran
from tests.hub_process import HubProcess, Project

SECRET = re.compile(r"kxm_project_[0-9a-f]{64}\n")
Kxm = Callable[..., Ran]


@pytest.fixture
def hub(start_hub: Callable[..., HubProcess]) -> HubProcess:
    return start_hub()


@pytest.fixture
def token(hub: HubProcess) -> Kxm:
    """`kxm hub token ...` by the user who runs the hub: the saved admin token is found."""

    def run(*words: str, **variables: str) -> Ran:
        return Operator(hub.home).hub("token", *words, **{"KXM_SERVER_URL": hub.url} | variables)

    return run


def created(token: Kxm, *words: str) -> tuple[str, str]:
    """Id and secret of a new token of `shop`."""
    answer = token("create", "--project", "shop", "--json", *words).json
    return answer["token"]["id"], answer["secret"]


def opens(hub: HubProcess, secret: str, name: str) -> bool:
    return Project(hub, "shop", secret).try_register(name).status == 201


def test_create_prints_the_secret_alone_so_that_a_variable_can_take_it(hub: HubProcess, token: Kxm) -> None:
    ran = token("create", "--project", "shop", "--label", "ci")
    assert ran.code == 0
    assert SECRET.fullmatch(ran.stdout)
    assert opens(hub, ran.stdout.strip(), "one")
    assert "it is not shown again" in ran.stderr
    assert "shop now takes only its own tokens" in ran.stderr


def test_only_the_first_token_is_said_to_close_the_project(token: Kxm) -> None:
    assert "now takes only its own" in token("create", "--project", "shop").stderr
    assert "now takes only its own" not in token("create", "--project", "shop").stderr


def test_list_shows_states_and_never_a_secret(token: Kxm) -> None:
    assert token("list", "--project", "shop").stdout.startswith("project shop: no tokens\n")
    first, secret = created(token, "--label", "ci", "--ttl", "90d")
    token("revoke", first, "--project", "shop")
    text = token("list", "--project", "shop").stdout
    assert f"{first}  revoked since " in text
    assert "  ci\n" in text
    assert secret not in text
    assert "the admin token opens shop too" in text


def test_rotate_leaves_two_that_are_valid_and_revoke_ends_one_now(hub: HubProcess, token: Kxm) -> None:
    first, secret = created(token)
    ran = token("rotate", first, "--project", "shop", "--grace", "1h")
    assert SECRET.fullmatch(ran.stdout)
    assert f"the old one, {first}, stays valid until " in ran.stderr
    assert opens(hub, secret, "one")
    assert opens(hub, ran.stdout.strip(), "two")
    assert token("revoke", first, "--project", "shop").code == 0
    assert not opens(hub, secret, "three")


def test_rotate_without_grace_says_that_the_old_one_ended(token: Kxm) -> None:
    first, _ = created(token)
    assert "ended at once" in token("rotate", first, "--project", "shop", "--grace", "0").stderr


def test_the_project_is_the_folders_when_none_is_named(hub: HubProcess, token: Kxm) -> None:
    assert token("list").stdout.startswith(f"project {hub.home.name}: ")
    assert token("list", KXM_PROJECT="named").stdout.startswith("project named: ")


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (("create", "--ttl", "5x"), "--ttl: not a valid time such as 30s, 15m, 24h or 90d"),
        (("rotate", "kxm_project_abc"), "TOKEN_ID is the id that list shows (tok_…), not the token itself"),
        (("revoke", "tok_1/../x"), "TOKEN_ID is the id that list shows (tok_…), not the token itself"),
        (("revoke",), "Missing argument 'TOKEN_ID'."),
    ],
)
def test_what_is_typed_wrongly_is_refused_before_the_hub_is_asked(
    token: Kxm, words: tuple[str, ...], detail: str
) -> None:
    assert token(*words, KXM_SERVER_URL="http://127.0.0.1:1").refusal == (2, "usage_error", detail)


def test_an_unknown_id_is_named_so(token: Kxm) -> None:
    ran = token("revoke", "tok_" + "0" * 32, "--project", "shop")
    assert ran.refusal == (1, "command_failed", "the project has no token of that id")


def test_a_wrong_admin_token_is_explained(hub: HubProcess, token: Kxm) -> None:
    code, _, detail = token("list", KXM_AUTH_TOKEN="a-projects-token").refusal
    assert code == 1
    assert detail == (
        f"the hub at {hub.url} does not take KXM_AUTH_TOKEN as its admin token;"
        " unset it to use the one saved on this machine"
    )


def test_the_saved_admin_token_goes_to_no_other_machine(token: Kxm) -> None:
    # 192.0.2.0/24 is nobody's; the refusal comes before anything is connected.
    ran = token("list", KXM_SERVER_URL="http://192.0.2.1:7331")
    assert ran.refusal[:2] == (2, "admin_token_missing")


def test_without_a_hub_the_next_command_is_named(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    ran = operator.hub("token", "list", KXM_SERVER_URL="http://127.0.0.1:1", KXM_AUTH_TOKEN="x" * 20)
    assert ran.refusal[0] == 1
    assert ran.refusal[2].endswith("start it with: kxm hub start")


def test_a_dry_run_asks_nobody_and_prints_no_secret(token: Kxm) -> None:
    ran = token("create", "--project", "shop", "--dry-run", KXM_SERVER_URL="http://127.0.0.1:1")
    assert ran.json["args"] == {"project": "shop"}
