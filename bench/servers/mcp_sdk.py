"""The tools of `kxm mcp` as one would serve them with the official SDK, over stdio; what they do is left out.

`python -P mcp_sdk.py TOOLS` takes its table from a file that holds what `kxm mcp` answers to `tools/list`.
"""

import sys
from pathlib import Path
from typing import Any

import anyio
from mcp import stdio_server, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

Context = ServerRequestContext[dict[str, Any], Any]
listed = types.ListToolsResult.model_validate_json(Path(sys.argv[1]).read_bytes())


async def tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return listed


async def call(_context: Context, _params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="{}")])


async def main() -> None:
    server = Server("kxm", version="1", instructions="x" * 800, on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
