"""`kxm doctor`: looks at everything that has to be right for a hub on this machine, and says how to make it so."""

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from peerline.cli.backup import place
from peerline.cli.doctor.finding import Finding, Level, warn
from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import state_root
from peerline.cli.hub.background import LISTENING
from peerline.cli.hub.claim import holder
from peerline.cli.options import Asked, refused
from peerline.settings import HubSettings


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Replace a damaged store by the newest good backup.")
@click.option("--from", "source", type=click.Path(path_type=Path), metavar="DIR", help="Where to look for backups.")
@click.pass_obj
def doctor(asked: Asked, repair: bool, source: Path | None) -> int:
    """Look at versions, files, store, limits and the hub. Changes nothing, except with --repair.

    Exit code 1 if anything is wrong; a warning alone is no reason.
    """
    if repair:
        path, backups = place(asked)
        backups = (source or backups).absolute()
        if asked.dry_run:
            return asked.planned("doctor", store=str(path), repair=True, backups=str(backups))
        return _repair(asked, path, backups)
    if asked.dry_run:
        return asked.planned("doctor", repair=False)
    found = [*local(asked, source), *reachable(asked.env, lambda: _caller(asked.env))]
    red = any(one.level is Level.FAIL for one in found)
    if asked.as_json:
        listed = [{"check": f.check, "level": f.level, "detail": f.detail, "fix": f.fix} for f in found]
        code = asked.done("doctor", "", ok=not red, findings=listed)
    else:
        code = asked.output("doctor").text("\n".join([*map(_line, found), _verdict(found)]))
    return code or int(red)


def local(asked: Asked, backups: Path | None = None) -> list[Finding]:
    """What lies on this machine, in the order in which it is shown.

    Raises:
        Failure: a setting does not fit.
    """
    from peerline.cli.doctor.machine import machine
    from peerline.cli.doctor.state import state
    from peerline.cli.doctor.store import store

    try:
        path, where = place(asked)
    except Failure as failure:
        if failure.error != "store_in_memory":
            raise
        detail = f"{failure.detail}: a stop loses all messages"
        volatile = warn("store", detail, "unset KXM_DATA_PATH; kxm hub stop; kxm hub start --background")
        return [*machine(None), *state(HubSettings.from_env(asked.env), None, asked.env), volatile]
    settings = HubSettings.from_env(asked.env)
    path = _store_in_use(Path(settings.state_root), path)
    return [*machine(path), *state(settings, path, asked.env), *store(path, (backups or where).absolute())]


def reachable(env: Mapping[str, str], who: Callable[[], Caller]) -> list[Finding]:
    """The hub that `who` talks to, and whether it may."""
    from peerline.cli.doctor.hub import hub

    return list(hub(env, Path(state_root(env)), who))


def _caller(env: dict[str, str]) -> Caller:
    """Who `kxm peer` would be; which project that is in matters only for a name that is set."""
    return Caller(env if env.get("KXM_AGENT_NAME", "").strip() else {**env, "KXM_PROJECT": "any"}, {})


def _store_in_use(root: Path, otherwise: Path) -> Path:
    """The file of the hub that runs here, as it said itself: it may have been started with other settings."""
    if holder(root) is None:
        return otherwise
    try:
        said = LISTENING.search((root / "hub.out").read_text(errors="replace"))
    except OSError:
        return otherwise
    return Path(said[2]).absolute() if said and said[2] != ":memory:" else otherwise


def _repair(asked: Asked, path: Path, backups: Path) -> int:
    """What decides whether it worked is the new file alone: the old one is known to be bad."""
    from peerline.cli.doctor.store import damaged, integrity
    from peerline.cli.restore import put_back
    from peerline.database.restore import newest_good
    from peerline.store.migrations import MIGRATIONS

    if not path.exists():
        raise refused("doctor_no_store", f"there is no store at {path}; nothing to repair", exit_code=2)
    before = integrity(path)
    if not damaged(before):
        return asked.done("doctor", f"nothing to repair: {before.detail}", repaired=False, store=str(path))
    good, why = newest_good(backups, MIGRATIONS[-1].version)
    if good is None:
        detail = f"{before.detail}; no good backup is in {backups}" + (f" ({why[0]})" if why else "")
        raise refused("doctor_no_backup", f"{detail}; name another place: kxm doctor --repair --from DIR")
    aside = put_back(good, path, force=True)
    after = integrity(path)
    if after.level is not Level.OK:
        raise refused("doctor_repair_failed", f"the restored store is not sound either: {after.detail}")
    text = (
        f"repaired: {path} is {good.folder.name} of {good.created_at} again; requests since then are not in it\n"
        f"the damaged store is kept at {aside}\nstart the hub with: kxm hub start"
    )
    return asked.done("doctor", text, repaired=True, store=str(path), backup=str(good.folder), aside=str(aside))


def _line(finding: Finding) -> str:
    line = f"{finding.level:<4}  {finding.check:<14} {finding.detail}"
    return line if finding.fix is None else f"{line}\n{'':<21}→ {finding.fix}"


def _verdict(found: list[Finding]) -> str:
    wrong = sum(one.level is Level.FAIL for one in found)
    doubtful = sum(one.level is Level.WARN for one in found)
    if wrong:
        return f"{wrong} wrong, {doubtful} doubtful; the lines with → say what to do"
    return f"nothing is wrong, {doubtful} doubtful" if doubtful else "all is well"
