"""BLD-16: an app whose MCP is elsewhere than at `/mcp`, or over the SSE transport only, is served at `/mcp`."""

from __future__ import annotations

import pytest
from client import Client
from conftest import Start
from test_frameworks import FASTMCP, LOWLEVEL_1, SDK_1

ELSEWHERE = (
    FASTMCP
    + """
    from starlette.applications import Starlette
    from starlette.routing import Mount
    inner = mcp.http_app(path="/rpc")
    app = Starlette(routes=[Mount("/tools", inner)], lifespan=inner.lifespan)
"""
)

OF_FASTMCP = SDK_1 + "\n    app = mcp.sse_app()\n"

SSE = (
    LOWLEVEL_1
    + """
    import contextlib
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.middleware.base import BaseHTTPMiddleware
    from starlette.middleware import Middleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Mount, Route
    import uvicorn

    async def stamp(request, call_next):
        response = await call_next(request)
        response.headers["x-stamp"] = "1"
        return response

    @contextlib.asynccontextmanager
    async def lifespan(app):
        print("opened")
        yield
        print("closed")

    def create_app(served):
        sse = SseServerTransport("/messages/")

        async def handle_sse(request):
            async with sse.connect_sse(request.scope, request.receive, request._send) as (read, write):
                await served.run(read, write, served.create_initialization_options())

        return Starlette(
            routes=[
                Route("/health", lambda request: PlainTextResponse("fine")),
                Route("/sse", endpoint=handle_sse),
                Mount("/messages/", app=sse.handle_post_message),
            ],
            lifespan=lifespan,
            middleware=[Middleware(BaseHTTPMiddleware, dispatch=stamp)],
        )

    def main():
        uvicorn.run(create_app(server), host="0.0.0.0", port=8000)
"""
)

CHECKED = SSE.replace(
    "async def handle_sse(request):", "async def handle_sse(request):\n            request.headers['x']"
)


@pytest.mark.parametrize(
    ("source", "entrypoint", "environment"),
    [(ELSEWHERE, "server.py:app", "fastmcp4"), (OF_FASTMCP, "server.py:app", "mcp1"), (SSE, "server:main", "mcp1")],
    ids=["another_path", "sse_of_fastmcp", "sse_of_a_low_level_server"],
)
def test_BLD_16_mcp_is_served_at_its_path(start: Start, source: str, entrypoint: str, environment: str) -> None:
    harness = start(source, entrypoint, environment)
    assert harness.ready()["kind"] == "asgi"
    client = Client(harness.socket)
    client.initialize()
    assert [tool["name"] for tool in client.call("tools/list")["tools"]] == ["add"]
    called = client.call("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}})
    assert called["content"][0]["text"] == "5"
    if source is SSE:
        assert client.get("/health") == (200, b"fine")
        assert "opened" in harness.output()
    assert harness.stop()[0] == 0
    assert "Traceback" not in harness.output()


def test_BLD_16_sse_routes_that_check_callers_are_not_gone_around(start: Start) -> None:
    status = start(CHECKED, "server:main", "mcp1").failed()
    assert status["code"] == "unsupported_object" and "check callers by themselves" in status["message"]
