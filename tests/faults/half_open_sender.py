"""The agent at the hub's own end of the cable: commands as JSON lines on stdin, one answer line each."""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.connection import Connection
from tests.faults.peers import admit


async def main() -> None:
    host, port = sys.argv[1], int(sys.argv[2])
    connection = Connection(port, source=host, host=host)
    headers = await admit(connection, "near")
    await admit(Connection(port, source=host, host=host), "nobody")
    body: dict[str, object] = {"target": "nobody", "content": "never answered", "allowOffline": True}
    open_ = (await connection.ask("POST", "/v1/messages", body, headers)).json()["message"]["id"]
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        connection.close()  # the hub ends idle ones, and an ask here never retries
        if "send" in command:
            body = {"target": command["send"], "content": "task", "allowOffline": True}
            answer = await connection.ask("POST", "/v1/messages", body, headers)
            told: dict[str, object] = {"id": answer.json()["message"]["id"]}
        elif "wait_ms" in command:
            await connection.ask("GET", f"/v1/messages/{open_}?waitMs={command['wait_ms']}", None, headers)
            told = {}
        else:
            answer = await connection.ask("GET", "/v1/agents?includeOffline=true", None, headers)
            found = {agent["name"]: agent["presence"] for agent in answer.json()["agents"]}
            told = {"presence": found[command["presence"]]}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
