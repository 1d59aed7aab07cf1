"""Serves MCP over HTTP for servers that only exchange messages, as over stdio (BLD-16).

The clients' side is Streamable HTTP with sessions, as the SDK serves it (2025-03-26 and later). Each session has its
own link (link.py) to the server: a process, or a run of the server object. Unsolicited messages of the server go to the
newest open request, because over stdio they don't say which one they belong to.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
from collections.abc import Awaitable, Callable
from typing import Any

from towpath_runner.asgi import Message, Receive, Send, disconnected, unless_left
from towpath_runner.bridge_session import BridgeSession, Stream
from towpath_runner.environment import SESSION_IDLE_SECONDS
from towpath_runner.link import Link, LinkEnded

#: The same limit as in the SDKs and the gateway.
_MAX_BODY_BYTES = 4 * 1024 * 1024

#: A session that was used this recently isn't ended to make room for another one.
_MIN_IDLE_SECONDS = 60

_PING_SECONDS = 15
_SESSION = b"mcp-session-id"
_VERSION = b"mcp-protocol-version"

#: The first revision without sessions. A server that needs a bridge is older; clients fall back to a session.
_FIRST_MODERN = "2026-01-01"
_SUPPORTED = "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"


class Refusal(Exception):
    """An answer with an HTTP status and an error of JSON-RPC."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Bridge:
    """An ASGI app with MCP at every path; `open_link` starts what answers one session.

    `over`, for the status: `object` or `program`.
    """

    def __init__(self, over: str, open_link: Callable[[], Awaitable[Link]], max_sessions: int) -> None:
        self.over = over
        self.open_link = open_link
        #: A link that has answered an `initialize` already, and nothing else: the first session begins with its own.
        self.started: Link | None = None
        self._max_sessions = max_sessions
        self._sessions: dict[str, BridgeSession] = {}
        #: Sessions whose server hasn't answered yet; they count toward the limit, too.
        self._opening = 0
        # Sessions outlive the request that opens them, so they must not run with its id (request_id.py).
        self._context = contextvars.copy_context()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        try:
            await self._handle(scope, receive, send)
        except Refusal as refusal:
            error = {"code": refusal.code, "message": str(refusal)}
            await _answer(send, refusal.status, {"jsonrpc": "2.0", "id": "server-error", "error": error})

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        watch = asyncio.create_task(self._end_idle())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        watch.cancel()
        if self.started is not None:
            await self.started.close()
        await asyncio.gather(*(session.close() for session in list(self._sessions.values())))
        await send({"type": "lifespan.shutdown.complete"})

    async def _end_idle(self) -> None:
        while True:
            await asyncio.sleep(_MIN_IDLE_SECONDS)
            for session in list(self._sessions.values()):
                if session.idle_seconds() > SESSION_IDLE_SECONDS:
                    await self._end(session)

    async def _handle(self, scope: Any, receive: Receive, send: Send) -> None:
        headers = {bytes(name).lower(): bytes(value).decode("latin-1") for name, value in scope["headers"]}
        version = headers.get(_VERSION, "")
        if version >= _FIRST_MODERN:
            message = f"Bad Request: Unsupported protocol version: {version}. Supported versions: {_SUPPORTED}"
            raise Refusal(400, -32600, message)
        if scope["method"] == "POST":
            messages, batched = _parse(await _body(receive))
            given = headers.get(_SESSION)
            if given is None and not batched and messages[0].get("method") == "initialize":
                await self._initialize(messages[0], receive, send)
            else:
                await self._forward(self._session(given), messages, receive, send)
        elif scope["method"] == "GET":
            await self._listen(self._session(headers.get(_SESSION)), receive, send)
        elif scope["method"] == "DELETE":
            await self._end(self._session(headers.get(_SESSION)))
            await _answer(send, 200, None)
        else:
            raise Refusal(405, -32600, "Method Not Allowed")

    def _session(self, given: str | None) -> BridgeSession:
        if given is None:
            raise Refusal(400, -32600, "Bad Request: Missing session ID")
        session = self._sessions.get(given)
        if session is None or session.ended:
            self._sessions.pop(given, None)
            raise Refusal(404, -32600, "Session not found")
        session.touch()
        return session

    async def _initialize(self, message: dict[str, Any], receive: Receive, send: Send) -> None:
        idle = self._session_to_end()
        # Before the first await: other requests may arrive meanwhile.
        self._opening += 1
        try:
            if idle is not None:
                await self._end(idle)
            begun = await unless_left(self._begin(message), receive)
            if begun is None:
                return
            session, answer = begun
            self._sessions[session.id] = session
        finally:
            self._opening -= 1
        if "error" in answer:
            await self._end(session)
        await _answer(send, 200, answer, [(_SESSION, session.id.encode())])

    async def _begin(self, message: dict[str, Any]) -> tuple[BridgeSession, dict[str, Any]]:
        """A session over the link that answered its first message."""
        started, self.started = self.started, None
        if started is not None:
            session, answer = await self._open(started, message)
            if answer is not None and "error" not in answer:
                return session, answer
            # It has ended meanwhile, or refuses a second `initialize`.
            await asyncio.shield(session.close())
        try:
            # In the bridge's own context: see __init__.
            link = await self._context.copy().run(asyncio.ensure_future, self.open_link())
        except LinkEnded as ended:
            raise Refusal(500, -32603, str(ended)) from None
        session, answer = await self._open(link, message)
        if answer is None:
            await asyncio.shield(session.close())
            raise Refusal(500, -32603, session.reason)
        return session, answer

    async def _open(self, link: Link, message: dict[str, Any]) -> tuple[BridgeSession, dict[str, Any] | None]:
        """The answer is None when the server has ended."""
        session = BridgeSession(link)
        self._context.copy().run(session.start)
        try:
            stream = await session.request([message])
            return session, await stream.next()
        except LinkEnded as ended:
            session.reason = str(ended)
            return session, None
        except asyncio.CancelledError:
            # Its client has disconnected. A server that never answers must not keep the place.
            await session.close()
            raise

    def _session_to_end(self) -> BridgeSession | None:
        """The session to end for a new one; None if there is room. Raises Refusal."""
        for session in [each for each in self._sessions.values() if each.ended]:
            del self._sessions[session.id]
        if len(self._sessions) + self._opening < self._max_sessions:
            return None
        idle = max(self._sessions.values(), key=lambda session: session.idle_seconds(), default=None)
        if idle is None or idle.idle_seconds() < _MIN_IDLE_SECONDS:
            message = f"This server has {self._max_sessions} sessions, as many as it may have. Try again in a minute."
            raise Refusal(503, -32000, message)
        del self._sessions[idle.id]
        return idle

    async def _end(self, session: BridgeSession) -> None:
        self._sessions.pop(session.id, None)
        await session.close()

    async def _forward(
        self, session: BridgeSession, messages: list[dict[str, Any]], receive: Receive, send: Send
    ) -> None:
        try:
            stream = await unless_left(session.request(messages), receive)
        except LinkEnded as ended:
            raise Refusal(404, -32600, f"Session not found: {ended}") from None
        if stream is None:
            return
        if not stream.expects:
            await _answer(send, 202, None)
            return
        await _stream(stream, session, receive, send)

    async def _listen(self, session: BridgeSession, receive: Receive, send: Send) -> None:
        stream = session.listen()
        if stream is None:
            raise Refusal(409, -32600, "Conflict: Only one SSE stream is allowed per session")
        try:
            await _stream(stream, session, receive, send)
        finally:
            session.stop_listening(stream)


async def _stream(stream: Stream, session: BridgeSession, receive: Receive, send: Send) -> None:
    """Sends the messages of a stream as events until it ends or the client disconnects; then they go elsewhere."""
    headers = [
        (b"content-type", b"text/event-stream"),
        (b"cache-control", b"no-cache, no-transform"),
        (_SESSION, session.id.encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    left = asyncio.create_task(disconnected(receive))
    try:
        while True:
            waiting = asyncio.ensure_future(stream.next())
            done, _ = await asyncio.wait({waiting, left}, timeout=_PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if waiting in done:
                message = waiting.result()
                if message is None:
                    break
                body = b"event: message\r\ndata: " + _dump(message) + b"\r\n\r\n"
                await send({"type": "http.response.body", "body": body, "more_body": True})
                continue
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await waiting
            if left in done:
                return
            await send({"type": "http.response.body", "body": b": ping\r\n\r\n", "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        stream.leave()
        session.touch()
        left.cancel()


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MAX_BODY_BYTES:
            raise Refusal(413, -32600, f"The request has more than {_MAX_BODY_BYTES} bytes.")
        if not message.get("more_body", False):
            return bytes(body)


def _parse(body: bytes) -> tuple[list[dict[str, Any]], bool]:
    """The messages, and whether they came as a batch."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, -32700, f"Parse error: {error}") from None
    messages = parsed if isinstance(parsed, list) else [parsed]
    if not messages or not all(isinstance(message, dict) for message in messages):
        raise Refusal(400, -32600, "Bad Request: a message is an object of JSON-RPC")
    return messages, isinstance(parsed, list)


def _dump(message: dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode()


async def _answer(
    send: Send, status: int, message: dict[str, Any] | None, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = b"" if message is None else _dump(message)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *(more or [])]
    start: Message = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
