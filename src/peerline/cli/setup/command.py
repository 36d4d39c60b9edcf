"""`peerline setup [client...]`, also `kxm setup <client>`: put the kxm_ tools and hooks into the clients' files."""

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_paths import StateRootNotAbsolute, state_root
from peerline.cli.hub.claim import holder
from peerline.cli.options import Asked, refused
from peerline.cli.person_self import Person
from peerline.cli.person_voice import Voice
from peerline.cli.setup.change import Change, addition, removal, undone, written
from peerline.cli.setup.client import Client, Part, snippet
from peerline.cli.setup.clients import CLIENTS, named
from peerline.cli.setup.probe import lists, serves
from peerline.cli.setup.program import installed
from peerline.cli.setup.record import Manifest
from peerline.cli.setup.removing import removed
from peerline.cli.setup.report import Report, told
from peerline.cli.setup.wake import wakes

NOT_WRITTEN: Final = ("KXM_AGENT_NAME", "KXM_AUTH_TOKEN", "KXM_PROJECT", "KXM_SERVER_URL", "KXM_STATE_HOME")
UNTRIED: Final = "No session was woken to try it, as you asked."


@dataclass(slots=True, kw_only=True)
class Setup:
    """One run. `names` are the clients that were asked for; none means those on the PATH."""

    env: dict[str, str]
    voice: Voice
    names: tuple[str, ...]
    now: datetime
    dry_run: bool = False
    wake: bool = True
    reports: list[Report] = field(default_factory=list)

    def root(self) -> Path:
        return root(self.env)

    def clients(self) -> list[Client]:
        """Raises Failure: a name is no client's, or none is given and none is found."""
        if self.names:
            return list(dict.fromkeys(named(name) for name in self.names))
        if clients := [client for client in CLIENTS.values() if client.program(self.env)]:
            return clients
        raise Failure(
            f"none of {', '.join(CLIENTS)} is on the PATH; install one, or name one to have its file written"
            " all the same: peerline setup claude"
        )

    def add(self) -> int:
        kxm = installed(self.env)
        manifest = Manifest(self.root())
        clients = self.clients()
        reports = [self._planned(client, kxm, manifest) for client in clients]
        if self.dry_run:
            last = ["", "Nothing was written."]
            return told(self.voice, reports, self.env, last, kxm=kxm, dryRun=True)
        if not self.voice.as_json and any(c.action in ("created", "updated") for r in reports for c in r.changes):
            self.voice.aside(
                "\n".join(["To do:", *(ln for r in reports for ln in r.lines(self.voice, self.env, planned=True))])
            )
        server = serves(kxm, self.env)
        for client, report in zip(clients, reports, strict=True):
            report.changes = [self._done(change, manifest) for change in report.changes]
            report.checks = [lists(client, kxm, self.env)] if report.changes else []
            report.notes.append(client.woken)
            self._wake(client, kxm, report)
        last = ["", f"{server.text}.", *([] if self.wake else [UNTRIED]), *self._next()]
        return told(
            self.voice, reports, self.env, last, failed=server.ok is False, kxm=kxm, server=server.facts(), dryRun=False
        )

    def remove(self) -> int:
        manifest = Manifest(self.root())
        names = {named(name).name for name in self.names} or set(CLIENTS)
        reports = removed(manifest, names, dry_run=self.dry_run)
        if not reports:
            return self.voice.done(["Setup has written nothing there; nothing to remove."], clients=[])
        if not self.dry_run and not manifest.files:
            manifest.remove()
        return told(
            self.voice, reports, self.env, ["", "Nothing was written."] if self.dry_run else [], dryRun=self.dry_run
        )

    def show(self) -> int:
        """Print what would be merged into which file, for a user who does it by hand."""
        kxm, lines, facts = installed(self.env), [], []
        for client in self.clients():
            for part in client.parts(self.env, kxm):
                text = snippet(part)
                lines += ["", f"{client.title}: into {part.path}", "", *text.rstrip().split("\n")]
                facts.append({"target": client.name, "path": str(part.path), "text": text})
        return self.voice.done(lines[1:], kxm=kxm, snippets=facts)

    def _planned(self, client: Client, kxm: str, manifest: Manifest) -> Report:
        report = Report(name=client.name, title=client.title, program=client.program(self.env))
        parts = client.parts(self.env, kxm)
        if not parts:
            report.notes.append(client.otherwise)
        report.changes += self._outdated(client, parts, manifest)
        for part in parts:
            change = addition(client.name, part, manifest)
            report.changes.append(change)
            report.warnings += change.warnings
            if change.action == "refused":
                report.warnings.append(f"to merge it yourself: peerline setup {client.name} --print")
        if report.program is None:
            report.warnings.append(f"{client.programs[0]} is not on the PATH; its files are written all the same")
        return report

    def _outdated(self, client: Client, parts: list[Part], manifest: Manifest) -> list[Change]:
        """What an earlier setup wrote into files of this client in which nothing belongs any more."""
        used = {Path(os.path.realpath(part.path)) for part in parts}
        records = [one for one in manifest.files if one.client == client.name and one.edits and one.path not in used]
        return [removal(record) for record in records]

    def _done(self, change: Change, manifest: Manifest) -> Change:
        if change.action == "refused":
            return change
        try:
            return undone(change, manifest) if change.action == "removed" else written(change, manifest, self.now)
        except OSError as error:
            change.action = "refused"
            change.what = f"{change.path} is left as it is: {error.strerror}"
            return change

    def _wake(self, client: Client, kxm: str, report: Report) -> None:
        """Try it with a session; where a file was left alone there is nothing to try."""
        if not self.wake or not report.changes or report.failed:
            return
        if not self.voice.as_json and client.session is not None and report.program is not None:
            self.voice.aside(f"Waking a session of {client.title} to try it, in a temporary home ...")
        report.checks.append(wakes(client, kxm, self.env))

    def _next(self) -> list[str]:
        lines = []
        if given := [name for name in NOT_WRITTEN if self.env.get(name)]:
            lines.append(f"Set here and written nowhere: {', '.join(given)}. Start the clients with the same.")
        if not self.env.get("KXM_SERVER_URL") and holder(self.root()) is None:
            lines.append("Next: `peerline up` starts the hub; then start the clients anew.")
        else:
            lines.append("Next: start the clients anew. `peerline list` shows who is here.")
        return lines


def root(env: dict[str, str]) -> Path:
    """The state folder.

    Raises:
        Failure: it is named by a relative path.
    """
    try:
        return Path(state_root(env))
    except StateRootNotAbsolute as error:
        raise refused(error.code, str(error), exit_code=2) from None


def _run(setup: Setup, *, show: bool, remove: bool) -> int:
    if show and remove:
        raise usage("--print and --remove exclude each other")
    return setup.show() if show else setup.remove() if remove else setup.add()


def _options(command: Any) -> Any:
    for option in (
        click.option("--remove", is_flag=True, help="Take out again what setup has written for these clients."),
        click.option("--no-wake", is_flag=True, help="Wake no session to try it, which takes some seconds each."),
        click.option("--print", "show", is_flag=True, help="Print what belongs where; write nothing."),
        click.argument("names", nargs=-1, metavar="[CLIENT]..."),
    ):
        command = option(command)
    return command


@click.command("setup")
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@_options
@click.pass_obj
def setup(person: Person, names: tuple[str, ...], show: bool, remove: bool, no_wake: bool, dry_run: bool) -> int:
    """Give agent clients their tools: claude, codex, gemini, opencode, pi, cursor; without a name those on the PATH."""
    one = Setup(
        env=person.env, voice=person.voice, names=names, now=datetime.now(UTC), dry_run=dry_run, wake=not no_wake
    )
    return _run(one, show=show, remove=remove)


@click.command("setup")
@_options
@click.pass_obj
def kxm_setup(asked: Asked, names: tuple[str, ...], show: bool, remove: bool, no_wake: bool) -> int:
    """Give agent clients their tools: claude, codex, gemini, opencode, pi, cursor; without a name those on the PATH."""
    voice = Voice(asked.env, as_json=asked.as_json, command="setup")
    one = Setup(env=asked.env, voice=voice, names=names, now=datetime.now(UTC), dry_run=asked.dry_run, wake=not no_wake)
    return _run(one, show=show, remove=remove)
