"""A way past the server's own sign-in, for the build that reads its lists: to the loaded object, without its HTTP layers.

FastMCP and the SDK put authentication around one inner app, which hands requests to the session manager of the running
server. That app is found and asked directly, so the lists are those of the very server that will serve.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

from towpath_runner.adapt import MCP_PATH
from towpath_runner.asgi import App, Message, Receive, Send, at_path
from towpath_runner.kinds import is_asgi

#: Objects of an app that are looked at: far more than any app of one server has.
_MOST_OBJECTS = 2_000

_NOT_FOUND: tuple[Message, ...] = (
    {"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]},
    {"type": "http.response.body", "body": b""},
)


class Inspection:
    """Answers MCP at `path` past everything that stands before it; 404 when the server inside cannot be told apart."""

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


def _endpoint(roots: tuple[object, ...]) -> App | None:
    """What gives requests to the one session manager below the app; None when there is none, or several."""
    endpoints: dict[int, App] = {}
    seen: set[int] = set()
    waiting = deque(roots)
    while waiting and len(seen) < _MOST_OBJECTS:
        value = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        manager = _attribute(value, "session_manager")
        if callable(_attribute(manager, "handle_request")):
            # mcp 1's FastMCP has the manager too, but is no app.
            endpoints.setdefault(id(manager), value if is_asgi(value) else manager.handle_request)
        else:
            waiting.extend(_parts(value))
    return next(iter(endpoints.values())) if len(endpoints) == 1 else None


def _parts(value: object) -> Iterator[object]:
    """What an app is put together of: the apps that it holds, and its routes (Starlette, FastAPI)."""
    members = getattr(value, "__dict__", {})
    yield from (member for member in list(members.values()) if is_asgi(member))
    routes = _attribute(value, "routes")
    if isinstance(routes, (list, tuple)):
        yield from routes


def _attribute(value: object, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:
        # A property that refuses, for example mcp 1's before it has an app.
        return None


def _skip_component_sign_in() -> None:
    """FastMCP 3 and newer hide tools with an `auth` of their own from strangers, except over stdio."""
    context = sys.modules.get("fastmcp.server.context")
    set_transport = getattr(context, "set_transport", None)
    if callable(set_transport):
        set_transport("stdio")
