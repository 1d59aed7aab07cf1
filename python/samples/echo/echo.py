"""A small MCP server to start from: one tool, one resource, one resource template and one prompt."""

from fastmcp import FastMCP

mcp = FastMCP("Echo", instructions="Repeats text. Use it to see that a connection works.")


@mcp.tool
def echo(text: str) -> str:
    """Repeat the text unchanged."""
    return text


@mcp.resource("echo://about")
def about() -> str:
    """What this server is."""
    return "Echo repeats text."


@mcp.resource("echo://{text}")
def echo_resource(text: str) -> str:
    """The text of the address as a resource."""
    return f"Echo: {text}"


@mcp.prompt
def repeat(text: str) -> str:
    """Ask the model to repeat the text."""
    return f"Please say this back to me, word for word: {text}"


if __name__ == "__main__":
    mcp.run()
