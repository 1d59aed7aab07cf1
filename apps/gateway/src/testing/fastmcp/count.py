"""Serves a tool that works for a while on the unix socket given, and appends the id of each run to a file when it begins."""

import asyncio
import os
import sys

import uvicorn

try:
    from fastmcp import FastMCP
except ImportError:
    # The FastMCP of the official SDK 1, which speaks 2025-11-25.
    from mcp.server.fastmcp import FastMCP

mcp = FastMCP("counting")
runs = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


@mcp.tool()
async def work(call: str, seconds: float) -> str:
    """Counts the run, then takes its time."""
    os.write(runs, f"{call}\n".encode())
    await asyncio.sleep(seconds)
    return f"done {call}"


if hasattr(mcp, "settings") and hasattr(mcp.settings, "transport_security"):
    # What a portal sends has no Host.
    mcp.settings.transport_security = None
app = mcp.http_app(path="/mcp") if hasattr(mcp, "http_app") else mcp.streamable_http_app()
uvicorn.run(app, uds=sys.argv[1], log_level="error")
