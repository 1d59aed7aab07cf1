"""The second server on pictures of the documentation, also behind the portal."""

from fastmcp import FastMCP

mcp = FastMCP("Harbor desk")


@mcp.tool(annotations={"readOnlyHint": True})
def search_requests(text: str) -> list[str]:
    """Find requests of skippers by words."""
    return [f"#412 {text}"]


@mcp.tool
def open_request(title: str, text: str = "") -> str:
    """Open a request for the harbor master."""
    return f"#413 {title}"


@mcp.tool(annotations={"destructiveHint": True})
def close_request(number: int) -> str:
    """Close a request."""
    return f"#{number} is closed"
