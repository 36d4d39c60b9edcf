"""Redis of the distribution, `appendfsync always`, no snapshots."""

from pathlib import Path

from bench.servers.process import Process, accepts, free_port

PACKAGE = "redis-server"
PROGRAM = "redis-server"


def start(folder: Path, env: dict[str, str]) -> Process:
    port = free_port()
    command = [PROGRAM, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    command += ["--appendonly", "yes", "--appendfsync", "always"]
    server = Process(command, folder / "log", env=env)
    server.address = {"port": port}
    return server.wait_until(lambda: accepts(port))
