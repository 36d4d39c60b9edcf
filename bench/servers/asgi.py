"""The two peers that are Python programs of this bench, each on uvicorn with uvloop and httptools."""

from pathlib import Path

from bench.servers.process import Process, accepts, free_port


def start(folder: Path, env: dict[str, str], python: Path, application: str) -> Process:
    """`application` names a module of `bench.servers` with an `app`."""
    port = free_port()
    repository = Path(__file__).resolve().parents[2]
    command = [str(python), "-m", "uvicorn", f"bench.servers.{application}:app", "--port", str(port)]
    command += ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"]
    server = Process(
        command,
        folder / "log",
        env={**env, "PYTHONPATH": str(repository), "BENCH_DATABASE": str(folder / "bench.db")},
    )
    server.address = {"port": port, "token": "bench"}
    return server.wait_until(lambda: accepts(port))
