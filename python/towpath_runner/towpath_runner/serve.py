"""Runs uvicorn on the unix socket. Import it only after the server's file has been loaded: uvicorn may be missing."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

from towpath_runner.adoption import SessionAdoption
from towpath_runner.asgi import EitherSlash, LifespanWatch
from towpath_runner.kinds import ASGI
from towpath_runner.output import end_request
from towpath_runner.request_id import RequestIds

#: Seconds that open requests get after SIGTERM; streams might never end.
GRACE_SECONDS = 3

#: Seconds after SIGTERM until the process exits even if something still runs in it (threads, a stuck lifespan).
MAX_STOP_SECONDS = 7

#: Seconds that an idle connection stays open: longer than gateways pool it, so that only the gateway closes it.
KEEP_ALIVE_SECONDS = 120


class StartFailed(Exception):
    """The app's lifespan failed: it raised `error`, or reported `message`."""

    def __init__(self, error: BaseException | None, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


class _Server(uvicorn.Server):
    """uvicorn's server, which reports when it listens and exits soon after SIGTERM."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # Now the lifespan has started and the socket listens.
        await super().startup(sockets=sockets)
        if self.started:
            assert self.config.uds is not None
            os.chmod(self.config.uds, 0o600)
            self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        timer = threading.Timer(MAX_STOP_SECONDS, os._exit, args=(1,))
        timer.daemon = True
        timer.start()
        super().handle_exit(sig, frame)


async def serve(app: Any, kind: str, socket_path: str, on_ready: Callable[[], None]) -> None:
    """Serves until SIGTERM or SIGINT. Raises `StartFailed`, or OSError when the socket cannot be opened."""
    watch = LifespanWatch(app)
    config = uvicorn.Config(
        RequestIds(SessionAdoption(EitherSlash(watch)), end_request),
        uds=socket_path,
        loop="none",
        interface="asgi3",
        # A bare ASGI app may not support lifespans; a framework's app needs it.
        lifespan="auto" if kind == ASGI else "on",
        ws="auto" if kind == ASGI else "none",
        access_log=False,
        log_level="warning",
        use_colors=False,
        server_header=False,
        # Only the gateway connects here, and it sets the X-Forwarded headers itself.
        proxy_headers=True,
        forwarded_allow_ips="*",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = _Server(config, on_ready)
    # uvicorn raises the signal again when it is done. Ignore it, so that exit handlers run.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    try:
        await server.serve()
    except SystemExit:
        if server.started:
            raise
    if not server.started:
        raise StartFailed(watch.error, watch.message)


def remove_socket(path: str) -> None:
    """Removes the socket, be it of an earlier process or our own."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
