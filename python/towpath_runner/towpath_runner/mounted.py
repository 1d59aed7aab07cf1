"""Finds the MCP server of an app that doesn't serve it at `/mcp`: at another path, or over the SSE transport (BLD-16).
Serving it at `/mcp` happens within the app, so its middleware and its lifespan apply there, too.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from towpath_runner.adapt import MCP_PATH, to_asgi
from towpath_runner.asgi import App, Receive, Send, at_path
from towpath_runner.kinds import ASGI, is_asgi, kind_of
from towpath_runner.status import Failure

_MAX_OBJECTS = 500

#: Identifies code that may check its callers itself.
_CHECKING = frozenset({"headers", "authorization", "cookies", "auth", "query_params"})


def with_mcp(app: Any) -> App:
    """The app with MCP at `/mcp`, if its only server isn't there yet; else the app unchanged. Raises
    `unsupported_object` if the server has SSE only and its routes may check callers themselves.
    """
    starlette = _starlette(app)
    if starlette is None:
        return app
    routes = list(_routes(starlette.routes))
    if any(path.rstrip("/") == MCP_PATH for path, _ in routes):
        return app
    streamable = {path for path, endpoint in routes if _has_manager(endpoint)}
    if len(streamable) == 1:
        return _moved(app, streamable.pop())
    sse = [endpoint for _, endpoint in routes]
    servers = {} if streamable else _servers(sse)
    if len(servers) != 1:
        return app
    if any(_checks(endpoint) for endpoint in sse):
        message = (
            "The app serves MCP over the SSE transport only, and its routes seem to check callers by themselves, "
            "so it can't be served at /mcp without them. Serve streamable HTTP at /mcp instead."
        )
        raise Failure("unsupported_object", message)
    _add(starlette, next(iter(servers.values())))
    return app


def _starlette(app: Any) -> Any:
    """The Starlette or FastAPI app itself, within its outer middleware."""
    for _ in range(20):
        if isinstance(getattr(app, "routes", None), list) and hasattr(getattr(app, "router", None), "lifespan_context"):
            return app
        app = getattr(app, "app", None)
    return None


def _routes(routes: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and endpoints, including those of mounted apps; a mount's own path for an app without routes."""
    for route in routes:
        path = prefix + getattr(route, "path", "")
        inner = getattr(route, "routes", None)
        if inner:
            yield from _routes(inner, path)
        else:
            yield path, getattr(route, "app", None) if not hasattr(route, "endpoint") else route.endpoint


def _has_manager(endpoint: Any) -> bool:
    """Whether it passes requests to a session manager. FastMCP 3 and newer create theirs only when the app starts."""
    return any(
        callable(getattr(type(each), "handle_request", None)) or "session_manager" in getattr(each, "__dict__", ())
        for each in _related(endpoint)
        if not _is_server(each)
    )


def _moved(app: App, path: str) -> App:
    async def at_mcp(scope: Any, receive: Receive, send: Send) -> None:
        moved = scope["type"] == "http" and scope["path"].rstrip("/") == MCP_PATH
        await app(at_path(scope, path) if moved else scope, receive, send)

    return at_mcp


def _servers(endpoints: list[Any]) -> dict[int, Any]:
    """The servers that the endpoints use, by identity, each once: FastMCP's own low-level server doesn't count
    separately.
    """
    found: dict[int, Any] = {}
    for endpoint in endpoints:
        for value in _related(endpoint):
            if kind_of(value) not in (None, ASGI):
                found[id(value)] = value
    inner = {id(getattr(value, name, None)) for value in found.values() for name in ("_mcp_server", "_lowlevel_server")}
    return {key: value for key, value in found.items() if key not in inner}


def _checks(endpoint: Any) -> bool:
    return any(
        isinstance(value, FunctionType)
        and not value.__module__.startswith(("mcp.", "fastmcp.", "starlette.", "fastapi."))
        and not _CHECKING.isdisjoint(_names(value.__code__))
        for value in _related(endpoint)
    )


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*(_names(each) for each in inner))


def _related(endpoint: Any) -> Iterator[Any]:
    """The endpoint, and the objects that it uses: variables around its functions, global servers, apps that it wraps.
    """
    seen: set[int] = set()
    waiting: deque[Any] = deque([endpoint])
    while waiting and len(seen) < _MAX_OBJECTS:
        value = waiting.popleft()
        if id(value) in seen or isinstance(value, (ModuleType, type, str, int, float, bytes)):
            continue
        seen.add(id(value))
        yield value
        # The parts of a server don't count separately.
        if kind_of(value) in (None, ASGI):
            waiting.extend(_parts(value))


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            with contextlib.suppress(ValueError):
                yield cell.cell_contents
        variables: Mapping[str, Any] = value.__globals__
        used = (variables.get(name) for name in _names(value.__code__))
        own = (each for each in used if getattr(each, "__module__", None) == value.__module__ or _is_server(each))
        yield from own
    elif is_asgi(value):
        yield from getattr(value, "__dict__", {}).values()


def _is_server(value: Any) -> bool:
    return kind_of(value) not in (None, ASGI)


def _add(starlette: Any, server: Any) -> None:
    """Serves `server` at `/mcp` of the app, and runs its lifespan within that of the app."""
    from starlette.routing import Route

    inner = to_asgi(server, kind_of(server) or ASGI)

    class Endpoint:
        """A class, because Route treats functions as request handlers and anything else as an app."""

        def __init__(self) -> None:
            #: Builds look for it (inspection.py).
            self.app = inner

        async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
            await inner(at_path(scope, MCP_PATH), receive, send)

    outer = starlette.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> Any:
        async with outer(app) as state, _lifespan_of(inner):
            yield state

    starlette.router.lifespan_context = lifespan
    starlette.router.routes.insert(0, Route(MCP_PATH, endpoint=Endpoint()))


def _lifespan_of(app: Any) -> Any:
    inner = _starlette(app)
    return contextlib.nullcontext() if inner is None else inner.router.lifespan_context(inner)
