"""The third server on pictures of the documentation, on the status page."""

from fastmcp import FastMCP

mcp = FastMCP("Lock times")


@mcp.tool(annotations={"readOnlyHint": True})
def next_opening(lock: str) -> str:
    """When a lock opens next."""
    return f"{lock} opens at 18:30"
