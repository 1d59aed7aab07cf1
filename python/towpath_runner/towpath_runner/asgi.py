"""Thin ASGI layers between uvicorn and the server's app, and the detection of clients that disconnect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from towpath_runner.adapt import MCP_PATH

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

Result = TypeVar("Result")

_OTHER = {MCP_PATH: MCP_PATH + "/", MCP_PATH + "/": MCP_PATH}


class LifespanWatch:
    """Records why the app failed to start, which uvicorn only logs."""

    def __init__(self, app: App) -> None:
        self._app = app
        #: The exception that the app raised before it had started.
        self.error: BaseException | None = None
        #: The message of `lifespan.startup.failed`, if it did not raise.
        self.message = ""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        answer = ""

        async def watched(message: Message) -> None:
            nonlocal answer
            answer = message["type"]
            if answer == "lifespan.startup.failed":
                # The message is a traceback that includes our frames. The failure logs a trimmed one instead.
                self.message = message.get("message", "")
                message = {"type": answer, "message": ""}
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except BaseException as error:
            if answer == "lifespan.startup.failed":
                self.error = error
                return
            if not answer:
                self.error = error
            raise


class EitherSlash:
    """Serves `/mcp` and `/mcp/` alike, where the app knows only one and redirects to it. A redirect would contain an
    absolute URL made from headers, and not every client repeats a POST. Instead the app gets the request again with the
    other path, and from then on only with that.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._served_at: str | None = None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = scope.get("path")
        if scope["type"] != "http" or path not in _OTHER:
            await self._app(scope, receive, send)
        elif self._served_at is not None:
            await self._app(at_path(scope, self._served_at), receive, send)
        else:
            await self._first(scope, receive, send, _OTHER[path])

    async def _first(self, scope: MutableMapping[str, Any], receive: Receive, send: Send, other: str) -> None:
        body_taken = redirected = False

        async def watched_receive() -> Message:
            nonlocal body_taken
            body_taken = True
            return await receive()

        async def watched_send(message: Message) -> None:
            nonlocal redirected
            if message["type"] == "http.response.start" and not body_taken:
                redirected = _points_to(message, other)
            if not redirected:
                await send(message)

        await self._app(scope, watched_receive, watched_send)
        if redirected:
            self._served_at = other
            await self._app(at_path(scope, other), receive, send)


def at_path(scope: MutableMapping[str, Any], path: str) -> MutableMapping[str, Any]:
    """The same request with another path."""
    return {**scope, "path": path, "raw_path": path.encode("ascii")}


def _points_to(response: Message, path: str) -> bool:
    if response["status"] not in (307, 308):
        return False
    headers = {bytes(name).lower(): bytes(value) for name, value in response.get("headers", [])}
    return urlsplit(headers.get(b"location", b"").decode("latin-1")).path == path


async def unless_left(work: Coroutine[Any, Any, Result], receive: Receive) -> Result | None:
    """The result of `work`; None if the client disconnects first, which cancels it."""
    working, left = asyncio.ensure_future(work), asyncio.create_task(disconnected(receive))
    try:
        await asyncio.wait({working, left}, return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else None
    finally:
        for task in (working, left):
            task.cancel()
        await asyncio.gather(working, left, return_exceptions=True)


async def disconnected(receive: Receive) -> None:
    """Returns when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
