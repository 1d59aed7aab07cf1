"""Tracks which request the running code belongs to, in tasks and threads too, for the marks on its output (LOG-4)."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from types import ModuleType
from typing import Any

#: Set by the gateway, which removes clients' own copies.
HEADER = b"towpath-request-id"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_current: ContextVar[str | None] = ContextVar("towpath_request_id", default=None)


def current_request_id() -> str | None:
    """The id of the request to which the running code belongs. None outside of any."""
    return _current.get()


class RequestIds:
    """An ASGI layer that runs each request with its id. Tasks and threads that a request starts keep its id, even if
    they outlive it.
    """

    def __init__(self, app: Any, on_end: Callable[[str], None]) -> None:
        """`on_end` gets the id of each request that has ended."""
        self._app = app
        self._on_end = on_end

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _checked(next((value for name, value in scope["headers"] if name == HEADER), None))
        token = _current.set(request_id)
        try:
            await self._app(scope, receive, send)
        finally:
            _current.reset(token)
            if request_id is not None:
                self._on_end(request_id)


def carry_into_threads() -> None:
    """From now on, threads and jobs of thread pools run with the id of the request that started them.

    asyncio and anyio do that for their own worker threads; `run_in_executor` and bare threads don't.
    """
    start, submit = threading.Thread.start, ThreadPoolExecutor.submit

    @functools.wraps(start)
    def start_with_id(self: threading.Thread) -> None:
        request_id = _current.get()
        if request_id is not None:
            self.run = functools.partial(_run_with, request_id, self.run)  # type: ignore[method-assign]
        start(self)

    @functools.wraps(submit)
    def submit_with_id(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        # Also without an id: a pool's thread has that of the request in which the pool grew.
        return submit(self, _run_with, _current.get(), fn, *args, **kwargs)

    threading.Thread.start = start_with_id  # type: ignore[method-assign]
    ThreadPoolExecutor.submit = submit_with_id  # type: ignore[method-assign]


def carry_into_sessions(module: ModuleType) -> None:
    """Patches the low-level server of mcp 1, whose sessions handle all messages in the context of the first one. Each
    message knows its HTTP request. mcp 2 carries the context of each message itself, and has no such method.
    """
    original = getattr(module.Server, "_handle_message", None)
    if original is None:
        return

    @functools.wraps(original)
    async def handle_with_id(self: Any, message: Any, *args: Any, **kwargs: Any) -> Any:
        # Notifications don't name their request: their lines have no id, rather than that of the session's first one.
        request = getattr(getattr(message, "message_metadata", None), "request_context", None)
        headers = getattr(request, "headers", None)
        value = None if headers is None else headers.get(HEADER.decode())
        token = _current.set(_checked(value.encode() if isinstance(value, str) else None))
        try:
            return await original(self, message, *args, **kwargs)
        finally:
            _current.reset(token)

    module.Server._handle_message = handle_with_id


def _checked(value: bytes | None) -> str | None:
    text = "" if value is None else bytes(value).decode("latin-1")
    return text if _UUID.fullmatch(text) else None


def _run_with(request_id: str | None, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    token = _current.set(request_id)
    try:
        return function(*args, **kwargs)
    finally:
        _current.reset(token)
