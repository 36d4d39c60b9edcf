"""`kxm agent worker`: supervise one client that answers requests unattended (spec/hub.md 6.5, 10.2)."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from peerline.cli.agent.plan import Chosen, planned, settings_of
from peerline.cli.agent.stand import Stand
from peerline.cli.hot_output import usage, write
from peerline.cli.hub.log import HubLog
from peerline.cli.options import Asked, refused
from peerline.client.surroundings import Surroundings
from peerline.core.agent import check_name
from peerline.core.errors import PeerlineError
from peerline.core.redaction import redacted
from peerline.settings import WorkerSettings
from peerline.worker.claim import Claim
from peerline.worker.files import Files
from peerline.worker.plan import Plan
from peerline.worker.supervisor import HARNESSES, Supervisor

LOOK_S: Final = 0.25
ERRORS_BYTES: Final = 10 * 1024 * 1024


@click.command("worker", context_settings={"ignore_unknown_options": False})
@click.option("--name", metavar="NAME", help="What peers call this agent (KXM_AGENT_NAME).")
@click.option("--project", metavar="NAME", help="The project of its peers (KXM_PROJECT).")
@click.option("--harness", type=click.Choice(list(HARNESSES)), help="The client (KXM_WORKER_HARNESS); else pi.")
@click.option("--model", metavar="MODEL", help="Its model (KXM_WORKER_MODEL).")
@click.option("--fallback-models", metavar="A,B", help="Models for when the one before fails.")
@click.option("--tools", metavar="A,B", help="The tools it may use (KXM_WORKER_TOOLS).")
@click.option(
    "--session-isolation", "isolation", type=click.Choice(["workflow", "off"]), help="A session for each run."
)
@click.option("--no-continue", is_flag=True, help="Each start of the client is a new session.")
@click.option("--fresh-start", is_flag=True, help="The first start is a new session.")
@click.option("--server", metavar="URL", help="The hub (KXM_SERVER_URL).")
@click.argument("arguments", nargs=-1, metavar="[-- WORDS...]")
@click.pass_obj
def worker(asked: Asked, /, no_continue: bool, fresh_start: bool, server: str | None, **given: Any) -> int:
    """Supervise one client, in the current folder, until it is told to stop.

    Each request to NAME becomes a turn, and the answer on which the turn settles is the reply. The client is started
    again when it ends, and goes on with its session. WORDS go to the client as they are. The first line says where the
    log is. Ctrl-C and SIGTERM end it in order.
    """
    settings = settings_of(asked.env)
    plan = planned(Chosen(resume=not no_continue, fresh_start=fresh_start, **given), settings, asked.env)
    try:
        check_name(plan.name)
    except PeerlineError as error:
        raise usage(f"--name: {error}") from None
    stand = Stand(plan, asked.env, server)
    files = stand.files()
    log_path = Path(settings.log_path or f"{settings.logs}/worker-{files.key}.jsonl").absolute()
    errors = Path(settings.agent_log_path or f"{settings.logs}/agent-{files.key}.log").absolute()
    if asked.dry_run:
        facts = {"harness": plan.harness, "name": plan.name, "project": plan.project, "models": list(plan.models)}
        return asked.planned("agent worker", **facts, hub=stand.url, log=str(log_path), agentLog=str(errors))
    return run(plan, settings, stand, files, asked, log_path=log_path, errors=errors)


def run(
    plan: Plan, settings: WorkerSettings, stand: Stand, files: Files, asked: Asked, *, log_path: Path, errors: Path
) -> int:
    """Hold the worker's claim and its agent's name, and supervise; the exit code.

    Raises:
        Failure: it could not be started, or it had to give up.
    """
    claim = Claim(files, pause=time.sleep)
    log = HubLog(log_path)
    try:
        orphan = claim.take(_about(plan, files))
    except PeerlineError as error:
        raise refused(error.code, str(error)) from None
    except OSError as error:
        raise refused("worker_failed", f"the state folder cannot be used: {error.strerror}: {files.root}") from None
    try:
        place = stand.place()
        if not place.identity.hold():
            raise refused(
                "duplicate_agent_name",
                f"agent name {plan.name} is already active in project {plan.project} on this machine; "
                "end that session, or start the worker with another --name",
            )
        write(1, f"kxm agent worker: {plan.name} ({plan.harness}) in project {plan.project}; hub={stand.url}; ")
        write(1, f"log={log_path}; {plan.harness}'s own messages={errors}\n")
        log.echo = asked.env.get("KXM_DAEMON", "") not in ("1", "true")
        tell = _teller(log, plan)
        if orphan is not None:
            tell("worker_orphan_ended", level="warn", childPid=orphan.pid)
        _trim(errors)
        asyncio.run(_supervised(lambda: Supervisor(
            plan, place, files, claim, env=asked.env, errors=errors, log=tell, world=Surroundings(), wall=_now_ms,
        ), claim))  # fmt: skip
        tell("worker_stopped")
        return 0
    except PeerlineError as error:
        raise refused(error.code, str(error), log=str(log_path)) from None
    except OSError as error:
        raise refused("worker_failed", f"{error.strerror}: {error.filename}", log=str(log_path)) from None
    finally:
        with suppress(UnboundLocalError):
            place.identity.release()
        claim.release()
        log.close()


async def _supervised(made: Callable[[], Supervisor], claim: Claim) -> None:
    supervisor = made()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, supervisor.stop)

    async def look() -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            if claim.stop_asked:
                return supervisor.stop()

    looking = asyncio.ensure_future(look())
    try:
        await supervisor.run()
    finally:
        looking.cancel()


def _teller(log: HubLog, plan: Plan) -> Callable[..., None]:
    """Write an event at once: a worker has few, and the last ones matter."""

    def tell(event: str, *, level: str = "info", **members: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        log(
            {"at": at, "level": level, "event": event, "agent": plan.name, "project": plan.project, **redacted(members)}
        )
        log.flush()

    return tell


def _about(plan: Plan, files: Files) -> dict[str, Any]:
    started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "version": 1,
        "pid": os.getpid(),
        "role": "worker",
        "agentName": plan.name,
        "project": plan.project,
        "workerKey": files.key,
        "startedAt": started,
        "controlFile": files.control.name,
    }


def _trim(errors: Path) -> None:
    """What the client complained of long ago makes room."""
    with suppress(OSError):
        if errors.stat().st_size > ERRORS_BYTES:
            errors.replace(errors.with_name(errors.name + ".1"))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
