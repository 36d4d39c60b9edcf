"""NATS with JetStream on a file store that syncs every write (`sync_interval: always`), from its PyPI wheel."""

from pathlib import Path

from bench.servers.process import Process, accepts, free_port

PROGRAM = "nats-server"
CONFIGURATION = """
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{folder}/store", sync_interval: always }}
"""


def start(folder: Path, env: dict[str, str], programs: Path) -> Process:
    port = free_port()
    configuration = folder / "nats.conf"
    configuration.write_text(CONFIGURATION.format(port=port, folder=folder))
    server = Process([str(programs / PROGRAM), "-c", str(configuration)], folder / "log", env=env)
    server.address = {"port": port}
    return server.wait_until(lambda: accepts(port))
