"""What a worker is told, by options before variables; refused before anything starts."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from peerline.cli.agent.plan import Chosen, planned, settings_of
from peerline.cli.hot_output import Failure
from peerline.worker.plan import Plan
from tests.cli.hub.shell import Operator

NOTHING = Chosen(
    name="builder", project="shop", harness=None, model=None, fallback_models=None, tools=None, isolation=None,
    resume=True, fresh_start=False, arguments=(),
)  # fmt: skip


def plan(chosen: Chosen = NOTHING, env: Mapping[str, str] | None = None) -> Plan:
    known = {"HOME": "/h", "PATH": "/usr/bin:/bin", "KXM_PI_COMMAND": "sh -c", **(env or {})}
    return planned(chosen, settings_of(known), known)


def test_without_a_word_it_has_the_contracts_defaults() -> None:
    found = plan()
    assert (found.harness, found.models, found.isolation, found.resume) == ("pi", (), False, True)
    assert (found.tool_timeout, found.activation_timeout, found.drain) == (1_860_000, 60_000, 15_000)
    assert (found.provider_retry, found.max_run_sessions, found.max_restarts) == (60_000, 128, None)


def test_variables_and_options_say_the_same_and_options_go_first() -> None:
    variables = {
        "KXM_WORKER_MODEL": "a/b",
        "KXM_WORKER_FALLBACK_MODELS": "c, d",
        "KXM_WORKER_TOOLS": "read,bash",
        "KXM_WORKER_SESSION_ISOLATION": "workflow",
        "KXM_WORKER_MAX_RESTARTS": "0",
        "KXM_WORKER_CONTINUE": "0",
        "KXM_WORKER_HARNESS": "pi",
    }
    found = plan(env=variables)
    assert (found.models, found.tools, found.isolation) == (("a/b", "c", "d"), ("read", "bash"), True)
    assert (found.max_restarts, found.resume, found.resume_first) == (0, False, False)
    assert (found.harness, found.command) == ("pi", ("sh", "-c"))
    chosen = Chosen(
        name="builder", project="shop", harness="pi", model="x", fallback_models="y", tools="edit", isolation="off",
        resume=True, fresh_start=True, arguments=("--thinking", "low"),
    )  # fmt: skip
    found = plan(chosen, {**variables, "KXM_WORKER_CONTINUE": "1"})
    assert (found.models, found.tools, found.isolation, found.harness) == (("x", "y"), ("edit",), False, "pi")
    assert (found.resume, found.resume_first, found.arguments) == (True, False, ("--thinking", "low"))


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"KXM_WORKER_FALLBACK_MODELS": "a"}, "need a first one"),
        ({"KXM_WORKER_MODEL": "a", "KXM_WORKER_FALLBACK_MODELS": "b,c,d,e,f,g,h,i,j"}, "at most 8"),
        ({"KXM_WORKER_MODEL": "m" * 257}, "up to 256"),
        ({"KXM_WORKER_MODEL": "--approve"}, "a model's name"),
        ({"KXM_WORKER_TOOLS": "read,rm -rf"}, "tools are up to 64 names"),
        ({"KXM_WORKER_HARNESS": "codex", "KXM_WORKER_TOOLS": "read"}, "Codex takes no list of tools"),
        ({"KXM_WORKER_SKILL_PATHS": "/not/there"}, "there is no /not/there"),
        ({"KXM_WORKER_EXTENSION_PATHS": ":".join(["/"] * 17)}, "at most 16"),
        ({"KXM_WORKER_SESSION_ISOLATION": "on"}, "KXM_WORKER_SESSION_ISOLATION must be off or workflow"),
        ({"KXM_WORKER_DRAIN_MS": "-1"}, "KXM_WORKER_DRAIN_MS must be"),
        ({"KXM_PI_COMMAND": "pi 'x"}, "a quote is not closed"),
        ({"KXM_PI_COMMAND": "no-such-program"}, "not installed or not on the PATH"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_name(variables: dict[str, str], says: str) -> None:
    with pytest.raises(Failure, match=says) as refusal:
        plan(env=variables)
    assert refusal.value.exit_code == 2


def test_name_and_project_are_required_and_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    assert operator.kxm("agent", "worker", "--project", "shop").refusal[:2] == (2, "usage_error")
    assert operator.kxm("agent", "worker", "--name", "builder").refusal[:2] == (2, "usage_error")
    assert (
        "--name"
        in operator.kxm("agent", "worker", "--name", "a/b", "--project", "shop", KXM_PI_COMMAND="sh").refusal[2]
    )
    ran = operator.kxm("agent", "worker", "--name", "builder", "--project", "shop", "--dry-run", KXM_PI_COMMAND="sh")
    assert ran.json["args"]["harness"] == "pi"
    assert Path(ran.json["args"]["log"]).name.startswith("worker-shop-builder-")
    assert not operator.state.exists()


def test_a_harness_that_ends_again_and_again_is_given_up_with_its_place_of_complaint(tmp_path: Path) -> None:
    words = ("agent", "worker", "--name", "builder", "--project", "shop")
    ran = Operator(tmp_path).kxm(*words, KXM_PI_COMMAND="sh -c 'echo no key >&2'", KXM_WORKER_MAX_RESTARTS="0")
    code, error, detail = ran.refusal
    assert (code, error) == (1, "worker_restart_limit_reached")
    assert "pi ended again and again" in detail
    assert Path(detail.partition("what it said: ")[2]).read_text() == "no key\n"
    assert "worker_restart_limit_reached" in ran.stdout
    assert not list(Operator(tmp_path).state.glob("worker-*.pid")), "the claim goes with it"
