"""The tools of the suite that run as tasks (the extension `io.modelcontextprotocol/tasks` of 2026-07-28)."""

import asyncio

import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from interactive import answer, ask, needs
from mcp.shared.exceptions import MCPError

TEXT = {"type": "string"}


def register_tasks(mcp: FastMCP) -> None:
    mcp.add_extension(TasksExtension(url="memory://"))
    _register_jobs(mcp)
    _register_asking(mcp)


def _register_jobs(mcp: FastMCP) -> None:
    @mcp.tool
    async def greet(name: str) -> str:
        """Never a task."""
        return f"Hello, {name}!"

    @mcp.tool(task=True)
    async def slow_compute(seconds: float = 1.0, label: str = "") -> str:
        """Takes as long as it is asked to."""
        await asyncio.sleep(seconds)
        return f"Computed {label} in {seconds} s"

    @mcp.tool(task=TaskConfig(mode="required"))
    async def failing_job() -> str:
        """Ends with a tool's error; only as a task."""
        await asyncio.sleep(0.5)
        raise ToolError("This job fails")

    @mcp.tool(task=True)
    async def protocol_error_job() -> str:
        """Ends with an error of the protocol."""
        raise MCPError(code=types.INTERNAL_ERROR, message="This job breaks the protocol")


def _register_asking(mcp: FastMCP) -> None:
    @mcp.tool(task=True)
    async def confirm_delete(filename: str, ctx: Context) -> str | types.InputRequiredResult:
        """Asks once before it continues."""
        if answer(ctx, "confirm", types.ElicitResult) is None:
            return needs({"confirm": ask(f"Delete {filename}?", {"confirmation": TEXT})})
        return f"Deleted {filename}."

    @mcp.tool(task=True)
    async def multi_input(ctx: Context) -> str | types.InputRequiredResult:
        """Asks two things at once, which can be answered one by one."""
        questions = {key: ask(f"The {key} question", {key: TEXT}) for key in ("first", "second")}
        if any(answer(ctx, key, types.ElicitResult) is None for key in questions):
            return needs(questions)
        return "Both are answered."

    @mcp.tool(task=TaskConfig(mode="required"))
    async def test_tool_with_task(ctx: Context) -> str | types.InputRequiredResult:
        """Asks for a name; FastMCP makes the task before it asks, where the suite expects it after."""
        given = answer(ctx, "user_name", types.ElicitResult)
        if given is None:
            return needs({"user_name": ask("What is your name?", {"name": TEXT})})
        return f"Done for {(given.content or {}).get('name')}."
