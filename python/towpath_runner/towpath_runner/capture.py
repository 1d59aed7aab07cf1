"""Serves a server in place of the call that would start it (BLD-16).

The code around the call is unaffected: context managers stay open, tasks continue, and it cleans up when the call
returns, as it does when a client closes standard input.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from towpath_runner.kinds import kind_of
from towpath_runner.status import Failure


class NotServed(BaseException):
    """Raised from the call when serving failed. Not an Exception, so that `except Exception` doesn't catch it."""


class OtherEventLoop(BaseException):
    """Raised from the call in an event loop that can't serve HTTP here. Not an Exception, either."""


class NoStream:
    """Stands for the standard input and output of a server that will be served on the socket instead."""


class Capture:
    """Takes the first server that the code starts. `serve` gets it, and the arguments of the call by keyword."""

    def __init__(self, serve: Callable[[Any, Mapping[str, Any]], Coroutine[Any, Any, None]]) -> None:
        self._serve = serve
        #: A call was captured.
        self.taken = False
        #: It was served until a signal ended it.
        self.finished = False
        #: Why it couldn't be served.
        self.failure: Failure | None = None

    def accepts(self, server: object) -> bool:
        """Whether it can be served."""
        return not self.taken and kind_of(server) is not None

    def run(self, server: object, options: Mapping[str, Any]) -> None:
        """In place of a synchronous call."""
        asyncio.run(self.run_async(server, options))

    async def run_async(self, server: object, options: Mapping[str, Any]) -> None:
        """In place of an asynchronous call, in the event loop of its caller."""
        _check_event_loop()
        self.taken = True
        try:
            await self._serve(server, options)
        except Failure as failure:
            self.failure = failure
            raise NotServed from None
        self.finished = True


def _check_event_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise OtherEventLoop from None


@asynccontextmanager
async def _no_streams() -> Any:
    yield NoStream(), NoStream()


def no_streams(*_: Any, **__: Any) -> AbstractAsyncContextManager[tuple[NoStream, NoStream]]:
    """In place of `stdio_server`, whose streams `Server.run` of the low-level server gets."""
    return _no_streams()
