"""Runs uvicorn where the platform connects. Import it only after the server's file has been loaded: uvicorn may be missing."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn

from towpath_runner.access import Access, OpenAccess
from towpath_runner.adoption import SessionAdoption
from towpath_runner.asgi import EitherSlash, LifespanWatch
from towpath_runner.kinds import ASGI
from towpath_runner.output import end_request
from towpath_runner.request_id import RequestIds

#: Seconds that open requests get after SIGTERM; streams might never end.
GRACE_SECONDS = 3

#: Seconds after SIGTERM until the process exits even if something still runs (threads, a stuck lifespan).
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
        await super().startup(sockets=sockets)
        # Now the lifespan has started and the socket listens.
        if self.started:
            self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        timer = threading.Timer(MAX_STOP_SECONDS, os._exit, args=(1,))
        timer.daemon = True
        timer.start()
        super().handle_exit(sig, frame)


async def serve(
    app: Any, kind: str, listener: socket.socket, secret: str | None, on_ready: Callable[[], dict[str, object]]
) -> None:
    """Serves requests with the secret, or all without one, until SIGTERM or SIGINT. `on_ready` returns the status.
    Raises `StartFailed`.
    """
    watch = LifespanWatch(app)
    served = EitherSlash(watch)
    access: Access | OpenAccess
    if secret is None:
        access = OpenAccess(served, _is_loopback(listener))
    else:
        access = Access(RequestIds(SessionAdoption(served), end_request), secret)

    def ready() -> None:
        access.status = on_ready()
        if listener.family == socket.AF_UNIX:
            # Also shows a runner that watches the directory that it may send requests.
            os.chmod(listener.getsockname(), 0o660)

    config = uvicorn.Config(
        access,
        loop="none",
        interface="asgi3",
        # A bare ASGI app may not support lifespans; a framework's app needs it.
        lifespan="auto" if kind == ASGI else "on",
        # The gateway forwards no upgrades.
        ws="none",
        access_log=False,
        log_level="warning",
        use_colors=False,
        server_header=False,
        # The gateway sets the X-Forwarded headers itself, and requests of anybody else are refused.
        proxy_headers=secret is not None,
        forwarded_allow_ips="*",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = _Server(config, ready)
    # uvicorn raises the signal again when it is done. Ignore it, so that exit handlers run.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    try:
        await server.serve(sockets=[listener])
    except SystemExit:
        if server.started:
            raise
    if not server.started:
        raise StartFailed(watch.error, watch.message)


@contextlib.contextmanager
def listening(address: str) -> Iterator[socket.socket]:
    """A socket bound to the absolute path of a unix socket, or to host:port, which uvicorn lets listen. Raises OSError."""
    is_path = address.startswith("/")
    family, place = (socket.AF_UNIX, address) if is_path else _resolved(address)
    with socket.socket(family) as listener:
        if is_path:
            # Left by an earlier process.
            _remove(address)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        try:
            yield listener
        finally:
            if is_path:
                _remove(address)


def _is_loopback(listener: socket.socket) -> bool:
    return listener.family != socket.AF_UNIX and str(listener.getsockname()[0]).startswith(("127.", "::1"))


def _resolved(address: str) -> tuple[int, Any]:
    host, _, port = address.rpartition(":")
    found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    return found[0][0], found[0][4]


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
