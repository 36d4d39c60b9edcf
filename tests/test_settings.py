"""Settings come from variables, are checked there, and say which one is wrong."""

from dataclasses import fields
from pathlib import Path

import pytest

from peerline.core.errors import Invalid
from peerline.settings import AgentSettings, HubSettings

HOME = {"HOME": "/h", "KXM_STATE_HOME": "/s"}


def hub(folder: Path, **env: str) -> HubSettings:
    return HubSettings.from_env({**HOME, **env}, folder=folder)


def test_an_empty_environment_gives_the_contracts_defaults(tmp_path: Path) -> None:
    settings = hub(tmp_path)
    assert (settings.host, settings.port, settings.data_path) == ("127.0.0.1", 7331, "/s/kxm.db")
    assert settings.log_path == "/s/logs/kxm-hub.jsonl"
    assert (settings.message_ttl_ms, settings.message_retention_ms) == (86_400_000, 604_800_000)
    assert (settings.rate_limit_max, settings.rate_limit_window_ms, settings.queue_limit) == (600, 60_000, 1_000)
    assert (settings.stale_after_ms, settings.sweep_interval_ms) == (30_000, 10_000)
    assert settings.loopback


def test_blank_values_are_as_if_they_were_not_there(tmp_path: Path) -> None:
    assert hub(tmp_path, KXM_PORT=" ", KXM_HOST="", KXM_DATA_PATH="") == hub(tmp_path)


def test_values_are_read_by_their_kind(tmp_path: Path) -> None:
    settings = hub(
        tmp_path,
        KXM_PORT="0",
        KXM_PROJECT_TOKENS='{"demo":"t"}',
        KXM_ALLOWED_HOSTS="Hub.example.com, hub:80,",
        KXM_DAEMON="true",
        KXM_DATA_PATH=":memory:",
    )
    assert (settings.port, settings.project_tokens, settings.daemon) == (0, {"demo": "t"}, True)
    assert (settings.allowed_hosts, settings.data_path) == (("hub.example.com", "hub:80"), ":memory:")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("KXM_PORT", "65536"),
        ("KXM_PORT", "-1"),
        ("KXM_PORT", "7_331"),
        ("KXM_PORT", "7331.0"),
        ("KXM_PORT", "٧"),
        ("KXM_MESSAGE_TTL_MS", "999"),
        ("KXM_MESSAGE_TTL_MS", "604800001"),
        ("KXM_MESSAGE_RETENTION_MS", "999"),
        ("KXM_RATE_LIMIT_MAX", "0"),
        ("KXM_RATE_LIMIT_WINDOW_MS", "99"),
        ("KXM_QUEUE_LIMIT", "9" * 30),
        ("KXM_PROJECT_TOKENS", "[]"),
        ("KXM_PROJECT_TOKENS", "{"),
        ("KXM_PROJECT_TOKENS", '{"demo":""}'),
        ("KXM_PROJECT_TOKENS", '{"demo":1}'),
        ("KXM_DAEMON", "perhaps"),
        ("KXM_HTTP", "http3"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_variable(
    variable: str, value: str, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match=rf"^{variable} must be "):
        hub(tmp_path, **{variable: value})


def test_a_relative_state_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"^KXM_STATE_HOME must be an absolute path$"):
        hub(tmp_path, KXM_STATE_HOME="state")


def test_a_workspace_that_exists_holds_data_and_log(tmp_path: Path) -> None:
    (tmp_path / ".kxm").mkdir()
    settings = hub(tmp_path)
    assert (settings.data_path, settings.log_path) == (
        f"{tmp_path}/.kxm/state/kxm.db",
        f"{tmp_path}/.kxm/logs/kxm-hub.jsonl",
    )
    assert hub(tmp_path, KXM_WORKSPACE_DIR="elsewhere").data_path == "/s/kxm.db"
    assert hub(tmp_path, KXM_STATE_DIR="/d", KXM_LOGS_DIR="/l").data_path == "/d/kxm.db"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *((host, True) for host in ("127.0.0.1", "127.3.4.5", "localhost", "::1", "[::1]")),
        *((host, False) for host in ("0.0.0.0", "::", "192.168.1.5", "127.example.com")),
    ],
)
def test_loopback_is_this_machine(host: str, loopback: bool, tmp_path: Path) -> None:
    assert hub(tmp_path, KXM_HOST=host).loopback is loopback


def test_secrets_never_show_in_a_repr(tmp_path: Path) -> None:
    settings = hub(tmp_path, KXM_AUTH_TOKEN="s3cret", KXM_PROJECT_TOKENS='{"demo":"s3cret"}')
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in repr(AgentSettings.from_env({**HOME, "KXM_AUTH_TOKEN": "s3cret"}))


def test_every_setting_has_a_variable_of_its_own_and_a_meaning() -> None:
    for kind in (HubSettings, AgentSettings):
        about = [each.metadata for each in fields(kind) if each.metadata]
        assert len({each["var"] for each in about}) == len(about)
        assert all(each["meaning"].endswith(".") for each in about)
