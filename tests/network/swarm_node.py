"""One node of the swarm, in a process of its own: sends its posts as a daemon does, then syncs until it has all.

    python -m tests.network.swarm_node FOLDER REMOTE AGENT POSTS EXPECTED CLOCK_OFFSET_MS DIE_AFTER

Started again after it died, it goes on where its outbox says it was. Prints one JSON line.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from tests.network.nodes import node, now, written


def main() -> None:
    folder, remote, agent, posts, expected, offset, die_after = sys.argv[1:8]
    me = node(Path(folder), remote, agent, "build", now=lambda: now() + int(offset))
    me.engine.sync()
    wrote = sum(one.post.sender == agent for one in me.engine.history("build"))
    for number in range(wrote, int(posts)):
        if number == int(die_after):
            os.kill(os.getpid(), signal.SIGKILL)
        me.engine.send(written(f"{agent} {number}", "@room"), push=False)
        if number % 5 == 4:
            me.engine.flush()
    tries = 0
    until = time.monotonic() + 400
    while time.monotonic() < until:
        me.engine.sync()
        tries += 1
        if len(me.engine.history("build", limit=10_000)) >= int(expected) and not me.engine.waiting():
            break
    posts_here = [one.post.body.strip() for one in me.engine.history("build", limit=10_000)]
    print(json.dumps({"agent": agent, "history": posts_here, "inbox": me.inbox(), "waiting": len(me.engine.waiting())}))


if __name__ == "__main__":
    main()
