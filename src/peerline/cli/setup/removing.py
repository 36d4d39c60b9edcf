"""Taking out what setup wrote, client by client."""

from peerline.cli.setup.change import Change, removal, undone
from peerline.cli.setup.clients import CLIENTS
from peerline.cli.setup.record import Manifest
from peerline.cli.setup.report import Report


def removed(manifest: Manifest, names: set[str], *, dry_run: bool) -> list[Report]:
    """Remove what was written for these clients; with `dry_run` only say what would be."""
    reports: dict[str, Report] = {}
    for record in list(manifest.files):
        if record.client not in names:
            continue
        title = CLIENTS[record.client].title if record.client in CLIENTS else record.client
        report = reports.setdefault(record.client, Report(name=record.client, title=title, program=None))
        change = removal(record)
        report.warnings += change.warnings
        if change.action != "refused" and not dry_run:
            change = _done(change, manifest)
        report.changes.append(change)
    return list(reports.values())


def _done(change: Change, manifest: Manifest) -> Change:
    try:
        return undone(change, manifest)
    except OSError as error:
        change.action = "refused"
        change.what = f"{change.path} is left as it is: {error.strerror}"
        return change
