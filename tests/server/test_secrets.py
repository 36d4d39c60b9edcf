"""Marked secrets and texts go through a hub and are then looked for everywhere: files, log, answers, processes."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hub_process import KXM, HubProcess, Project

ADMIN = "canary-admin-4f1c9a7de2"
TOKEN = "canary-project-8b2e61c0aa"
WRONG = "canary-wrong-31d7705bcf"
BODY, REPLY, NOTE = "canary-body-90aa51", "canary-reply-17c3f8", "canary-note-6db204"
MALFORMED = "canary-malformed-22e9"


@pytest.fixture
def hub(start_hub: Callable[..., HubProcess]) -> HubProcess:
    return start_hub(KXM_AUTH_TOKEN=ADMIN, KXM_PROJECT_TOKENS=json.dumps({"listed": TOKEN}))


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_socket()
    }


def where(folder: Path, marker: str) -> set[str]:
    return {name for name, content in bytes_of(folder).items() if marker.encode() in content}


def command_lines() -> str:
    lines = (content.replace(b"\0", b" ").decode("utf-8", "replace") for content in readable("/proc/[0-9]*/cmdline"))
    return "\n".join(lines)


def readable(pattern: str) -> list[bytes]:
    found = []
    for path in Path("/").glob(pattern.removeprefix("/")):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue  # ended meanwhile
    return found


def test_secrets_and_texts_are_only_where_they_belong(hub: HubProcess) -> None:
    project = Project(hub, "listed", TOKEN)
    lead, reviewer, third = project.register("lead"), project.register("reviewer"), project.register("third")
    made = hub.admin_call("POST", "/v1/projects/listed/tokens", {"label": "ci"}).json
    with reviewer.stream():
        message = lead.send("reviewer", BODY)["id"]
        assert reviewer.call("POST", f"/v1/messages/{message}/notes", {"content": NOTE}).status == 201
        reviewer.reply(message, REPLY)
    lead.send("reviewer", BODY)
    peer = subprocess.run(
        [*KXM, "peer", "send", "reviewer", "-", "--as", "shell", "--server", hub.url, "--project", "listed"],
        env={**hub.environment, "KXM_AUTH_TOKEN": TOKEN},
        input=BODY.encode(),
        capture_output=True,
        check=True,
    )
    # What goes wrong is logged; it must not be quoted.
    answers = [
        hub.call("GET", "/metrics", headers={"authorization": f"Bearer {WRONG}"}),
        hub.call("POST", "/v1/messages", {"target": "x"}, {**lead.headers, "x-kxm-agent-key": WRONG}),
        hub.call("POST", "/v1/messages", b'{"content": "' + MALFORMED.encode(), lead.headers),
        lead.try_send("reviewer", BODY, delivery=MALFORMED),
        third.call("GET", f"/v1/messages/{message}"),
        third.call("GET", "/v1/agents?includeOffline=true"),
        hub.call("GET", f"/v1/{MALFORMED}"),
        hub.admin_call("GET", "/metrics"),
        hub.admin_call("GET", "/v1/ops/snapshot?project=listed"),
        hub.admin_call("GET", "/v1/projects/listed/tokens"),
        hub.call("GET", "/openapi.json"),
        hub.call("GET", "/health"),
    ]
    secrets = (ADMIN, TOKEN, WRONG, made["secret"], lead.key, reviewer.key)
    texts = (BODY, REPLY, NOTE)
    said = b"".join(answer.body for answer in answers) + peer.stdout + peer.stderr
    assert [one for one in (*secrets, *texts, MALFORMED) if one.encode() in said] == []

    processes = command_lines()
    assert "hub start" in processes
    assert [one for one in (*secrets, *texts, MALFORMED) if one in processes] == []

    store = {name for name in bytes_of(hub.home) if name.startswith("state/kxm.db")}
    for text in texts:
        assert where(hub.home, text) != set()
        assert where(hub.home, text) <= store
    for secret in (WRONG, made["secret"], lead.key, reviewer.key, MALFORMED):
        assert where(hub.home, secret) == set()
    for secret in (ADMIN, TOKEN):
        assert where(hub.home, secret) == {"state/hub-env.json"}
    assert (hub.home / "state/hub-env.json").stat().st_mode & 0o777 == 0o600

    hub.stop()
    said_by_the_hub = "\n".join(hub.lines) + hub.errors
    assert "security_alert" in said_by_the_hub
    assert [one for one in (*secrets, *texts, MALFORMED) if one in said_by_the_hub] == []


def test_every_line_of_the_log_is_json_with_the_contracts_members(hub: HubProcess) -> None:
    project = Project(hub, "listed", TOKEN)
    lead, reviewer = project.register("lead"), project.register("reviewer")
    reviewer.reply(lead.send("reviewer", BODY)["id"])
    hub.stop()
    lines = [json.loads(line) for line in (hub.home / "state/logs/kxm-hub.jsonl").read_text().splitlines()]
    assert all({"timestamp", "level", "component", "event"} <= set(line) for line in lines)
    events = [line["event"] for line in lines]
    assert {"hub_started", "agent_registered", "message_sent", "message_replied", "hub_stopping"} <= set(events)
    assert next(line for line in lines if line["event"] == "message_sent")["fromName"] == "lead"


def test_the_saved_secrets_of_the_command_line_are_private(hub: HubProcess) -> None:
    subprocess.run(
        [*KXM, "peer", "list", "--as", "shell", "--server", hub.url, "--project", "unlisted"],
        env={name: value for name, value in hub.environment.items() if name != "KXM_AUTH_TOKEN"},
        capture_output=True,
        check=True,
    )
    saved = [hub.home / "state/local-tokens.json", *(hub.home / "state/agents").glob("*.key")]
    assert len(saved) == 2
    assert {path.stat().st_mode & 0o777 for path in saved} == {0o600}
    token = json.loads(saved[0].read_bytes())["hubs"][hub.url]["unlisted"]
    assert where(hub.home, token) == {"state/local-tokens.json"}
