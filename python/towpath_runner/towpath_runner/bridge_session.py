"""One session of the bridge: routes the server's messages to the client's streams."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import deque
from typing import Any

from towpath_runner.link import Link

#: Unsolicited messages wait for the client's next stream; beyond this number the oldest are dropped.
_MAX_HELD = 100


class Stream:
    """Messages for one HTTP response. It ends when all requests that it was opened for are answered."""

    def __init__(self, requests: set[str], tokens: set[Any]) -> None:
        #: Ids of unanswered requests, as `key_of` writes them.
        self.requests = requests
        #: Whether anything is to be answered; its answers may arrive before the stream is read.
        self.expects = bool(requests)
        #: Tokens with which the server reports their progress.
        self.tokens = tokens
        self.left = False
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    def put(self, message: dict[str, Any] | None) -> None:
        self._messages.put_nowait(message)

    async def next(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        return await self._messages.get()

    def is_done(self) -> bool:
        return not self.requests

    def leave(self) -> None:
        """The client has disconnected. That cancels nothing: it cancels by a notification."""
        self.left = True


class BridgeSession:
    def __init__(self, link: Link) -> None:
        self.id = secrets.token_hex(16)
        self.ended = False
        self.reason = "The server has ended."
        self._link = link
        #: Open requests, oldest first.
        self._streams: list[Stream] = []
        self._listener: Stream | None = None
        self._held: deque[dict[str, Any]] = deque(maxlen=_MAX_HELD)
        self._used = time.monotonic()
        self._reader: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._reader = asyncio.create_task(self._read())

    def touch(self) -> None:
        self._used = time.monotonic()

    def idle_seconds(self) -> float:
        """Since the last request began or its client disconnected; 0 while one waits for an answer."""
        waits = any(not stream.left for stream in self._streams)
        return 0.0 if waits else time.monotonic() - self._used

    async def request(self, messages: list[dict[str, Any]]) -> Stream:
        """Sends the client's message. Raises LinkEnded."""
        asked = [message for message in messages if "method" in message and "id" in message]
        tokens = {token for message in asked if (token := _progress_token(message)) is not None}
        stream = Stream({key_of(message["id"]) for message in asked}, tokens)
        if asked:
            self._streams.append(stream)
        try:
            for message in messages:
                await self._link.send(message)
        except BaseException:
            stream.leave()
            self.touch()
            raise
        return stream

    def listen(self) -> Stream | None:
        """The stream for unsolicited messages; None if there is one already."""
        if self._listener is not None:
            return None
        self._listener = Stream(set(), set())
        while self._held:
            self._listener.put(self._held.popleft())
        return self._listener

    def stop_listening(self, stream: Stream) -> None:
        if self._listener is stream:
            self._listener = None

    async def close(self) -> None:
        await self._link.close()
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader
        self._finish()

    async def _read(self) -> None:
        try:
            while (message := await self._link.receive()) is not None:
                self._deliver(message)
            self.reason = self._link.reason
        except Exception as error:
            self.reason = f"The server sent what can't be passed on: {type(error).__name__}: {error}"
        self._finish()

    def _deliver(self, message: dict[str, Any]) -> None:
        if "method" not in message and "id" in message:
            self._respond(message)
            return
        target = self._target(message)
        if target is None:
            self._held.append(message)
        else:
            target.put(message)

    def _respond(self, message: dict[str, Any]) -> None:
        key = key_of(message["id"])
        stream = next((each for each in self._streams if key in each.requests), None)
        if stream is None:
            return
        stream.put(message)
        stream.requests.discard(key)
        if stream.is_done():
            stream.put(None)
            self._streams.remove(stream)
            self.touch()

    def _target(self, message: dict[str, Any]) -> Stream | None:
        params = message.get("params")
        token = params.get("progressToken") if isinstance(params, dict) else None
        open_streams = [stream for stream in reversed(self._streams) if not stream.left]
        if token is not None:
            open_streams = [stream for stream in open_streams if token in stream.tokens] or open_streams
        return open_streams[0] if open_streams else self._listener

    def _finish(self) -> None:
        """Answers the open requests, so that no client waits in vain."""
        self.ended = True
        for stream in self._streams:
            for key in sorted(stream.requests):
                error = {"code": -32000, "message": self.reason}
                stream.put({"jsonrpc": "2.0", "id": id_of(key), "error": error})
            stream.put(None)
        self._streams.clear()
        if self._listener is not None:
            self._listener.put(None)


def key_of(request_id: Any) -> str:
    """1 and "1" are different ids."""
    return f"{type(request_id).__name__}:{request_id}"


def id_of(key: str) -> Any:
    kind, _, text = key.partition(":")
    return int(text) if kind == "int" else text


def _progress_token(message: dict[str, Any]) -> Any:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, (str, int)) else None
