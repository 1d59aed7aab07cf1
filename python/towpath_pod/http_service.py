"""An HTTP service for the worker inside a build pod: reads and answers in streams, and knows the worker by a secret."""

from __future__ import annotations

import ctypes
import hashlib
import hmac
import io
import json
import socket
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_PR_SET_DUMPABLE = 4


class RequestError(Exception):
    """What the worker asked can't be done. `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Request:
    """One request. A handler returns the object to answer as JSON, or None if it has answered itself."""

    def __init__(self, handler: BaseHTTPRequestHandler, query: Mapping[str, str], body: io.BufferedIOBase) -> None:
        self.query = query
        self.body = body
        self._handler = handler
        self.connection: socket.socket = handler.connection

    def json(self) -> Any:
        return json.load(self.body)

    def begin(self, length: int | None = None) -> Any:
        """Begins an answer of bytes, which end with the connection if their number is unknown. Returns the file to write to."""
        self._handler.send_response(200)
        if length is not None:
            self._handler.send_header("Content-Length", str(length))
        self._handler.end_headers()
        return self._handler.wfile


Handlers = Mapping[str, Callable[[Request], Any]]


def serve(port: int, secret_digest: str, handlers: Handlers) -> None:
    """Serves forever. `handlers`: by path. `secret_digest`: SHA-256 of the worker's secret, in hex, so that nothing in
    this pod has the secret itself.
    """
    # Programs of the same user can neither read the memory of this process nor stop it in a debugger.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)

    class Handler(BaseHTTPRequestHandler):
        # Each connection has one request. Its end tells this side that the worker has given up.
        protocol_version = "HTTP/1.0"

        def do_POST(self) -> None:
            given = hashlib.sha256(self.headers.get("towpath-secret", "").encode()).hexdigest()
            address = urlsplit(self.path)
            handle = handlers.get(address.path)
            if not hmac.compare_digest(given, secret_digest):
                return self.answer(401, {"code": "unauthorized", "message": "The secret of this pod is missing."})
            if handle is None:
                return self.answer(404, {"code": "not_found", "message": "There is no such path."})
            body = io.BufferedReader(_Body(self.rfile, self.headers), 256 * 1024)
            try:
                answer = handle(Request(self, dict(parse_qsl(address.query)), body))
            except RequestError as error:
                _drain(body)
                return self.answer(422, {"code": error.code, "message": str(error)})
            except OSError as error:
                _drain(body)
                return self.answer(500, {"code": "setup_failed", "message": str(error)})
            if answer is not None:
                self.answer(200, answer)

        def answer(self, status: int, value: Any) -> None:
            content = json.dumps(value).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # The worker has gone.

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # A connection broke.

    server = Server(("", port), Handler)
    # For tests, which don't choose the port.
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()


def _drain(body: io.BufferedIOBase) -> None:
    """Reads the rest: with unread bytes, closing would reset the connection before the answer has arrived."""
    try:
        while body.read(1 << 20):
            pass
    except OSError:
        pass


class _Body(io.RawIOBase):
    """A request's body, of a length or in chunks. A connection that breaks in it is an OSError, never its end."""

    def __init__(self, file: Any, headers: Any) -> None:
        self._file = file
        self._chunked = headers.get("Transfer-Encoding", "").lower() == "chunked"
        self._left = 0 if self._chunked else int(headers.get("Content-Length") or 0)
        self._ended = not self._chunked and self._left == 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._ended:
            return 0
        if self._left == 0:
            size = self._file.readline(100)
            if not size.endswith(b"\n"):
                raise ConnectionError("The request ended early.")
            self._left = int(size.split(b";")[0], 16)
            if self._left == 0:
                while self._file.readline(1000).strip():
                    pass
                self._ended = True
                return 0
        part = self._file.read1(min(len(buffer), self._left))
        if not part:
            raise ConnectionError("The request ended early.")
        buffer[: len(part)] = part
        self._left -= len(part)
        if self._left == 0:
            if self._chunked:
                self._file.readline(10)
            else:
                self._ended = True
        return len(part)
