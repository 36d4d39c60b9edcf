"""`peerline doctor`: what `kxm doctor` looks at, told to a person, with this person's own way to the hub."""

from typing import Final

import click

from peerline import __version__
from peerline.cli.doctor.command import local, reachable
from peerline.cli.doctor.finding import Finding, Level
from peerline.cli.options import Asked
from peerline.cli.person_self import Person
from peerline.cli.up.report import findings
from peerline.core.fence import visible

MARKS: Final = {Level.OK: ("ok", "green"), Level.WARN: ("WARN", "yellow"), Level.FAIL: ("FAIL", "red")}
# The same step in this command's own words.
OURS: Final = (
    ("kxm hub start --background", "peerline up"),
    ("kxm hub start", "peerline up"),
    ("kxm hub stop", "peerline down"),
)


@click.command("doctor")
@click.pass_obj
def doctor(person: Person) -> int:
    """Check this machine and its hub. Exit code 1 if anything is red; nothing is changed."""
    caller = person.caller()
    found = local(Asked(env=person.env)) if caller.address.loopback else []
    found += reachable(person.env, lambda: caller)
    found += findings(person.env)
    red = sum(each.level is Level.FAIL for each in found)
    warned = sum(each.level is Level.WARN for each in found)
    lines = [line for each in found for line in _lines(person, each)]
    told = f"{red} to fix" if red else "nothing to fix"
    lines += ["", f"{len(found)} checks: {told}" + (f", {warned} to know" if warned else "") + "."]
    told_of = [
        {"check": each.check, "level": each.level, "detail": each.detail, "fix": _ours(each.fix)} for each in found
    ]
    return person.voice.done(lines, code=1 if red else 0, version=__version__, findings=told_of)


def _lines(person: Person, found: Finding) -> list[str]:
    mark, style = MARKS[found.level]
    lines = [f"{person.voice.styled(f'{mark:<5}', style)}{found.check:<14} {visible(found.detail, 500)}"]
    return [*lines, f"{'':<20}fix: {visible(_ours(found.fix) or '', 500)}"] if found.fix else lines


def _ours(fix: str | None) -> str | None:
    for theirs, ours in OURS:
        fix = fix.replace(theirs, ours) if fix and "KXM_" not in fix else fix
    return fix
