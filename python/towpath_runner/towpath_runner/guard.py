"""Patches the frameworks as their modules load; importing them early would slow down the start.

A server that the code starts is captured (capture.py); if nothing can be captured, the call raises an exception instead
of taking over the process. The SDK's Host check is disabled, because the gateway checks it and the public name is not
known here. Sessions of mcp 1 learn which request a message belongs to.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from towpath_runner.capture import Capture, NoStream, no_streams
from towpath_runner.kinds import split_vendored
from towpath_runner.request_id import carry_into_sessions

_RUN_METHODS = (
    "run",
    "run_async",
    "run_stdio_async",
    "run_http_async",
    "run_sse_async",
    "run_streamable_http_async",
)

#: The server that a call starts, from its arguments; None if it starts no server of the repository.
ServerOf = Callable[..., Any]


class StartedWhileLoading(BaseException):
    """Raised where the server's code starts a server. Not an Exception, so that `except Exception` doesn't catch it."""

    def __init__(self, call: str) -> None:
        super().__init__(call)
        self.call = call


class ImportGuard:
    """A meta path finder that patches the modules in its table after they have run, also vendored ones."""

    def __init__(self) -> None:
        self._loading = False
        #: Takes a server that the code starts; None while there is no server yet (prewarm.py).
        self.capture: Capture | None = None
        self._patches: dict[str, Callable[[ModuleType], None]] = {
            "fastmcp.server.server": lambda module: self._watch(module.FastMCP, _RUN_METHODS, _itself),
            "mcp.server.fastmcp.server": lambda module: self._watch(module.FastMCP, _RUN_METHODS, _itself),
            "mcp.server.mcpserver.server": lambda module: self._watch(module.MCPServer, _RUN_METHODS, _itself),
            "mcp.server.stdio": self._without_stdio,
            "mcp.server.transport_security": _accept_any_host,
            "mcp.server.lowlevel.server": self._patch_lowlevel,
            "mcp.server": self._patch_first_lowlevel,
            "uvicorn.main": lambda module: self._watch(module, ("run",), _app_of),
            "uvicorn.server": lambda module: self._watch(module.Server, ("run", "serve"), _app_of_server),
        }

    def __enter__(self) -> None:
        """Until the end of the block, or the first captured call, calls that start a server are intercepted."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        self._loading = True

    def __exit__(self, *_: object) -> None:
        self._loading = False

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        patch = self._patches.get(split_vendored(fullname)[1])
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

    def _watch(self, owner: Any, names: tuple[str, ...], server_of: ServerOf) -> None:
        for name in names:
            original = getattr(owner, name, None)
            if original is not None:
                setattr(owner, name, self._instead_of(f"{owner.__name__}.{name}", original, server_of))

    def _instead_of(self, call: str, original: Callable[..., Any], server_of: ServerOf) -> Callable[..., Any]:
        is_async = inspect.iscoroutinefunction(original)

        @functools.wraps(original)
        def checked(*args: Any, **kwargs: Any) -> Any:
            # Other threads may serve something else, for example metrics.
            if not self._loading or threading.current_thread() is not threading.main_thread():
                return original(*args, **kwargs)
            server = server_of(*args, **kwargs)
            if server is None:
                return original(*args, **kwargs)
            if self.capture is None or not self.capture.accepts(server):
                raise StartedWhileLoading(call)
            # Serving it calls the originals.
            self._loading = False
            return (self.capture.run_async if is_async else self.capture.run)(server, kwargs)

        return checked

    def _without_stdio(self, module: ModuleType) -> None:
        original = module.stdio_server

        @functools.wraps(original)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if not self._loading or threading.current_thread() is not threading.main_thread():
                return original(*args, **kwargs)
            if self.capture is None:
                raise StartedWhileLoading("mcp.server.stdio.stdio_server")
            return no_streams()

        module.stdio_server = checked  # type: ignore[attr-defined]

    def _patch_first_lowlevel(self, module: ModuleType) -> None:
        """mcp 1.0 and 1.1 define it here; later releases import it from its current place."""
        if module.Server.__module__ == module.__name__:
            self._watch(module.Server, ("run",), _of_stdio)

    def _patch_lowlevel(self, module: ModuleType) -> None:
        carry_into_sessions(module)
        self._watch(module.Server, ("run",), _of_stdio)


def _itself(server: Any, *_: Any, **__: Any) -> Any:
    return server


def _of_stdio(server: Any, read_stream: Any = None, *_: Any, **__: Any) -> Any:
    """Clients in the same process run a server over their own streams; that starts nothing to be served."""
    return server if isinstance(read_stream, NoStream) else None


def _app_of(app: Any, *_: Any, factory: bool = False, **__: Any) -> Any:
    """uvicorn also accepts the name of an app, or a function that creates it."""
    if isinstance(app, str):
        from uvicorn.importer import import_from_string

        app = import_from_string(app)
    return app() if factory else app


def _app_of_server(server: Any, *_: Any, **__: Any) -> Any:
    return _app_of(server.config.app, factory=server.config.factory)


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
