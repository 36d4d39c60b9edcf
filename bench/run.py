"""What the arms of one run share: where data may lie, how long a load lasts, and the load process."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import environment
from bench.job import Job
from bench.servers.process import Process
from bench.targets import LOADS


class Failed(Exception):
    """The load process came back without figures."""


@dataclass(slots=True)
class Run:
    """What all arms of one run share. `seconds` is the measured time of a load, `data` a folder on a real
    disk; `clients` and `product` are the `bin` folders of the client libraries and of the installed wheel."""

    clients: Path
    product: Path
    data: Path
    seconds: float
    warm_up_s: float
    quick: bool
    slow: dict[str, str] = field(default_factory=dict)
    loads_done: int = 0

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder for one server; other users may enter it."""
        made = Path(tempfile.mkdtemp(prefix="arm-", dir=self.data))
        made.chmod(0o755)
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def load(self, driver: str, server: Process, load: str, seconds: float | None = None) -> dict[str, float]:
        """One load by the load process; raises Failed with what it said."""
        self.loads_done += 1
        about = LOADS[load]
        job = Job(
            driver=driver,
            address={**server.address, "run": self.loads_done},
            pid=server.pid,
            pairs=about.pairs,
            body=about.body,
            warm_up_s=self.warm_up_s,
            seconds=seconds or self.seconds,
        )
        return self.client("bench.drive", job.to_json())

    def client(self, module: str, argument: str, within_s: float = 180) -> dict[str, float]:
        done = subprocess.run(
            [self.clients / "python", "-m", module, argument],
            cwd=environment.REPOSITORY,
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
        )
        if done.returncode:
            raise Failed(f"{module}: {done.stderr.strip()[-600:]}")
        figures: dict[str, float] = json.loads(done.stdout)
        return figures
