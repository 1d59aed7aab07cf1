"""Lets a build read the lists of a server that does its own sign-in, by bypassing the HTTP layers around it.

FastMCP and the SDK wrap authentication around one inner app, which passes requests to the session manager of the
running server. That app is found and called directly, so the lists are those of the server that will run.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from typing import Any

from towpath_runner.adapt import MCP_PATH
from towpath_runner.asgi import App, Message, Receive, Send, at_path
from towpath_runner.kinds import is_asgi

#: Limit of searched objects: far more than an app with one server has.
_MAX_OBJECTS = 2_000

_NOT_FOUND: tuple[Message, ...] = (
    {"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]},
    {"type": "http.response.body", "body": b""},
)


class Inspection:
    """Serves MCP at `path`, bypassing the outer layers; 404 unless exactly one server is found inside."""

    def __init__(self, app: App, server: object, path: str) -> None:
        self._app = app
        self._roots = (app, server)
        self._path = path

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != self._path:
            await self._app(scope, receive, send)
            return
        endpoint = _endpoint(self._roots)
        if endpoint is None:
            for message in _NOT_FOUND:
                await send(message)
            return
        _skip_component_sign_in()
        await endpoint(at_path(scope, MCP_PATH), receive, send)


async def try_session_lifespan(server: object) -> None:
    """Raises what the lifespan of a session raises. With mcp 1 each session has one, and if it fails, the client gets
    no answer.
    """
    lowlevel = _attribute(server, "_mcp_server") or server
    lifespan = _attribute(lowlevel, "lifespan")
    # The SDK's later versions have one for all sessions, which has started by then.
    if not callable(lifespan) or hasattr(lowlevel, "streamable_http_app"):
        return
    stack = AsyncExitStack()
    await stack.enter_async_context(lifespan(lowlevel))
    with suppress(Exception):
        await stack.aclose()


def _endpoint(roots: tuple[object, ...]) -> App | None:
    """The app that passes requests to the one session manager below the roots; None if there is none, or several."""
    endpoints: dict[int, App] = {}
    seen: set[int] = set()
    waiting = deque(roots)
    while waiting and len(seen) < _MAX_OBJECTS:
        value = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        manager = _attribute(value, "session_manager")
        if callable(_attribute(manager, "handle_request")):
            # mcp 1's FastMCP has the manager too, but is not an app.
            endpoints.setdefault(id(manager), value if is_asgi(value) else manager.handle_request)
        else:
            waiting.extend(_parts(value))
    return next(iter(endpoints.values())) if len(endpoints) == 1 else None


def _parts(value: object) -> Iterator[object]:
    """The apps that an app contains, and its routes (Starlette, FastAPI)."""
    members = getattr(value, "__dict__", {})
    yield from (member for member in list(members.values()) if is_asgi(member))
    routes = _attribute(value, "routes")
    if isinstance(routes, (list, tuple)):
        yield from routes


def _attribute(value: object, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:
        # A property that raises, such as mcp 1's before it has an app.
        return None


def _skip_component_sign_in() -> None:
    """FastMCP 3 and newer list tools with `auth` only to authorized callers, except over stdio."""
    for name, module in list(sys.modules.items()):
        if name.endswith("fastmcp.server.context") and callable(set_transport := getattr(module, "set_transport", None)):
            set_transport("stdio")
