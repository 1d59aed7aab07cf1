"""The second server on pictures of the documentation, for the portal."""

from fastmcp import FastMCP

mcp = FastMCP("Tickets")


@mcp.tool(annotations={"readOnlyHint": True})
def search(text: str) -> list[str]:
    """Find tickets by words."""
    return [f"#412 {text}"]


@mcp.tool
def create_ticket(title: str, body: str = "") -> str:
    """Open a ticket."""
    return f"#413 {title}"


@mcp.tool(annotations={"destructiveHint": True})
def close_ticket(number: int) -> str:
    """Close a ticket."""
    return f"#{number} is closed"
