"""Converts a server of any kind to an ASGI app with MCP at `/mcp` (BLD-5)."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from towpath_runner.environment import SESSION_IDLE_SECONDS
from towpath_runner.kinds import ASGI, FASTMCP, SDK_FASTMCP, SDK_LOWLEVEL, SDK_SERVER, framework_prefix

#: An ASGI app is served unchanged and must have this path itself.
MCP_PATH = "/mcp"


#: Arguments of the captured call that matter on HTTP, too: middleware may be its sign-in.
_KEPT = frozenset({"middleware", "json_response", "stateless_http", "event_store", "retry_interval"})


def to_asgi(server: Any, kind: str, options: Mapping[str, Any] | None = None) -> Any:
    """The app to serve; `options` are arguments of the call that would have started it. A bridge for versions that
    predate streamable HTTP.
    """
    kept = {name: value for name, value in (options or {}).items() if name in _KEPT and value is not None}
    adapters: dict[str, Callable[[Any], Any]] = {
        ASGI: lambda app: app,
        FASTMCP: lambda server: _fastmcp(server, kept),
        SDK_FASTMCP: _sdk_fastmcp,
        SDK_SERVER: lambda server: _sdk_server(server, kept),
        SDK_LOWLEVEL: _sdk_lowlevel,
    }
    return adapters[kind](server)


def _fastmcp(server: Any, kept: Mapping[str, Any]) -> Any:
    if not hasattr(server, "http_app"):
        return _bridge(server)
    # Keeps the framework's defaults for sessions and response format.
    return _call(server.http_app, path=MCP_PATH, host_origin_protection=False, **kept)


def _sdk_fastmcp(server: Any) -> Any:
    if not hasattr(server, "streamable_http_app"):
        return _bridge(server)
    # mcp 1 takes the path from the server's settings. guard.py has disabled its Host check.
    server.settings.streamable_http_path = MCP_PATH
    return server.streamable_http_app()


def _sdk_server(server: Any, kept: Mapping[str, Any]) -> Any:
    security = _module_of(server, "mcp.server.transport_security")
    return _call(
        server.streamable_http_app,
        streamable_http_path=MCP_PATH,
        transport_security=security.TransportSecuritySettings(enable_dns_rebinding_protection=False),
        session_idle_timeout=SESSION_IDLE_SECONDS,
        **kept,
    )


def _sdk_lowlevel(server: Any) -> Any:
    return _sdk_server(server, {}) if hasattr(server, "streamable_http_app") else _wrap_lowlevel(server)


def _wrap_lowlevel(server: Any) -> Any:
    """mcp 1 has no app for its low-level server; this one is like the app of its FastMCP."""
    try:
        manager_of = _module_of(server, "mcp.server.streamable_http_manager").StreamableHTTPSessionManager
    except ImportError:
        return _bridge(server)
    from starlette.applications import Starlette
    from starlette.routing import Route

    manager = _call(manager_of, app=server, session_idle_timeout=SESSION_IDLE_SECONDS)

    class Endpoint:
        """A class, because Route treats functions as request handlers and anything else as an app."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(routes=[Route(MCP_PATH, endpoint=Endpoint())], lifespan=lifespan)


def _module_of(server: Any, name: str) -> Any:
    """A module of the server's framework, which its package may have vendored."""
    return importlib.import_module(framework_prefix(server) + name)


def _call(function: Callable[..., Any], **arguments: Any) -> Any:
    """Calls with only those arguments that this version of the framework has."""
    known = inspect.signature(function).parameters
    return function(**{name: value for name, value in arguments.items() if name in known})


def _bridge(server: Any) -> Any:
    # Here, because few servers need it, and it imports this module's constants.
    from towpath_runner.bridge_kinds import over_object

    return over_object(server)
