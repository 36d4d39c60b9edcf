"""`kxm doctor`: looks at everything that has to be right for a hub on this machine, and says how to make it so."""

from pathlib import Path

import click

from peerline.cli.backup import place
from peerline.cli.doctor.finding import Finding, Level
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
    path, backups = place(asked)
    backups = (source or backups).absolute()
    if asked.dry_run:
        return asked.planned("doctor", store=str(path), repair=repair, backups=str(backups))
    if repair:
        return _repair(asked, path, backups)
    found = examine(asked, path, backups)
    red = any(one.level is Level.FAIL for one in found)
    if asked.as_json:
        listed = [{"check": f.check, "level": f.level, "detail": f.detail, "fix": f.fix} for f in found]
        asked.done("doctor", "", ok=not red, findings=listed)
    else:
        asked.output("doctor").text("\n".join([*map(_line, found), _verdict(found)]))
    return int(red)


def examine(asked: Asked, path: Path, backups: Path) -> list[Finding]:
    """Everything that was looked at, in the order in which it is shown."""
    from peerline.cli.doctor.hub import hub
    from peerline.cli.doctor.machine import machine
    from peerline.cli.doctor.state import state
    from peerline.cli.doctor.store import store

    settings = HubSettings.from_env(asked.env)
    root = Path(settings.state_root)
    return [*machine(path), *state(settings, asked.env), *store(path, backups), *hub(asked, root)]


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
