"""The bridge's connection to a server: to a process over standard input and output, or to a server object in this
process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from typing import Any, Protocol

#: Size of one message in bytes: the gateway's limit for requests.
_MAX_LINE_BYTES = 4 * 1024 * 1024

#: Time for a process to exit by itself after its standard input is closed, and after SIGTERM.
_GRACE_SECONDS = 1.0


class LinkEnded(Exception):
    """The server takes no more messages; the text says why."""


class Link(Protocol):
    #: Why it ended.
    reason: str

    async def send(self, message: dict[str, Any]) -> None:
        """Raises LinkEnded."""

    async def receive(self) -> dict[str, Any] | None:
        """The server's next message; None when it has ended."""

    async def close(self) -> None:
        """Ends the server, or its part for this session."""


class ProcessLink:
    """A process that speaks MCP on its standard input and output, one message per line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.reason = "The server's process has ended."

    @staticmethod
    async def open(command: list[str]) -> ProcessLink:
        """Raises LinkEnded when no process can be started."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=_MAX_LINE_BYTES)
        except OSError as error:
            raise LinkEnded(f"No process can be started for another session: {error.strerror}.") from None
        return ProcessLink(process)

    async def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            await self._process.stdin.drain()
        except (ConnectionError, RuntimeError):
            raise LinkEnded(self.reason) from None

    async def receive(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        while True:
            try:
                line = await self._process.stdout.readline()
            except ValueError:
                self.reason = f"The server printed a line of more than {_MAX_LINE_BYTES} bytes."
                return None
            if not line:
                status = await self._process.wait()
                self.reason = f"The server's process has ended with status {status}."
                return None
            message = _parsed(line)
            if message is not None:
                return message
            # Not a message: its output belongs to the log.
            print(line.decode(errors="replace"), end="", file=sys.stderr)

    async def close(self) -> None:
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        for end in (lambda: None, process.terminate, process.kill):
            with contextlib.suppress(ProcessLookupError):
                end()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
                return


class ObjectLink:
    """A run of a low-level `Server` of an SDK that predates streamable HTTP, as its SSE transport makes one for each
    connection. Lifespans of such servers are entered for each run.
    """

    def __init__(self, server: Any) -> None:
        import anyio

        self.reason = "The server has ended this session."
        # What one side sends, the other receives.
        self._to_server, read = anyio.create_memory_object_stream(0)
        write, self._from_server = anyio.create_memory_object_stream(0)
        self._task = asyncio.create_task(self._run(server, read, write))

    async def _run(self, server: Any, read: Any, write: Any) -> None:
        try:
            await server.run(read, write, server.create_initialization_options())
        except Exception as error:
            self.reason = f"The server has failed: {type(error).__name__}: {error}"
            raise
        finally:
            write.close()
            read.close()

    async def send(self, message: dict[str, Any]) -> None:
        import anyio

        try:
            await self._to_server.send(_wrapped(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise LinkEnded(self.reason) from None

    async def receive(self) -> dict[str, Any] | None:
        import anyio

        try:
            sent = await self._from_server.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return None
        message = getattr(sent, "message", sent)
        dumped: dict[str, Any] = message.model_dump(by_alias=True, mode="json", exclude_none=True)
        return dumped

    async def close(self) -> None:
        self._to_server.close()
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await self._task
        self._from_server.close()


def _wrapped(message: dict[str, Any]) -> Any:
    """The message in the form of the SDK's streams."""
    from mcp.types import JSONRPCMessage

    parsed = JSONRPCMessage.model_validate(message)
    try:
        from mcp.shared.message import SessionMessage
    except ImportError:
        return parsed
    return SessionMessage(parsed)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else None
