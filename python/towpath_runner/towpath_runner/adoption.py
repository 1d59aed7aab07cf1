"""Opens the server's own session for an id that the gateway gave out while the server was asleep (GW-12).

The gateway answered `initialize` in the server's place. With each request of that session it sends the parameters of
that `initialize`; the first request that comes here is preceded by it. Which session belongs to which id is known here,
where the sessions live, so any gateway can send any request.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from towpath_runner.asgi import App, Message, Receive, Send

#: Set by the gateway, which lets no client's copy pass: base64url of the parameters as JSON.
HEADER = b"towpath-initialize"
_SESSION = b"mcp-session-id"

#: Ids whose session is known, and ended ones. Beyond it the oldest is forgotten and, when used again, opened again.
_MAX_KNOWN = 10_000

#: Headers of a request that say something about its own body or session, not about its caller.
_OF_THE_REQUEST = {
    HEADER,
    _SESSION,
    b"accept",
    b"content-encoding",
    b"content-length",
    b"content-type",
    b"last-event-id",
    b"transfer-encoding",
}
_OF_THE_VERSION = b"mcp-protocol-version"

_MAX_REFUSAL_BYTES = 64 * 1024


@dataclass(frozen=True)
class Opened:
    """The server's session id; None if it serves without sessions."""

    session: bytes | None


@dataclass(frozen=True)
class Refused:
    """What the server answered instead of opening a session."""

    messages: tuple[Message, ...]


class SessionAdoption:
    """An ASGI layer that replaces ids of the gateway by the server's, and the server's by those in its answers."""

    def __init__(self, app: App) -> None:
        self._app = app
        #: By the gateway's id: the session or the attempt to open it. None: it has ended.
        self._sessions: OrderedDict[bytes, asyncio.Task[Opened | Refused] | None] = OrderedDict()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        parameters = _header(scope, HEADER)
        given = None if parameters is None else _header(scope, _SESSION)
        if parameters is None or given is None:
            await self._app(scope, receive, send)
            return
        opened = await self._open(given, scope, parameters)
        if isinstance(opened, Refused):
            for message in opened.messages:
                await send(message)
            return
        ended = False

        async def watched(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                ended = _ends_session(scope, message["status"])
                message = {**message, "headers": _renamed(message.get("headers", []), opened.session, given)}
            await send(message)

        await self._app(_with_session(scope, opened.session), receive, watched)
        if ended:
            self._keep(given, None)

    async def _open(self, given: bytes, scope: Any, parameters: bytes) -> Opened | Refused:
        if given not in self._sessions:
            # A task of its own: other requests wait for it too, and one whose client leaves must not stop it.
            self._keep(given, asyncio.create_task(self._initialize(scope, parameters)))
        task = self._sessions[given]
        if task is None:
            return _NOT_FOUND
        opened = await asyncio.shield(task)
        if isinstance(opened, Refused) and self._sessions.get(given) is task:
            # The next request tries again.
            del self._sessions[given]
        return opened

    def _keep(self, given: bytes, task: asyncio.Task[Opened | Refused] | None) -> None:
        self._sessions[given] = task
        self._sessions.move_to_end(given)
        while len(self._sessions) > _MAX_KNOWN:
            self._sessions.popitem(last=False)

    async def _initialize(self, scope: Any, parameters: bytes) -> Opened | Refused:
        try:
            params = json.loads(base64.urlsafe_b64decode(parameters + b"=" * (-len(parameters) % 4)))
        except (ValueError, binascii.Error):
            return _NOT_FOUND
        message = {"jsonrpc": "2.0", "id": "towpath-initialize", "method": "initialize", "params": params}
        answer = await self._post(scope, message, {})
        if answer.status != 200:
            return Refused(tuple(answer.messages))
        session = answer.header(_SESSION)
        if session is not None:
            version = _header(scope, _OF_THE_VERSION)
            more = {_SESSION: session} | ({_OF_THE_VERSION: version} if version is not None else {})
            await self._post(scope, {"jsonrpc": "2.0", "method": "notifications/initialized"}, more)
        return Opened(session)

    async def _post(self, scope: Any, message: dict[str, Any], more: dict[bytes, bytes]) -> _Answer:
        """Sends a message to the app as the same caller."""
        body = json.dumps(message).encode()
        kept = [pair for pair in scope["headers"] if bytes(pair[0]).lower() not in _OF_THE_REQUEST | {_OF_THE_VERSION}]
        own = {
            b"content-type": b"application/json",
            b"accept": b"application/json, text/event-stream",
            b"content-length": str(len(body)).encode(),
        }
        answer = _Answer(body)
        post = {**scope, "method": "POST", "headers": [*kept, *(own | more).items()]}
        await self._app(post, answer.receive, answer.send)
        return answer


class _Answer:
    """The client's side of one request inside this process."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._ended = asyncio.Event()
        self._bytes = 0
        self.messages: list[Message] = []

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"]) if self.messages else 500

    def header(self, wanted: bytes) -> bytes | None:
        pairs = self.messages[0].get("headers", []) if self.messages else []
        return next((bytes(value) for name, value in pairs if bytes(name).lower() == wanted), None)

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        # Nobody leaves before the answer is complete.
        await self._ended.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self._bytes += len(message.get("body", b""))
        if message["type"] == "http.response.start" or self._bytes <= _MAX_REFUSAL_BYTES:
            self.messages.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._ended.set()


_NOT_FOUND_BODY = json.dumps(
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}
).encode()
_NOT_FOUND = Refused(
    (
        {
            "type": "http.response.start",
            "status": 404,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(_NOT_FOUND_BODY)).encode()),
            ],
        },
        {"type": "http.response.body", "body": _NOT_FOUND_BODY},
    )
)


def _header(scope: Any, wanted: bytes) -> bytes | None:
    """The first of that name, which is in lower case as in ASGI. A lifespan has none."""
    return next((bytes(value) for name, value in scope.get("headers", ()) if name == wanted), None)


def _with_session(scope: Any, session: bytes | None) -> Any:
    kept = [pair for pair in scope["headers"] if bytes(pair[0]).lower() not in (HEADER, _SESSION)]
    return {**scope, "headers": kept if session is None else [*kept, (_SESSION, session)]}


def _ends_session(scope: Any, status: int) -> bool:
    """Whether the client has ended the session, or the server doesn't know it any more, as after an idle time."""
    return status == 404 or (scope["method"] == "DELETE" and status < 300)


def _renamed(headers: Any, session: bytes | None, given: bytes) -> list[tuple[bytes, bytes]]:
    return [
        (name, given if bytes(name).lower() == _SESSION and bytes(value) == session else value)
        for name, value in headers
    ]
