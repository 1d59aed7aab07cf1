"""Signs in to the URL given with the OAuth flow of FastMCP's client, calls `echo` and prints what came back."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str) -> None:
    async with Client(url, auth="oauth") as client:
        result = await client.call_tool("echo", {"text": "from Python"})
        print(json.dumps({"text": result.content[0].text}))


asyncio.run(main(sys.argv[1]))
