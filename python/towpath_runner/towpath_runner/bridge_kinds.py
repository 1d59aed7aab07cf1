"""The two kinds of bridge: over a server object of an old SDK, and over a program that speaks MCP on stdio only."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

from towpath_runner.bridge import Bridge
from towpath_runner.link import Link, LinkEnded, ObjectLink, ProcessLink

#: Sessions over one server object share its memory, those over processes don't.
_MAX_OBJECT_SESSIONS = 200
_MAX_PROCESSES = 8

#: How long a program may take to answer its first message, and how long the whole start: builds wait a minute for it.
_MIN_ANSWER_SECONDS = 20.0
_START_SECONDS = 50.0

_NOTES = {
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
    """For FastMCP and low-level servers of releases that know no streamable HTTP."""
    lowlevel = getattr(server, "_mcp_server", server)

    async def open_link() -> Link:
        return ObjectLink(lowlevel)

    return Bridge("object", open_link, _MAX_OBJECT_SESSIONS)


def over_program(entrypoint: str, arguments: Sequence[str]) -> Bridge:
    """For programs: each session gets a process of its own."""
    command = [sys.executable, "-m", "towpath_runner.stdio_child", entrypoint, *arguments]
    return Bridge("program", lambda: ProcessLink.open(command), _MAX_PROCESSES)


def note_of(bridge: Bridge) -> str:
    """What the log says."""
    return _NOTES[bridge.over]


async def answers(bridge: Bridge) -> bool:
    """Whether what the bridge starts answers an `initialize`."""
    link = await bridge.open_link()
    try:
        await link.send(_HELLO)
        answer = await asyncio.wait_for(_response(link), _answer_seconds())
        return answer is not None and "result" in answer
    except (LinkEnded, asyncio.TimeoutError):
        return False
    finally:
        await link.close()


def _answer_seconds() -> float:
    """What is left of the start; the first attempt may have taken much of it."""
    with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
        # The 22nd field, after a name that may contain spaces. It stays when the process executes another program.
        started = int(stat.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        elapsed = float(uptime.read().split()[0]) - started
    return max(_MIN_ANSWER_SECONDS, _START_SECONDS - elapsed)


async def _response(link: Link) -> dict[str, Any] | None:
    while (message := await link.receive()) is not None:
        if message.get("id") == _HELLO["id"] and "method" not in message:
            return message
    return None
