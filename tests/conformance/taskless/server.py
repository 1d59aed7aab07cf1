"""The tools of the conformance suite's task scenarios, on FastMCP without its extension for tasks: they only take their time.

A client gets what answers quickly at once; what lasts becomes a task of the gateway's.
"""

import asyncio

import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from mcp.shared.exceptions import MCPError

mcp = FastMCP("taskless", version="1.0.0")

TEXT = {"type": "string"}
# Longer than the gateway waits before a call becomes a task.
A_WHILE = 1.0


def ask(message: str, name: str) -> types.ElicitRequest:
    schema = {"type": "object", "properties": {name: TEXT}}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def given(ctx: Context, key: str) -> types.ElicitResult | None:
    value = (ctx.input_responses or {}).get(key)
    return value if isinstance(value, types.ElicitResult) else None


@mcp.tool
async def greet(name: str) -> str:
    """Answers at once."""
    return f"Hello, {name}!"


@mcp.tool
async def slow_compute(seconds: float = 1.0, label: str = "") -> str:
    """Takes as long as it is asked to."""
    await asyncio.sleep(seconds)
    return f"Computed {label} in {seconds} s"


@mcp.tool
async def failing_job() -> str:
    """Ends with a tool's error."""
    await asyncio.sleep(A_WHILE)
    raise ToolError("This job fails")


class Breaks(Middleware):
    """FastMCP makes a tool's error of what a tool raises; middleware can break the protocol."""

    async def on_call_tool(self, context, call_next):
        if context.message.name == "protocol_error_job":
            await asyncio.sleep(A_WHILE)
            raise MCPError(code=types.INTERNAL_ERROR, message="This job breaks the protocol")
        return await call_next(context)


mcp.add_middleware(Breaks())


@mcp.tool
async def protocol_error_job() -> str:
    """Ends with an error of the protocol."""
    return "never"


@mcp.tool
async def confirm_delete(filename: str, ctx: Context) -> str | types.InputRequiredResult:
    """Looks for a while, then asks before it continues."""
    if given(ctx, "confirm") is None:
        await asyncio.sleep(A_WHILE)
        return types.InputRequiredResult(input_requests={"confirm": ask(f"Delete {filename}?", "confirmation")})
    return f"Deleted {filename}."


@mcp.tool
async def multi_input(ctx: Context) -> str | types.InputRequiredResult:
    """Asks two things at once, after a while."""
    questions = {key: ask(f"The {key} question", key) for key in ("first", "second")}
    if any(given(ctx, key) is None for key in questions):
        await asyncio.sleep(A_WHILE)
        return types.InputRequiredResult(input_requests=questions)
    return "Both are answered."


@mcp.tool
async def test_tool_with_task(ctx: Context) -> str | types.InputRequiredResult:
    """Asks at once, then works for a while."""
    answer = given(ctx, "user_name")
    if answer is None:
        return types.InputRequiredResult(input_requests={"user_name": ask("What is your name?", "name")})
    await asyncio.sleep(A_WHILE)
    return f"Done for {(answer.content or {}).get('name')}."
