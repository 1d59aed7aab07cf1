"""Patches the frameworks as their modules load; importing them early would slow down the start.

A server that starts itself while its file is loaded gets an exception instead of taking over the process. The SDK's
Host check is disabled, because the gateway checks it and the public name is not known here. Sessions of mcp 1 learn to
which request a message belongs.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from towpath_runner.request_id import carry_into_sessions

_RUN_METHODS = (
    "run",
    "run_async",
    "run_stdio_async",
    "run_http_async",
    "run_sse_async",
    "run_streamable_http_async",
)


class StartedWhileLoading(BaseException):
    """Raised where the server's code starts a server. Not an Exception, so that `except Exception` doesn't catch it."""

    def __init__(self, call: str) -> None:
        super().__init__(call)
        self.call = call


class ImportGuard:
    """A meta path finder that patches the modules in its table after they have run."""

    def __init__(self) -> None:
        self._loading = False
        self._patches: dict[str, Callable[[ModuleType], None]] = {
            "fastmcp.server.server": lambda module: self._forbid(module.FastMCP, *_RUN_METHODS),
            "mcp.server.fastmcp.server": lambda module: self._forbid(module.FastMCP, *_RUN_METHODS),
            "mcp.server.mcpserver.server": lambda module: self._forbid(module.MCPServer, *_RUN_METHODS),
            "mcp.server.stdio": lambda module: self._forbid(module, "stdio_server"),
            "mcp.server.transport_security": _accept_any_host,
            "mcp.server.lowlevel.server": carry_into_sessions,
            "uvicorn.main": lambda module: self._forbid(module, "run"),
            "uvicorn.server": lambda module: self._forbid(module.Server, "run", "serve"),
        }

    def __enter__(self) -> None:
        """Until the end of the block, starting a server raises `StartedWhileLoading`."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        self._loading = True

    def __exit__(self, *_: object) -> None:
        self._loading = False

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        patch = self._patches.get(fullname)
        if patch is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                loader: Any = spec.loader
                if hasattr(loader, "exec_module"):
                    loader.exec_module = _then(loader.exec_module, patch)
                return spec
        return None

    def _forbid(self, owner: Any, *names: str) -> None:
        for name in names:
            original = getattr(owner, name, None)
            if original is not None:
                setattr(owner, name, self._forbidden(f"{owner.__name__}.{name}", original))

    def _forbidden(self, call: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def checked(*args: Any, **kwargs: Any) -> Any:
            # Other threads may serve something of their own, for example metrics.
            if self._loading and threading.current_thread() is threading.main_thread():
                raise StartedWhileLoading(call)
            return original(*args, **kwargs)

        return checked


def _then(run: Callable[[ModuleType], None], patch: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def run_and_patch(module: ModuleType) -> None:
        run(module)
        patch(module)

    return run_and_patch


def _accept_any_host(module: ModuleType) -> None:
    """Also covers apps that the server's own code creates, where we can't pass arguments."""
    middleware, settings = module.TransportSecurityMiddleware, module.TransportSecuritySettings
    original = middleware.__init__

    @functools.wraps(original)
    def without_host_check(self: Any, *_: Any, **__: Any) -> None:
        original(self, settings(enable_dns_rebinding_protection=False))

    middleware.__init__ = without_host_check
