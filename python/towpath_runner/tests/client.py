"""A raw MCP client over HTTP on a unix socket. No SDK, so that tests see what is on the wire."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: The secret of every server of these tests, which all requests carry unless they say otherwise.
SECRET = "secret-of-tests"
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
_ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_META = "io.modelcontextprotocol/"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, host: str = "demo.towpath.example") -> None:
        super().__init__(host, timeout=15)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **more: Any) -> None:
        super().request(method, url, body, {"towpath-secret": SECRET} | (headers or {}), **more)


class Client:
    """Speaks both eras. Sends a public Host and a foreign Origin, because neither may be checked."""

    def __init__(self, path: Path, url: str = "/mcp") -> None:
        self._path = path
        self._url = url
        self._session: dict[str, str] = {}
        self._next = 0

    def initialize(self, headers: dict[str, str] | None = None) -> dict[str, Any]:
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        status, answer_headers, answer = self._post({"method": "initialize", "params": params}, headers or {})
        assert status == 200, (status, answer)
        session = answer_headers.get("mcp-session-id")
        assert session, "sessions are stateful by default"
        self._session = {"Mcp-Session-Id": session, "MCP-Protocol-Version": LEGACY}
        status, _, _ = self._post({"method": "notifications/initialized"}, self._session)
        assert status == 202
        return answer["result"]

    def opened_asleep(self, name: str = "sleeper", session: str | None = None) -> dict[str, str]:
        """Goes on in a session that the gateway opened in the server's place; the headers that it then sends."""
        params = {"protocolVersion": LEGACY, "capabilities": {"roots": {}}, "clientInfo": {"name": name, "version": "1"}}
        opening = base64.urlsafe_b64encode(json.dumps(params).encode()).decode().rstrip("=")
        self._session = {
            "Mcp-Session-Id": session or f"towpath-{uuid.uuid4()}",
            "MCP-Protocol-Version": LEGACY,
            "towpath-initialize": opening,
        }
        return self._session

    def status(self, headers: dict[str, str] | None = None) -> int:
        """The HTTP status of an `initialize`."""
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        return self._post({"method": "initialize", "params": params}, headers or {})[0]

    def call(
        self, method: str, params: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """A request in the legacy session."""
        message = {"method": method} | ({"params": params} if params else {})
        status, _, answer = self._post(message, self._session | (headers or {}))
        assert status == 200 and "result" in answer, (status, answer)
        return answer["result"]

    def stream(
        self,
        method: str,
        params: dict[str, Any],
        on_request: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> list[dict[str, Any]]:
        """All messages of a request's stream; `on_request` gets those that want an answer, while it is open."""
        self._next += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        connection = UnixConnection(self._path)
        connection.request("POST", self._url, body, _ACCEPT | self._session)
        response = connection.getresponse()
        assert response.status == 200, response.read()
        messages = []
        for line in response:
            if line.startswith(b"data:"):
                messages.append(json.loads(line[5:]))
                if "method" in messages[-1] and "id" in messages[-1]:
                    on_request(messages[-1])
        return messages

    def answer_sampling(self, request: dict[str, Any]) -> None:
        """Answers a `sampling/createMessage` with 42, by a POST of its own."""
        result = {"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "test"}
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})
        connection = UnixConnection(self._path)
        connection.request("POST", self._url, body, _ACCEPT | self._session)
        assert connection.getresponse().status == 202

    def end(self) -> int:
        """Ends the session; the status of that."""
        return self.delete(self._session)

    def post_status(self, method: str, headers: dict[str, str] | None = None) -> int:
        return self._post({"method": method}, self._session | (headers or {}))[0]

    def post_text(self, method: str, headers: dict[str, str]) -> tuple[int, str]:
        status, _, text = self._post({"method": method}, headers)
        return status, text

    def modern(
        self, method: str, params: dict[str, Any] | None = None, more: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """A request of the 2026-07-28 revision: no session, everything in headers and `_meta`."""
        params = dict(params or {})
        params["_meta"] = {
            _META + "protocolVersion": MODERN,
            _META + "clientCapabilities": {},
            _META + "clientInfo": {"name": "test", "version": "1"},
        }
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method} | (more or {})
        if "name" in params or "uri" in params:
            headers["Mcp-Name"] = params.get("name") or params["uri"]
        status, answer_headers, answer = self._post({"method": method, "params": params}, headers)
        assert status == 200 and "result" in answer, (status, answer)
        assert "mcp-session-id" not in answer_headers
        return answer["result"]

    def open_stream(self) -> http.client.HTTPResponse:
        """The session's GET stream, left open."""
        connection = UnixConnection(self._path)
        connection.request("GET", self._url, headers={"Accept": "text/event-stream"} | self._session)
        response = connection.getresponse()
        assert response.status == 200
        response.connection = connection  # type: ignore[attr-defined]  # keeps the socket open
        return response

    def delete(self, headers: dict[str, str]) -> int:
        connection = UnixConnection(self._path)
        connection.request("DELETE", self._url, headers=headers)
        return connection.getresponse().status

    def get(self, url: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        connection = UnixConnection(self._path)
        connection.request("GET", url, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.read()

    def _post(self, message: dict[str, Any], headers: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        if not message["method"].startswith("notifications/"):
            self._next += 1
            message = message | {"id": self._next}
        # Calls of several threads must not take each other's id.
        request_id = message.get("id", 0)
        connection = UnixConnection(self._path)
        body = json.dumps({"jsonrpc": "2.0"} | message)
        connection.request("POST", self._url, body, _ACCEPT | {"Origin": "https://client.example"} | headers)
        response = connection.getresponse()
        text = response.read().decode()
        found = {name.lower(): value for name, value in response.getheaders()}
        connection.close()
        return response.status, found, _answer(text, request_id) if response.status == 200 else text


def _answer(text: str, request_id: int) -> Any:
    """The answer to the request, from a JSON body or an event stream."""
    if not text.lstrip().startswith("{"):
        events = [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
        messages = [json.loads(event) for event in events]
        return next(message for message in messages if message.get("id") == request_id)
    return json.loads(text)
