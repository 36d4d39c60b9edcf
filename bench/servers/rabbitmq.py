"""RabbitMQ of the distribution: one node with a port mapper of its own, so that no other on the machine is met."""

import os
import shutil
from pathlib import Path

from bench.servers.process import Process, accepts, free_port

PACKAGE = "rabbitmq-server"
SCRIPT = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


def installed() -> bool:
    return SCRIPT.exists() and shutil.which("erl") is not None


class Node(Process):
    """The broker together with its port mapper."""

    mapper: Process

    def stop(self) -> None:
        super().stop()
        self.mapper.stop()


def start(folder: Path, env: dict[str, str]) -> Process:
    port, distribution, mapper_port = free_port(), free_port(), free_port()
    configuration = folder / "rabbitmq.conf"
    configuration.write_text(f"listeners.tcp.default = 127.0.0.1:{port}\nlog.console.level = warning\n")
    erlang = {"ERL_EPMD_PORT": str(mapper_port), "ERL_EPMD_ADDRESS": "127.0.0.1", "HOME": str(folder)}
    epmd = shutil.which("epmd") or "epmd"
    mapper = Process([epmd, "-port", str(mapper_port), "-address", "127.0.0.1"], folder / "epmd.log", env=erlang)
    mapper.wait_until(lambda: accepts(mapper_port))
    server = Node(
        [str(SCRIPT)],
        folder / "log",
        env={
            **erlang,
            **env,
            "PATH": os.environ.get("PATH", "") + ":/usr/sbin",
            "RABBITMQ_NODENAME": f"bench{port}@localhost",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_CONFIG_FILE": str(configuration),
            "RABBITMQ_BASE": str(folder),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        },
    )
    server.mapper = mapper
    server.address = {"port": port}
    return server.wait_until(lambda: accepts(port))
