"""Calls a tool of the URL given as a task with the client of FastMCP 3 (2025-11-25), and prints what it learned of it."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str, tool: str) -> None:
    async with Client(url) as client:
        task = await client.call_tool(tool, {"call": "fastmcp", "seconds": 2}, task=True)
        notified: list[str] = []
        task.on_status_change(lambda status: notified.append(status.status))
        first = (await client.get_task_status(task.task_id)).status
        result = (await task.result()).content[0].text
        listed = [each["taskId"] == task.task_id for each in (await client.list_tasks())["tasks"]]
        print(json.dumps({"isTask": not task.returned_immediately, "first": first, "notified": notified, "result": result, "listed": listed}))


asyncio.run(main(*sys.argv[1:]))
