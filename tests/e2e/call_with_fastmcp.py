"""Calls `echo` on the URL given with FastMCP's client, with the key given if any, and prints what came back."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str, key: str | None) -> None:
    async with Client(url, auth=key) as client:
        tools = [tool.name for tool in await client.list_tools()]
        result = await client.call_tool("echo", {"text": "from Python"})
        print(json.dumps({"tools": tools, "text": result.content[0].text}))


asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
