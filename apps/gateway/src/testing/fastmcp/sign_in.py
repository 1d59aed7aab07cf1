"""Signs in to the URL given with the OAuth flow of FastMCP's client, calls `whoami` and prints who that is.

Names below `example.test` lead to this machine, as the DNS of a real instance leads to it.
"""

import asyncio
import socket
import sys

from fastmcp import Client

resolve = socket.getaddrinfo


def resolve_here(host, *args, **named):
    name = host.decode() if isinstance(host, bytes) else host
    return resolve("127.0.0.1" if str(name).endswith(".example.test") else host, *args, **named)


socket.getaddrinfo = resolve_here


async def main(url: str) -> None:
    async with Client(url, auth="oauth") as client:
        result = await client.call_tool("whoami", {})
        print("signed in as", result.content[0].text, flush=True)


asyncio.run(main(sys.argv[1]))
