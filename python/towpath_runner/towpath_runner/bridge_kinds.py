"""The two kinds of bridge: over a server object of an old SDK, and over a program that speaks MCP on stdio only."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

from towpath_runner.bridge import Bridge
from towpath_runner.link import Link, LinkEnded, ObjectLink, ProcessLink

#: Sessions over one server object share its memory, those over processes don't.
_MAX_OBJECT_SESSIONS = 200
_MAX_PROCESSES = 8

#: How long a program may always take to answer its first message, and how much of the start is reserved for the rest.
_MIN_ANSWER_SECONDS = 20.0
_REST_SECONDS = 10.0

_UPGRADE_HINTS = {
    "object": "The installed `mcp` is older than 1.8 and can't serve HTTP, so a bridge passes each session to the server. "
    "Upgrade to `mcp>=1.8`, or `fastmcp>=2.3.2`.",
    "program": "The program speaks MCP on standard input and output only, so a bridge starts a process of it for each "
    f"session, at most {_MAX_PROCESSES} at the same time. Upgrade to `mcp>=1.8` or `fastmcp` to serve all of them in one.",
}

_HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "towpath", "version": "1"},
    },
}


def over_object(server: Any) -> Bridge:
    """For FastMCP and low-level servers of releases without streamable HTTP."""
    lowlevel = getattr(server, "_mcp_server", server)

    async def open_link() -> Link:
        return ObjectLink(lowlevel)

    return Bridge("object", open_link, _MAX_OBJECT_SESSIONS)


def over_program(entrypoint: str, arguments: Sequence[str]) -> Bridge:
    """For programs: each session gets its own process."""
    command = [sys.executable, "-m", "towpath_runner.stdio_child", entrypoint, *arguments]
    return Bridge("program", lambda: ProcessLink.open(command), _MAX_PROCESSES)


def upgrade_hint(bridge: Bridge) -> str:
    """Why there is a bridge, and how to do without, for the log."""
    return _UPGRADE_HINTS[bridge.over]


async def answers(bridge: Bridge, seconds: float) -> bool:
    """Whether the bridge's link answers an `initialize`. If so, it waits for the first session. `seconds`: remaining
    time of the start, of which the first attempt may have used much.
    """
    link = await bridge.open_link()
    try:
        await link.send(_HELLO)
        answer = await asyncio.wait_for(_response(link), max(_MIN_ANSWER_SECONDS, seconds - _REST_SECONDS))
    except (LinkEnded, asyncio.TimeoutError):
        answer = None
    if answer is not None and "result" in answer:
        bridge.started = link
        return True
    await link.close()
    return False


async def _response(link: Link) -> dict[str, Any] | None:
    while (message := await link.receive()) is not None:
        if message.get("id") == _HELLO["id"] and "method" not in message:
            return message
    return None
