"""P7: the same load on a hub that keeps 1,000,000 final messages, written straight into its file."""

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import apsw

from bench.environment import Missing
from bench.run import Run
from bench.servers import hub
from bench.targets import Reading

MESSAGES: Final = 1_000_000
AGENTS: Final = 1_000
BYTES_EACH: Final = 5_000
DAY_MS: Final = 86_400_000

# One statement a table, so that no row passes through Python. Ages run from six days, a day short of the retention,
# to one: the sweep finds nothing to purge. Numbers and ids rise with time, as at a real hub.
LOAD: Final = (
    "CREATE TEMP TABLE n (i INTEGER PRIMARY KEY)",
    """INSERT INTO n WITH RECURSIVE up(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM up WHERE i < :messages)
       SELECT i FROM up""",
    """INSERT INTO agent (id, project, name, name_key, purpose, connected_at, last_seen_at, next_seq, events)
       SELECT printf('agt_%032x', i - 1), 'archive', 'agent-' || (i - 1), 'agent-' || (i - 1), 'once at work',
              :begin, :begin, :messages / :agents + 1, :messages / :agents + 1
       FROM n WHERE i <= :agents""",
    """INSERT INTO message (number, id, project, sender, sender_name, recipient, recipient_name, delivery, hops,
           max_hops, seq, sent_at, expires_at, delivered_at, replied_at, final_at, status, sender_event, ended)
       WITH m AS (SELECT i, i % :agents AS s, (i + 1) % :agents AS r, i / :agents + 1 AS k,
                         :begin + i * :step AS at FROM n)
       SELECT i, printf('msg_%012x%020x', at, i), 'archive', printf('agt_%032x', s), 'agent-' || s,
              printf('agt_%032x', r), 'agent-' || r, 'followUp', 0, 5, k, at, at + 86400000, at + 1000, at + 2000,
              at + 2000, 'replied', k, i FROM m""",
    "INSERT INTO sent (sender, message) SELECT sender, number FROM message ORDER BY 1, 2",
    "INSERT INTO event (agent, number, message) SELECT sender, sender_event, number FROM message ORDER BY 1, 2",
    "INSERT OR REPLACE INTO mark (name, value) VALUES ('sent', :messages), ('ended', :messages)",
    "INSERT INTO body (message, text) SELECT i, :text FROM n",
    "INSERT INTO reply (message, text) SELECT i, :text FROM n",
    """INSERT INTO trail (message, at, fact, observer)
       SELECT i, :begin + i * :step + f.after, f.fact, f.observer FROM n,
              (SELECT 10 AS after, 'pushed' AS fact, 'stream of agent' AS observer
               UNION ALL SELECT 2010, 'outcome pushed', 'stream of agent') AS f""",
)


class Stored:
    """The file is filled once a run; each round starts a hub on it."""

    def __init__(self) -> None:
        self._folder = Path()

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        messages = MESSAGES // 10 if run.quick else MESSAGES
        if shutil.disk_usage(run.data).free < messages * BYTES_EACH:
            raise Missing(f"{messages * BYTES_EACH >> 30} GB of free disk are needed in {run.data}")
        self._folder = run.data / "stored"
        self._folder.mkdir()
        with hub.start(self._folder, {}, run.product):
            pass  # makes the file with its schema
        fill(self._folder / "state" / "kxm.db", messages)

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        with hub.start(self._folder, {}, run.product) as server:
            return {
                Reading("stored", load, metric): figure
                for load in loads
                for metric, figure in run.load("hub", server, load).items()
            }


def fill(file: Path, messages: int) -> None:
    """Add final messages of 1 KB each way and their trail, then leave the file durable."""
    database = apsw.Connection(str(file))
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000", "locking_mode = EXCLUSIVE"):
        database.execute(f"PRAGMA {pragma}").fetchall()
    step = 5 * DAY_MS // messages
    begin = time.time_ns() // 1_000_000 - 6 * DAY_MS
    values = {"messages": messages, "agents": AGENTS, "begin": begin, "step": step, "text": "x" * 1024}
    with database:
        for statement in LOAD:
            database.execute(statement, values)
    database.execute("PRAGMA optimize").fetchall()
    database.execute("PRAGMA locking_mode = NORMAL").fetchall()
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    database.close()
    with file.open("rb+") as written:
        os.fsync(written.fileno())
