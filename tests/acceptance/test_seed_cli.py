"""«Receive and reply», «Use the CLI as an agent», «Errors worth knowing» and the troubleshooting rows, as printed."""

import json
import re
import socket

import pytest

from tests.acceptance.conftest import ShellMaker
from tests.acceptance.shell import Shell
from tests.hub_process import Agent, Project

SOUND = "The plan is sound. Add a test for a zero discount."
pytestmark = pytest.mark.parametrize("hub_process", ["protocol"], indirect=True)  # one carrier of HTTP is enough


@pytest.fixture
def reviewer(project: Project) -> Agent:
    return project.register("reviewer")


@pytest.mark.requirement(
    "MSG-FORMS-CLI", "MSG-CMD-REPLY", "MSG-CMD-INBOX", "MSG-INBOX-OFFLINE", "MSG-INBOX-NO-ACK", "MSG-CLI-ALLOW-OFFLINE",
    "MSG-CLI-OFFLINE-BETWEEN", "MSG-SETUP-SERVER-URL", "MSG-SETUP-CLI-PROJECT", "MSG-SETUP-CLI-NAME",
    "MSG-SETUP-SAME-PROJECT",
)  # fmt: skip
def test_two_shells_hand_work_to_each_other_by_commands_alone(shell: ShellMaker) -> None:
    lead, reviewer = shell("lead"), shell("reviewer")
    assert reviewer.peer("inbox").json == {"messages": []}
    sent = lead.peer("send", "reviewer", "Review docs/plan.md", "--allow-offline").json
    for _ in range(2):
        (waiting,) = reviewer.peer("inbox").json["messages"]
        assert (waiting["id"], waiting["status"], waiting["fromName"]) == (sent["messageId"], "queued", "lead")
    replied = reviewer.peer("reply", sent["messageId"], SOUND).json
    assert replied == {"messageId": sent["messageId"], "status": "replied", "recipient": "lead"}
    assert lead.peer("get", sent["messageId"]).json["reply"]["content"] == SOUND
    assert reviewer.peer("inbox").json == {"messages": []}
    assert reviewer.peer("reply", sent["messageId"], SOUND).detail == "message already has a reply"


@pytest.mark.requirement("MSG-INBOX-PID-NAME", "MSG-TROUBLE-INBOX-EMPTY", "MSG-CLI-DEFAULT-NAME")
def test_without_a_name_each_call_is_a_new_agent_with_an_empty_inbox(
    shell: ShellMaker, project: Project, reviewer: Agent
) -> None:
    nobody = shell("")
    with reviewer.stream() as stream:
        assert nobody.peer("inbox").json == {"messages": []}
        first = stream.next("presence").data["agent"]["name"]
        assert re.fullmatch(r"cli-\d+", first)
        reviewer.try_send(first, allowOffline=True)
        assert nobody.peer("inbox").json == {"messages": []}


@pytest.mark.requirement("MSG-CLI-REGISTERS", "MSG-CLI-OFFLINE-BETWEEN")
def test_a_command_registers_makes_its_call_and_unregisters(lead: Shell, reviewer: Agent) -> None:
    with reviewer.stream() as stream:
        message = lead.peer("send", "reviewer", "x").json["messageId"]
        assert [stream.frame().kind for _ in range(3)] == ["presence", "message", "presence"]
        states = [frame.data["agent"]["presence"] for frame in stream.seen if frame.kind == "presence"]
        assert states == ["online", "offline"]
    assert reviewer.reply(message, "while the CLI is away").status == 200
    assert lead.peer("get", message).json["reply"]["content"] == "while the CLI is away"
    assert reviewer.try_send("lead").code == "target_not_found"


@pytest.mark.requirement("MSG-CLI-STABLE-NAME", "MSG-ERR-FORBIDDEN")
def test_another_name_may_neither_read_nor_wait_nor_cancel(shell: ShellMaker, lead: Shell, reviewer: Agent) -> None:
    message = lead.peer("send", "reviewer", "x").json["messageId"]
    for other in (shell("other"), shell("")):
        assert other.peer("get", message).detail == "message is not visible to this agent"
        words = ("await", message, "--timeout-ms", "100")
        assert other.peer(*words).detail == "message is not visible to this agent"
    assert shell("other").peer("cancel", message).detail == "only the sender can cancel this message"
    assert reviewer.get(message)["status"] == "queued"


@pytest.mark.requirement("MSG-CLI-NAME-LIVE", "MSG-ERR-DUPLICATE-NAME")
def test_a_name_that_is_live_elsewhere_is_refused(shell: ShellMaker, reviewer: Agent) -> None:
    printed = shell("reviewer").peer("inbox")
    assert printed.detail == "agent name already active in project: reviewer"
    assert reviewer.call("GET", "/v1/agents").status == 200


@pytest.mark.requirement("MSG-CLI-DRY-RUN")
@pytest.mark.parametrize(
    ("words", "args"),
    [
        (("list", "--include-offline"), {"includeOffline": True}),
        (("send", "reviewer", "x", "--ttl-ms", "60000"), {"target": "reviewer", "content": "x", "ttlMs": 60_000}),
        (("await", "msg_1", "--timeout-ms", "30000"), {"messageId": "msg_1", "timeoutMs": 30_000}),
        (("fanout", "--targets", "a", "b", "--content", "x"), {"targets": ["a", "b"], "content": "x"}),
        (("inbox",), {}),
    ],
)
def test_a_dry_run_prints_the_parsed_arguments_and_contacts_nobody(
    lead: Shell, words: tuple[str, ...], args: dict[str, object]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        printed = lead.peer(*words, "--dry-run", KXM_SERVER_URL=url).json
        nobody.settimeout(0)
        with pytest.raises(BlockingIOError):
            nobody.accept()
    assert (printed["ok"], printed["dryRun"], printed["command"], printed["args"]) == (
        True, True, f"peer {words[0]}", args,
    )  # fmt: skip


@pytest.mark.requirement("MSG-CLI-FAILURE", "MSG-ERR-SELF-TARGET", "MSG-ERR-TEXT-AND-CODE")
def test_a_failure_prints_the_guides_line_and_the_code_only_on_demand(lead: Shell) -> None:
    printed = lead.peer("send", "lead", "x")
    assert (printed.code, printed.stdout) == (1, "")
    assert printed.stderr == '{"ok":false,"error":"command_failed","detail":"cannot send a request to yourself"}\n'
    coded = json.loads(lead.peer("send", "lead", "x", "--json").stderr)
    assert (coded["detail"], coded["code"]) == ("cannot send a request to yourself", "self_target")


@pytest.mark.requirement(
    "MSG-ERR-TARGET-NOT-FOUND", "MSG-ERR-IDEMPOTENCY-CONFLICT", "MSG-ERR-TTL", "MSG-ERR-DUPLICATE-REPLY",
    "MSG-ERR-NOT-FOUND",
)  # fmt: skip
def test_the_error_table_as_the_command_line_prints_it(lead: Shell, reviewer: Agent) -> None:
    assert lead.peer("send", "nobody", "x").detail == "online target not found: nobody"
    lead.peer("send", "reviewer", "x", "--idempotency-key", "k")
    conflict = lead.peer("send", "reviewer", "y", "--idempotency-key", "k").detail
    assert conflict == "idempotency key was already used for another request"
    ttl = lead.peer("send", "reviewer", "x", "--ttl-ms", "999").detail
    assert ttl == "ttlMs must be an integer between 1000 and 604800000"
    assert lead.peer("get", "msg_" + "0" * 32).detail == "message not found"
    assert len(reviewer.inbox()) == 1


@pytest.mark.requirement("MSG-SETUP-CLI-TOKEN")
def test_a_saved_admin_token_is_never_borrowed(lead: Shell, reviewer: Agent) -> None:
    state = lead.home / "state"
    state.mkdir(parents=True, mode=0o700)
    saved = state / "hub-env.json"
    saved.write_text(json.dumps({"schema": "kxm.hub-env.v1", "authToken": lead.project.hub.admin}), encoding="utf-8")
    saved.chmod(0o600)
    printed = lead.peer("list", KXM_AUTH_TOKEN="")
    assert printed.code == 2
    assert json.loads(printed.stderr)["error"] == "project_token_missing"
    assert lead.project.hub.admin not in printed.stderr
    assert [agent["name"] for agent in reviewer.call("GET", "/v1/agents?includeOffline=true").json["agents"]] == [
        "reviewer"
    ]


@pytest.mark.requirement("MSG-SETUP-CLI-TOKEN")
def test_the_token_of_another_project_opens_nothing(lead: Shell) -> None:
    printed = lead.peer("list", KXM_PROJECT=f"{lead.project.name}-too")
    assert printed.detail == "invalid project authentication token"


@pytest.mark.requirement("MSG-AWAIT-DEFAULT-MAX", "MSG-LIMIT-AWAIT")
def test_await_says_that_it_waits_sixty_seconds_and_a_longer_wait_is_cut_to_that(lead: Shell, reviewer: Agent) -> None:
    printed = lead.peer("await", "--help")
    assert "at most 60 seconds" in printed.stdout
    message = lead.peer("send", "reviewer", "x").json["messageId"]
    reviewer.reply(message)
    assert lead.peer("await", message, "--timeout-ms", "3600000").json["status"] == "replied"
    assert lead.peer("await", message).json["status"] == "replied"


@pytest.mark.requirement("MSG-TROUBLE-QUEUED")
def test_the_list_tells_why_a_request_stays_queued(lead: Shell, reviewer: Agent) -> None:
    message = lead.peer("send", "reviewer", "x").json["messageId"]
    reviewer.leave()
    assert lead.peer("get", message).json["status"] == "queued"
    agents = lead.peer("list", "--include-offline").json["agents"]
    assert {agent["name"]: agent["presence"] for agent in agents}["reviewer"] == "offline"
