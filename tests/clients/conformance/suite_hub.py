"""A hub whose `/mcp` serves the suite's tools instead of ours: `python -m tests.clients.conformance.suite_hub`."""

import os

from peerline.cli.compose import run_hub
from peerline.settings import HubSettings
from tests.clients.conformance.suite_tools import server

if __name__ == "__main__":
    settings = HubSettings.from_env(os.environ)
    raise SystemExit(run_hub(settings, announce=lambda line: print(line, flush=True), mcp_server=server))
