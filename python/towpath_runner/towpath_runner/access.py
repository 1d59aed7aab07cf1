"""Admits requests that carry the secret of this instance, and no others. Only therefore the caller, the client's
address and the session's beginning in them are trusted (decision 058).
"""

from __future__ import annotations

import json
import re
from collections.abc import MutableMapping
from typing import Any

from towpath_runner.asgi import App, Receive, Send
from towpath_runner.request_id import HEADER as REQUEST_ID
from towpath_runner.secret import is_secret

#: Removed before the server's code sees the request.
HEADER = b"towpath-secret"

#: Answers with the status. Requests from the gateway, which have an id, get the server's own page at this path.
STATUS_PATH = "/-/towpath/status"

#: Marks the harness's own 401, after which the gateway sends a request again: the server's code has not seen it.
_OWN_CHALLENGE = (b"www-authenticate", b"Towpath")

_REFUSAL: dict[str, object] = {"error": "This address is for the platform. Call the server at its public URL."}


class Access:
    """An ASGI layer that answers 401 to everything without the secret."""

    def __init__(self, app: App, secret: str) -> None:
        self._app = app
        self._secret = secret.encode("ascii")
        #: For `STATUS_PATH`; None until the server is ready.
        self.status: dict[str, object] | None = None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        given = [value for name, value in headers if name == HEADER]
        if len(given) != 1 or not is_secret(given[0], self._secret):
            await _answer(send, 401, _REFUSAL)
        elif scope["path"] == STATUS_PATH and all(name != REQUEST_ID for name, _ in headers):
            await _answer(send, 503 if self.status is None else 200, self.status)
        else:
            rest = [pair for pair in headers if pair[0] != HEADER]
            await self._app({**scope, "headers": rest}, receive, _without_own_challenge(send))


class OpenAccess:
    """The ASGI layer of a server that runs outside of the platform (`--open`): anybody may call it. It removes what only
    the gateway may claim, such as who calls. On a loopback address it refuses names of other machines, with which a web
    page could reach it past the browser's rules (DNS rebinding): the frameworks' own checks are off (environment.py).
    """

    def __init__(self, app: App, is_loopback: bool) -> None:
        self._app = app
        self._is_loopback = is_loopback
        self.status: dict[str, object] | None = None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if self._is_loopback and not all(_names_loopback(value) for name, value in headers if name == b"host"):
            await _answer(send, 421, {"error": "Call this server as localhost or 127.0.0.1."})
        else:
            rest = [pair for pair in headers if not pair[0].startswith(b"towpath-")]
            await self._app({**scope, "headers": rest}, receive, send)


_LOOPBACK = re.compile(rb"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?")


def _names_loopback(host: bytes) -> bool:
    return _LOOPBACK.fullmatch(host.lower()) is not None


def _without_own_challenge(send: Send) -> Send:
    """Keeps an answer of the server's code from passing as the harness's own: its call would run again (GW-13)."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start" and message["status"] == 401:
            headers = [pair for pair in message.get("headers", ()) if not _is_own_challenge(*pair)]
            message = {**message, "headers": headers}
        await send(message)

    return sent


def _is_own_challenge(name: bytes, value: bytes) -> bool:
    return (name.lower(), value.strip()) == _OWN_CHALLENGE


async def _answer(send: Send, status: int, document: dict[str, object] | None) -> None:
    # Escaped to ASCII: a text may contain a lone surrogate, which UTF-8 can't encode.
    body = json.dumps(document).encode("ascii")
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append(_OWN_CHALLENGE)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
