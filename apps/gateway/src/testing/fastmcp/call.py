"""Lists and calls the tools of the URL given with FastMCP's client, and prints what came of it. `echo` may have other names."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str, echo: str = "echo", *more: str) -> None:
    async with Client(url) as client:
        tools = [tool.name for tool in await client.list_tools()]
        prompts = [prompt.name for prompt in await client.list_prompts()]
        try:
            refusal = str(await client.call_tool("drop", {}))
        except Exception as error:
            refusal = f"raised {error}"
        # The client goes on after a refusal.
        echoed = (await client.call_tool(echo, {"text": "still here"})).content[0].text
        others = [(await client.call_tool(name, {"text": name})).content[0].text for name in more]
        print(json.dumps({"tools": tools, "prompts": prompts, "refusal": refusal, "echoed": echoed, "others": others}))


asyncio.run(main(*sys.argv[1:]))
