"""`kxm backup` and `kxm restore` around a real hub: nothing acknowledged is missing, nothing running is replaced."""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.cli.hub.shell import Operator
from tests.hub_process import Agent, HubProcess, Project


@pytest.fixture
def hub(start_hub: Callable[..., HubProcess]) -> HubProcess:
    return start_hub()


@pytest.fixture
def operator(hub: HubProcess) -> Operator:
    return Operator(hub.home)


@pytest.fixture
def lead(hub: HubProcess) -> Agent:
    project = Project(hub, "shop", hub.admin)
    project.register("reviewer")
    return project.register("lead")


def made(operator: Operator, *words: str) -> str:
    return str(operator.kxm("backup", "--json", *words).json["folder"])


def there(hub: HubProcess, lead: Agent, message: str) -> bool:
    """Whether the hub, started again, knows the message; the saved key is as old as the backup."""
    answer = lead.call("GET", f"/v1/messages/{message}")
    assert answer.status in (200, 404), answer.body
    return answer.status == 200


def test_what_was_accepted_before_a_backup_is_there_after_a_restore(
    hub: HubProcess, operator: Operator, lead: Agent
) -> None:
    before = lead.send("reviewer")["id"]
    folder = made(operator)
    after = lead.send("reviewer")["id"]
    hub.stop()
    ran = operator.kxm("restore", folder, "--force")
    assert ran.code == 0, ran.stderr
    assert "the replaced store is kept at " in ran.stdout
    hub.start()
    assert there(hub, lead, before)
    assert not there(hub, lead, after)


def test_backups_under_load_hold_everything_that_was_acknowledged_before_they_began(
    hub: HubProcess, operator: Operator, lead: Agent
) -> None:
    stop, sent = Event(), [lead.send("reviewer", allowOffline=True)["id"]]
    refused: list[bytes] = []

    def load() -> None:
        for _ in range(900):
            if stop.is_set():
                return
            answer = lead.try_send("reviewer", "x" * 2_000)
            if answer.status == 202:
                sent.append(answer.json["message"]["id"])
            else:
                refused.append(answer.body)

    sender = Thread(target=load)
    sender.start()
    backups = []
    try:
        for _ in range(3):
            acknowledged = len(sent)
            backups.append((made(operator), acknowledged))
    finally:
        stop.set()
        sender.join()
    assert refused == []
    assert len(sent) > 20
    for folder, acknowledged in backups:
        hub.stop()
        assert operator.kxm("restore", folder, "--force").code == 0
        hub.start()
        assert [one for one in sent[:acknowledged] if not there(hub, lead, one)] == []


def test_a_running_hubs_store_is_not_replaced_and_its_process_is_named(hub: HubProcess, operator: Operator) -> None:
    ran = operator.kxm("restore", made(operator), "--force")
    store = hub.storage
    detail = f"a hub runs on {store} (PID {hub.process.pid}); stop it first: kxm hub stop"
    assert ran.refusal == (1, "storage_held", detail)
    assert hub.call("GET", "/ready").status == 200


def test_a_store_is_not_replaced_unasked(hub: HubProcess, operator: Operator) -> None:
    folder = made(operator)
    hub.stop()
    code, error, detail = operator.kxm("restore", folder).refusal
    assert (code, error) == (2, "restore_would_replace")
    assert detail.endswith(f"kxm restore {folder} --force")


def test_a_dry_run_verifies_and_changes_nothing(hub: HubProcess, operator: Operator) -> None:
    folder = made(operator)
    hub.stop()
    before = Path(hub.storage).read_bytes()
    assert operator.kxm("restore", folder, "--force", "--dry-run").json["args"]["verified"] is True
    (Path(folder) / "kxm.db").write_bytes(b"damaged")
    code, error, detail = operator.kxm("restore", folder, "--force", "--dry-run").refusal
    assert (code, error) == (1, "restore_incomplete")
    assert detail.endswith("nothing was changed")
    assert Path(hub.storage).read_bytes() == before


def test_backups_lie_in_the_state_folder_or_where_they_are_wanted(operator: Operator, tmp_path: Path) -> None:
    assert Path(made(operator)).parent == operator.state / "backups"
    assert Path(made(operator, "--out", str(tmp_path / "else"))).parent == tmp_path / "else"


def test_without_a_store_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    operator = Operator(tmp_path / "home")
    code, error, detail = operator.kxm("backup").refusal
    assert (code, error) == (1, "backup_no_stores")
    assert detail.endswith("kxm hub start")
    assert operator.kxm("backup", KXM_DATA_PATH=":memory:").refusal[1] == "store_in_memory"


def test_a_place_that_cannot_be_written_is_named(operator: Operator, hub: HubProcess) -> None:
    (hub.home / "file").write_text("")
    code, error, detail = operator.kxm("backup", "--out", "file/backups").refusal
    assert (code, error) == (1, "backup_failed")
    assert str(hub.home / "file") in detail


def test_what_is_no_backup_is_refused(operator: Operator, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, error, detail = operator.kxm("restore", str(tmp_path / "empty")).refusal
    assert (code, error) == (1, "restore_incomplete")
    assert "this is no backup" in detail
