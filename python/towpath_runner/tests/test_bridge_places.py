"""Sessions of the bridge whose clients or servers misbehave keep no place and no one waiting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from towpath_runner import bridge as module
from towpath_runner.bridge import Bridge
from towpath_runner.link import LinkEnded

_INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}


class _Link:
    """Answers each request at once, unless its method is one of `silent`."""

    reason = "over"

    def __init__(self, silent: tuple[str, ...] = (), answer: Callable[[dict[str, Any]], dict[str, Any]] | None = None):
        self.closed = False
        self._silent = silent
        self._answer = answer or (lambda message: {"jsonrpc": "2.0", "id": message["id"], "result": {}})
        self._sent: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def send(self, message: dict[str, Any]) -> None:
        if message["method"] == "stuck":
            await asyncio.Event().wait()
        if "id" in message and message["method"] not in self._silent:
            self._sent.put_nowait(self._answer(message))

    async def receive(self) -> dict[str, Any] | None:
        return await self._sent.get()

    async def close(self) -> None:
        self.closed = True
        self._sent.put_nowait(None)


class _Exchange:
    """One request to the bridge. `leave` is the client's end of the connection."""

    def __init__(self, bridge: Bridge, message: dict[str, Any] | str, session: str | None = None) -> None:
        self.status = 0
        self.body = b""
        self.session = ""
        self._left = asyncio.Event()
        self._asked = False
        self._body = (message if isinstance(message, str) else json.dumps(message)).encode()
        headers = [] if session is None else [(b"mcp-session-id", session.encode())]
        scope = {"type": "http", "method": "POST", "headers": headers}
        self.done = asyncio.create_task(bridge(scope, self._receive, self._send))

    def leave(self) -> None:
        self._left.set()

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.session = dict(message["headers"]).get(b"mcp-session-id", b"").decode()
        self.body += message.get("body", b"")


def _run(work: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work(), 20)

    asyncio.run(limited())


def _bridge(make: Callable[[], _Link], most: int) -> tuple[Bridge, list[_Link]]:
    links: list[_Link] = []

    async def open_link() -> _Link:
        # As a process, it takes a moment: others come meanwhile.
        await asyncio.sleep(0)
        links.append(make())
        return links[-1]

    return Bridge("program", open_link, most), links


async def _until(found: Callable[[], bool]) -> None:
    while not found():
        await asyncio.sleep(0)


def test_BLD_16_sessions_that_begin_at_once_are_no_more_than_there_may_be() -> None:
    """Each would be a process of the server."""

    async def work() -> None:
        bridge, links = _bridge(_Link, 3)
        exchanges = [_Exchange(bridge, _INITIALIZE) for _ in range(20)]
        await asyncio.gather(*(each.done for each in exchanges))
        assert sorted(each.status for each in exchanges) == [200] * 3 + [503] * 17
        assert len(links) == 3

    _run(work)


def test_BLD_16_a_client_that_leaves_a_server_that_never_answers_leaves_its_place() -> None:
    """Before the session has begun, and when nothing reads what it sends."""

    async def work() -> None:
        bridge, links = _bridge(lambda: _Link(silent=("initialize",)), 1)
        first = _Exchange(bridge, _INITIALIZE)
        await _until(lambda: len(links) == 1)
        refused = _Exchange(bridge, _INITIALIZE)
        await refused.done
        first.leave()
        await first.done
        assert (refused.status, links[0].closed) == (503, True)
        second = _Exchange(bridge, _INITIALIZE)
        await _until(lambda: len(links) == 2)
        second.leave()
        await second.done

    _run(work)


def test_BLD_16_calls_whose_clients_have_left_keep_no_session_from_being_ended(monkeypatch: Any) -> None:
    """A call that its server never answers, and one that it doesn't even read."""
    monkeypatch.setattr(module, "_MIN_IDLE_SECONDS", 0)

    async def work() -> None:
        bridge, links = _bridge(lambda: _Link(silent=("never",)), 1)
        for count, method in enumerate(("never", "stuck", "never"), 1):
            opened = _Exchange(bridge, _INITIALIZE)
            await opened.done
            assert (opened.status, len(links)) == (200, count)
            call = _Exchange(bridge, {"jsonrpc": "2.0", "id": 2, "method": method}, opened.session)
            await asyncio.sleep(0.01)
            call.leave()
            await call.done

    _run(work)


def test_BLD_16_what_cannot_be_passed_on_ends_the_session_with_a_word() -> None:
    """A message that isn't as JSON-RPC has it, a body nested too deeply, and no process for another session."""

    async def work() -> None:
        unhashable = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": []}}
        bridge, _ = _bridge(lambda: _Link(answer=lambda message: unhashable if message["id"] == 2 else {"id": 1}), 1)
        opened = _Exchange(bridge, _INITIALIZE)
        await opened.done
        call = _Exchange(bridge, {"jsonrpc": "2.0", "id": 2, "method": "x"}, opened.session)
        await call.done
        assert b"can't be passed on" in call.body
        deep = _Exchange(bridge, "[" * 100_000)
        await deep.done
        assert deep.status == 400

        async def no_process() -> _Link:
            raise LinkEnded("No process can be started")

        none = _Exchange(Bridge("program", no_process, 1), _INITIALIZE)
        await none.done
        assert (none.status, b"No process can be started" in none.body) == (500, True)

    _run(work)
