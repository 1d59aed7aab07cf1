"""Calls the tool `echo` at a URL until a call fails; prints how the client says so, as JSON."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str) -> None:
    answered = 0
    try:
        async with Client(url, timeout=10) as client:
            for _ in range(100):
                await client.call_tool("echo", {"text": "x"})
                answered += 1
        failure = None
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    print(json.dumps({"answered": answered, "failure": failure}))


asyncio.run(main(sys.argv[1]))
