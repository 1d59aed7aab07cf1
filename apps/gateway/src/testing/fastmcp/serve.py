"""Serves a FastMCP server with the tools `echo` and `drop` on the unix socket given. `drop` prints when it runs."""

import sys

import uvicorn
from fastmcp import FastMCP

mcp = FastMCP("guarded")


@mcp.tool
def echo(text: str) -> str:
    """Says it back."""
    return text


@mcp.tool
def drop() -> str:
    """Must not run where it is not allowed."""
    print("drop ran", flush=True)
    return "dropped"


@mcp.prompt
def greet() -> str:
    """Not covered by a list of tools."""
    return "Hello"


uvicorn.run(mcp.http_app(path="/mcp"), uds=sys.argv[1], log_level="warning")
