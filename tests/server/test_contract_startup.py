"""A start that must be refused is refused: one line, no traceback, no credentials left (spec/hub.md 3.4, 6.3)."""

import json
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hub_process import KXM, PATIENCE_S, HubProcess, environment


def refused(home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [*KXM, "hub", "start"],
        env=environment(home, **{"KXM_PORT": "0", **variables}),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode in (1, 2), ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    assert "listening" not in ran.stdout
    assert not (home / "state" / "hub-env.json").exists()
    return ran


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "hub.example"])
def test_a_bind_beyond_localhost_needs_an_admin_token(tmp_path: Path, host: str) -> None:
    ran = refused(tmp_path, KXM_HOST=host)
    assert "KXM_AUTH_TOKEN is required when binding beyond localhost" in ran.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("KXM_MESSAGE_TTL_MS", "999"),
        ("KXM_MESSAGE_RETENTION_MS", "999"),
        ("KXM_RATE_LIMIT_MAX", "0"),
        ("KXM_RATE_LIMIT_WINDOW_MS", "99"),
        ("KXM_PORT", "65536"),
        ("KXM_PORT", "http"),
        ("KXM_PROJECT_TOKENS", "[]"),
        ("KXM_PROJECT_TOKENS", "{"),
        ("KXM_STATE_HOME", "relative/folder"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(tmp_path: Path, variable: str, value: str) -> None:
    ran = refused(tmp_path, **{variable: value})
    assert variable in ran.stderr or "local_state_root_not_absolute" in ran.stderr


def test_a_saved_credentials_file_that_is_no_json_is_refused_and_kept(tmp_path: Path) -> None:
    saved = tmp_path / "state" / "hub-env.json"
    saved.parent.mkdir(mode=0o700)
    saved.write_text("{broken", encoding="utf-8")
    saved.chmod(0o600)
    ran = subprocess.run(
        [*KXM, "hub", "start"], env=environment(tmp_path, KXM_PORT="0"), cwd=tmp_path, capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert ran.returncode in (1, 2)
    assert "hub-env.json" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert saved.read_text(encoding="utf-8") == "{broken"


@pytest.mark.requirement("MSG-SETUP-HUB-START")
def test_a_first_start_makes_and_saves_an_admin_token_and_a_later_one_keeps_it(
    start_hub: Callable[..., HubProcess],
) -> None:
    hub = start_hub(KXM_AUTH_TOKEN="")
    saved = hub.home / "state" / "hub-env.json"
    first = json.loads(saved.read_text(encoding="utf-8"))
    assert first["schema"] == "kxm.hub-env.v1"
    assert first["authToken"].startswith("kxm_admin_")
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert stat.S_IMODE(saved.parent.stat().st_mode) == 0o700
    hub.stop()
    said = "\n".join(hub.lines) + hub.errors
    assert "using newly generated KXM_AUTH_TOKEN from" in said
    assert first["authToken"] not in said
    hub.start()
    assert json.loads(saved.read_text(encoding="utf-8"))["authToken"] == first["authToken"]
    headers = {"authorization": f"Bearer {first['authToken']}"}
    assert hub.call("GET", "/metrics", headers=headers).status == 200


@pytest.mark.requirement("MSG-SETUP-HUB-START", "MSG-STORE-SQLITE")
def test_the_first_line_says_where_the_hub_listens_and_stores(hub_process: HubProcess) -> None:
    assert hub_process.lines[0] == f"kxm hub listening at {hub_process.url}; storage={hub_process.storage}; auth=token"
    assert Path(hub_process.storage).read_bytes().startswith(b"SQLite format 3\0")
    assert stat.S_IMODE(Path(hub_process.storage).stat().st_mode) == 0o600


def test_a_hub_in_memory_says_so(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub(KXM_DATA_PATH=":memory:")
    assert hub.call("GET", "/ready").json["storage"] == "memory"
    assert hub.storage == ":memory:"


def test_the_log_shows_no_body_and_no_secret(start_hub: Callable[..., HubProcess]) -> None:
    from tests.conftest import fresh_project

    hub = start_hub()
    project = fresh_project(hub)
    lead, reviewer = project.register("lead"), project.register("reviewer")
    message = lead.send("reviewer", "canary-in-the-request")["id"]
    reviewer.reply(message, "canary-in-the-reply")
    lead.try_send("nobody", "canary-in-the-refused")
    hub.stop()
    logs = "".join(path.read_text(encoding="utf-8") for path in hub.home.rglob("*.jsonl"))
    for text in ("\n".join(hub.lines), hub.errors, logs):
        assert "canary" not in text
        assert hub.admin not in text
        assert lead.key not in text
