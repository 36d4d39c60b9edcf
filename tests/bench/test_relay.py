"""The probe of the relay: which figures it gives, never how large; and the far remote that it makes."""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from bench.probes.machines import bare
from bench.probes.relay import measured, quantile
from bench.probes.rooms import user
from bench.servers import git_https
from bench.servers.delayed import delayed
from bench.targets import TARGETS


def test_two_machines_give_every_figure_that_is_promised_of_a_near_remote() -> None:
    with tempfile.TemporaryDirectory(prefix="relay-") as short:  # daemons' sockets lie in it
        found = measured(Path(short), Path(sys.executable).parent, "near", rounds=1)
    assert {t.ours for t in TARGETS if t.id == "RELAY" and t.ours.load == "near"} <= set(found)
    assert all(figure > 0 for figure in found.values())


def test_the_far_remote_takes_a_push_gives_it_back_and_is_far(tmp_path: Path) -> None:
    made, env, round_trip_s = git_https.certificate(tmp_path), user(tmp_path, "writer"), 0.05
    served = tmp_path / "served"
    served.mkdir()
    name = bare(served).name
    trusted = ["-c", f"http.sslCAInfo={tmp_path / 'certificate.pem'}"]

    def git(*words: str) -> str:
        return subprocess.run(["git", *trusted, *words], env=env, check=True, capture_output=True, text=True).stdout

    with git_https.start(served, made) as server, delayed(server.address["port"], round_trip_s) as port:
        url = f"https://127.0.0.1:{port}/{name}"
        mine = str(tmp_path / "mine")
        git("init", "-q", mine)
        git("-C", mine, "commit", "-q", "--allow-empty", "-m", "one")
        git("-C", mine, "push", "-q", url, "HEAD:main")
        began = perf_counter()
        assert git("-C", mine, "rev-parse", "HEAD").strip() in git("ls-remote", url)
        assert perf_counter() - began > 3 * round_trip_s, "connection, TLS and request cost at least a round trip each"


def test_a_share_of_few_values_is_the_smallest_that_covers_it() -> None:
    values = [float(number) for number in range(1, 21)]
    assert (quantile(values, 50), quantile(values, 95), quantile([7.0], 95)) == (10.0, 19.0, 7.0)
