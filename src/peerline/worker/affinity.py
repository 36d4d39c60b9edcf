"""Which session a request belongs to: that of its workflow run, or the worker's own (spec/hub.md 10.1).

A correlation id alone says nothing: any peer may choose it.
"""

import re
from typing import Final

from peerline.client.records import Message
from peerline.worker.plan import DEFAULT_SCOPE

RUN: Final = re.compile(r"run_[a-f0-9]{32}")


def scope(message: Message) -> str:
    """The run's id, or `default`."""
    context = message.workflow_context or {}
    for named in (message.workflow_run_id, context.get("runId")):
        if isinstance(named, str) and RUN.fullmatch(named):
            return named
    run = message.correlation_id or ""
    return run if RUN.fullmatch(run) and message.sender == f"workflow:{run}" else DEFAULT_SCOPE
