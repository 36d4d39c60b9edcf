"""`python -m bench`: all systems in one run, and whether what is promised holds (docs/operations/performance.md)."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bench import environment
from bench.arms import ARMS
from bench.environment import Missing
from bench.machine import about
from bench.probes.install import form, installed
from bench.proc import on_real_disk
from bench.run import Failed, Run
from bench.servers.process import NotReady
from bench.table import report
from bench.targets import LOADS, TARGETS, Reading, Target
from bench.verdict import Line, exit_code, judge, rotated

ROUNDS: Final = 3
BUSY: Final = 0.7  # load average
# What may go wrong in one arm without ending the run: its rows then say so.
TROUBLE: Final = (Missing, Failed, NotReady, subprocess.SubprocessError, OSError, AssertionError)


def main() -> int:
    options = _options()
    chosen = [target for target in TARGETS if not options.only or target.id in options.only]
    if not chosen:
        print(f"bench: none of {', '.join(options.only)} is measured here", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # servers are stopped on the way out
    data = Path(tempfile.mkdtemp(prefix="peerline-bench-", dir=options.data))
    data.chmod(0o755)
    try:
        if not on_real_disk(data):
            print(f"bench: {data} is in memory; name a folder on a disk with --data", file=sys.stderr)
            return 2
        run = Run(
            clients=environment.clients(),
            product=installed(),
            data=data,
            seconds=1.5 if options.quick else 5.0,
            warm_up_s=0.5 if options.quick else 1.5,
            quick=options.quick,
        )
        here = f"{about(data)}, the hub {form()}"
        if os.getloadavg()[0] > BUSY:
            print("bench: other work runs on this machine; the figures will say more about that", file=sys.stderr)
        samples, reasons = _rounds(run, chosen, 1 if options.quick else options.rounds)
    except Missing as missing:
        print(f"bench: {missing}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("bench: interrupted; all servers are stopped", file=sys.stderr)
        return 130
    finally:
        shutil.rmtree(data, ignore_errors=True)
    lines = [judge(target, samples) for target in chosen]
    print(report(lines, samples, reasons, here))
    if options.quick:
        print("a quick look: one short round, a tenth of the stored messages and of the idle streams")
    if options.json:
        options.json.write_text(json.dumps(_as_json(lines, samples, reasons) | {"machine": here}, indent=2) + "\n")
    return exit_code(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round, for a look; proves nothing")
    parser.add_argument("--only", type=lambda text: text.upper().split(","), default=[], metavar="P1,P5")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"interleaved rounds (default {ROUNDS})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all samples and verdicts")
    parser.add_argument("--data", type=Path, default=Path("/var/tmp"), help="a folder on a disk (default /var/tmp)")
    return parser.parse_args()


def _rounds(run: Run, targets: Sequence[Target], rounds: int) -> tuple[list[dict[Reading, float]], dict[str, str]]:
    """Every arm once a round, each round from another one on. An arm in trouble gives no figures in that round."""
    loads = loads_of(targets)
    reasons = _prepare(run, list(loads))
    samples: list[dict[Reading, float]] = []
    for number in range(rounds):
        samples.append({})
        for name in rotated([name for name in loads if name not in reasons], number):
            print(f"bench: round {number + 1} of {rounds}: {name}", file=sys.stderr, flush=True)
            try:
                samples[-1] |= ARMS[name].measure(run, loads[name])
            except TROUBLE as trouble:
                reasons[name] = f"round {number + 1}: {trouble or type(trouble).__name__}"
                print(f"bench: {name}: {reasons[name]}", file=sys.stderr)
    return samples, reasons


def _prepare(run: Run, arms: Sequence[str]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for name in arms:
        try:
            if packages := ARMS[name].packages():
                environment.install(packages)
            ARMS[name].prepare(run)
        except TROUBLE as trouble:
            reasons[name] = str(trouble) or type(trouble).__name__
    return reasons


def loads_of(targets: Sequence[Target]) -> dict[str, list[str]]:
    """Which arms the targets need, and under which loads; the loads in their own order, light ones first."""
    readings = [reading for target in targets for reading in (target.ours, target.theirs) if reading is not None]
    return {
        arm: [load for load in LOADS if any(r.arm == arm and r.load == load for r in readings)]
        for arm in dict.fromkeys(reading.arm for reading in readings)
    }


def _as_json(
    lines: Sequence[Line], samples: Sequence[Mapping[Reading, float]], reasons: Mapping[str, str]
) -> dict[str, object]:
    return {
        "targets": [
            {
                "id": line.target.id,
                "what": line.target.what,
                "ours": line.ours,
                "theirs": line.theirs,
                "value": line.value,
                "bound": line.target.bound,
                "must": line.target.must,
                "aim": line.target.aim,
                "verdict": line.verdict.value,
            }
            for line in lines
        ],
        "rounds": [{str(reading): figure for reading, figure in one.items()} for one in samples],
        "notMeasured": dict(reasons),
    }


if __name__ == "__main__":
    raise SystemExit(main())
