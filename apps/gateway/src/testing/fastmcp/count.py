"""Serves a tool that works for a while on the unix socket given, and appends the begin and the end of each run to a file.

Lines: `begun CALL RUN HOLDER TIME` and `finished CALL RUN HOLDER TIME`, where HOLDER is what the request says in X-Holder of the
gateway that it was sent to, and TIME is in milliseconds since 1970.
"""

import asyncio
import itertools
import os
import sys
import time

import uvicorn

try:
    from fastmcp import FastMCP
    from fastmcp.server.dependencies import get_http_headers
except ImportError:
    # The FastMCP of the official SDK 1, which speaks 2025-11-25.
    from mcp.server.fastmcp import FastMCP

    get_http_headers = dict

mcp = FastMCP("counting")
runs = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
numbers = itertools.count()


def note(what: str, run: str) -> None:
    os.write(runs, f"{what} {run} {int(time.time() * 1000)}\n".encode())


@mcp.tool()
async def work(call: str, seconds: float) -> str:
    """Counts the run, then takes its time."""
    run = f"{call} {os.getpid()}-{next(numbers)} {get_http_headers().get('x-holder', '-')}"
    note("begun", run)
    await asyncio.sleep(seconds)
    note("finished", run)
    return f"done {call}"


if hasattr(mcp, "settings") and hasattr(mcp.settings, "transport_security"):
    # What a portal sends has no Host.
    mcp.settings.transport_security = None
app = mcp.http_app(path="/mcp") if hasattr(mcp, "http_app") else mcp.streamable_http_app()
uvicorn.run(app, uds=sys.argv[1], log_level="error")
