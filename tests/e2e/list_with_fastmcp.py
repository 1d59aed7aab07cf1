"""Connects to the URLs given with FastMCP's client, all at once, and prints what each lists."""

import asyncio
import json
import sys

from fastmcp import Client


async def listed(url: str) -> dict[str, list[str]]:
    async with Client(url) as client:
        return {
            "tools": [tool.name for tool in await client.list_tools()],
            "prompts": [prompt.name for prompt in await client.list_prompts()],
            "templates": [template.name for template in await client.list_resource_templates()],
        }


async def main(urls: list[str]) -> None:
    print(json.dumps(await asyncio.gather(*(listed(url) for url in urls))))


asyncio.run(main(sys.argv[1:]))
