"""GW-12: sessions whose `initialize` the gateway answered while the server was asleep."""

from __future__ import annotations

import base64
import json
import threading

import pytest
from client import Client
from conftest import Start
from prewarmed import IS_THOROUGH

HEADER = "towpath-initialize"

#: Tells which session and client a call belongs to, and counts sessions.
SESSIONS = """
    from fastmcp import Context, FastMCP
    mcp = FastMCP("demo")

    @mcp.tool
    async def who(ctx: Context) -> dict:
        client = ctx.session.client_params.client_info if hasattr(ctx.session.client_params, "client_info") \\
            else ctx.session.client_params.clientInfo
        return {"session": ctx.session_id, "client": client.name}
"""


@pytest.mark.parametrize("environment", ["fastmcp2", "fastmcp4"] if IS_THOROUGH else ["fastmcp4"])
def test_GW_12_requests_that_come_together_share_one_session_with_the_client_that_initialized(
    start: Start, environment: str
) -> None:
    harness = start(SESSIONS, environment=environment)
    harness.ready()
    client = Client(harness.socket)
    client.opened_asleep()
    seen: list[dict[str, str]] = []

    def call() -> None:
        seen.append(json.loads(client.call("tools/call", {"name": "who", "arguments": {}})["content"][0]["text"]))

    threads = [threading.Thread(target=call) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    call()
    assert len(seen) == 6
    assert {each["client"] for each in seen} == {"sleeper"}
    assert len({each["session"] for each in seen}) == 1


def test_GW_12_answers_carry_the_gateways_id_and_the_stream_is_that_of_the_session(start: Start) -> None:
    harness = start(SESSIONS)
    harness.ready()
    client = Client(harness.socket)
    session = client.opened_asleep()["Mcp-Session-Id"]
    stream = client.open_stream()
    assert stream.getheader("mcp-session-id") == session
    status, headers, _ = client._post({"method": "ping"}, client._session)
    assert (status, headers["mcp-session-id"]) == (200, session)
    stream.close()


def test_GW_12_a_session_that_its_client_has_ended_is_404_and_not_opened_again(start: Start) -> None:
    harness = start(SESSIONS)
    harness.ready()
    client = Client(harness.socket)
    headers = client.opened_asleep()
    client.call("tools/list")
    assert client.delete(headers) < 300
    status, _, answer = client._post({"method": "tools/list"}, headers)
    assert status == 404
    assert json.loads(answer)["error"]["code"] == -32001


def test_GW_12_a_refused_initialize_is_passed_on_and_tried_again_and_odd_parameters_open_nothing(start: Start) -> None:
    source = """
        from fastmcp import FastMCP
        from starlette.middleware import Middleware
        from starlette.responses import PlainTextResponse

        refuse = [True]

        class Refuse:
            def __init__(self, app):
                self.app = app

            async def __call__(self, scope, receive, send):
                if scope["type"] == "http" and refuse and refuse.pop():
                    await PlainTextResponse("not now", 503)(scope, receive, send)
                else:
                    await self.app(scope, receive, send)

        mcp = FastMCP("demo")

        @mcp.tool
        def add(a: int, b: int) -> int:
            return a + b

        app = mcp.http_app(path="/mcp", middleware=[Middleware(Refuse)])
    """
    harness = start(source, "server.py:app")
    harness.ready()
    client = Client(harness.socket)
    headers = client.opened_asleep()
    assert client._post({"method": "tools/list"}, headers)[0::2] == (503, "not now")
    assert client._post({"method": "tools/list"}, headers)[0] == 200
    for odd in ("%%%", base64.urlsafe_b64encode(b"{").decode()):
        status, _, _ = client._post({"method": "tools/list"}, {"Mcp-Session-Id": f"towpath-{odd}", HEADER: odd})
        assert status == 404


def test_GW_12_a_server_without_sessions_gets_the_request_without_one(start: Start) -> None:
    source = SESSIONS + "\n    app = mcp.http_app(path='/mcp', stateless_http=True)\n"
    harness = start(source, "server.py:app")
    harness.ready()
    client = Client(harness.socket)
    client.opened_asleep()
    assert [tool["name"] for tool in client.call("tools/list")["tools"]] == ["who"]
