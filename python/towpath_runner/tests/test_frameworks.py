"""BLD-5, GW-12: every supported framework, called over the socket in each MCP era that it supports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from client import LEGACY, Client
from conftest import Start, starting
from harness import Harness
from prewarmed import IS_THOROUGH

FASTMCP = """
    from fastmcp import FastMCP
    mcp = FastMCP("demo")

    @mcp.tool
    def add(a: int, b: int) -> int:
        return a + b

    if __name__ == "__main__":
        raise RuntimeError("this must not run")
"""

SDK_1 = FASTMCP.replace("from fastmcp", "from mcp.server.fastmcp").replace("@mcp.tool", "@mcp.tool()")
SDK_2 = SDK_1.replace("mcp.server.fastmcp import FastMCP", "mcp.server import MCPServer")
SDK_2 = SDK_2.replace("FastMCP(", "MCPServer(")

LOWLEVEL_1 = """
    from mcp.server.lowlevel import Server
    import mcp.types as types
    server = Server("demo")

    @server.list_tools()
    async def tools():
        numbers = {"a": {"type": "integer"}, "b": {"type": "integer"}}
        return [types.Tool(name="add", inputSchema={"type": "object", "properties": numbers})]

    @server.call_tool()
    async def call(name, arguments):
        return [types.TextContent(type="text", text=str(arguments["a"] + arguments["b"]))]
"""

LOWLEVEL_2 = """
    from mcp.server.lowlevel import Server
    import mcp_types as types

    async def tools(context, params):
        numbers = {"a": {"type": "integer"}, "b": {"type": "integer"}}
        schema = {"type": "object", "properties": numbers}
        return types.ListToolsResult(tools=[types.Tool(name="add", input_schema=schema)])

    async def call(context, params):
        text = str(params.arguments["a"] + params.arguments["b"])
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    server = Server("demo", on_list_tools=tools, on_call_tool=call)
"""

APP_OF_FASTMCP = FASTMCP + "\n    app = mcp.http_app(path='/mcp')\n"
APP_OF_SDK_1 = SDK_1 + "\n    app = mcp.streamable_http_app()\n"
APP_OF_SDK_2 = SDK_2 + "\n    app = mcp.streamable_http_app()\n"

#: Test id: source, entrypoint, environment, kind, whether it speaks 2026-07-28.
CASES = {
    "fastmcp_2": (FASTMCP, "server.py", "fastmcp2", "fastmcp", False),
    "fastmcp_3": (FASTMCP, "server.py", "fastmcp3", "fastmcp", False),
    "fastmcp_4": (FASTMCP, "server.py", "fastmcp4", "fastmcp", True),
    "mcp_1_FastMCP": (SDK_1, "server.py", "mcp1", "mcp-fastmcp", False),
    "mcp_1_FastMCP_beside_fastmcp_3": (SDK_1, "server.py", "fastmcp3", "mcp-fastmcp", False),
    "mcp_2_MCPServer": (SDK_2, "server.py", "mcp2", "mcp-server", True),
    "mcp_1_lowlevel": (LOWLEVEL_1, "server.py", "mcp1", "mcp-lowlevel", False),
    "mcp_2_lowlevel": (LOWLEVEL_2, "server.py", "mcp2", "mcp-lowlevel", True),
    "fastmcp_4_on_python_3.10": (FASTMCP, "server.py", "fastmcp4-python3.10", "fastmcp", True),
    "asgi_of_fastmcp_2": (APP_OF_FASTMCP, "server.py:app", "fastmcp2", "asgi", False),
    "asgi_of_fastmcp_4": (APP_OF_FASTMCP, "server.py:app", "fastmcp4", "asgi", True),
    "asgi_of_mcp_1": (APP_OF_SDK_1, "server.py:app", "mcp1", "asgi", False),
    "asgi_of_mcp_2": (APP_OF_SDK_2, "server.py:app", "mcp2", "asgi", True),
}
if IS_THOROUGH:
    # By default the oldest Python stands for the others.
    CASES["fastmcp_4_on_python_3.13"] = (FASTMCP, "server.py", "fastmcp4-python3.13", "fastmcp", True)


#: Cases that import their framework by themselves: each framework once. The others go on from a prewarmed interpreter,
#: except by `./towpath test thorough`, and where there is none.
ORDINARY = ("fastmcp_4", "mcp_1_FastMCP", "mcp_2_MCPServer")


Case = tuple[str, str, str, str, bool]


@pytest.fixture(scope="module", params=CASES.keys())
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Harness, Case]]:
    """A server of the case for all tests of it, most of whose processor time is the import; afterwards it ends in order."""
    case: Case = CASES[request.param]
    with starting(tmp_path_factory.mktemp("served") / "repo") as begin:
        harness = begin(*case[:3], is_prewarmed=request.param not in ORDINARY)
        yield harness, case
        exit_status, _ = harness.stop()
        assert exit_status == 0
        assert "Traceback" not in harness.output()


def test_BLD_5_serves(served: tuple[Harness, Case]) -> None:
    harness, (_, _, environment, kind, speaks_modern) = served
    status = harness.ready()
    assert status["kind"] == kind
    name = environment.partition("-")[0]
    package, major = ("mcp", "1") if kind == "mcp-fastmcp" else (name[:-1], name[-1])
    assert status["frameworks"][package].startswith(f"{major}.")
    assert status["importMs"] > 0

    client = Client(harness.socket)
    assert client.initialize()["protocolVersion"] == LEGACY
    assert [tool["name"] for tool in client.call("tools/list")["tools"]] == ["add"]
    called = client.call("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}})
    assert called["content"][0]["text"] == "5"

    if speaks_modern:
        assert client.modern("server/discover")["supportedVersions"]
        assert [tool["name"] for tool in client.modern("tools/list")["tools"]] == ["add"]
        called = client.modern("tools/call", {"name": "add", "arguments": {"a": 2, "b": 40}})
        assert called["content"][0]["text"] == "42"


def test_GW_12_the_first_request_of_a_session_opened_asleep_opens_it_at_the_server(
    served: tuple[Harness, Case],
) -> None:
    harness, _ = served
    harness.ready()
    client = Client(harness.socket)
    client.opened_asleep()
    result = client.call("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}})
    assert result["content"][0]["text"] == "5"
    assert [tool["name"] for tool in client.call("tools/list")["tools"]] == ["add"]


@pytest.mark.parametrize("environment", ["fastmcp2", "fastmcp4", "mcp1", "mcp2"])
def test_BLD_5_path_with_a_trailing_slash_is_the_same(start: Start, environment: str) -> None:
    source = {"mcp1": SDK_1, "mcp2": SDK_2}.get(environment, FASTMCP)
    harness = start(source, environment=environment)
    harness.ready()
    for _ in range(2):
        assert Client(harness.socket, "/mcp/").initialize()
    assert Client(harness.socket, "/mcp").initialize()


def test_BLD_5_app_that_mounts_mcp_under_a_slash(start: Start) -> None:
    """The usual FastAPI example serves `/mcp/` and redirects `/mcp` to it."""
    source = """
        from fastmcp import FastMCP
        from starlette.applications import Starlette
        from starlette.responses import PlainTextResponse
        from starlette.routing import Mount, Route

        demo = FastMCP("demo")
        inner = demo.http_app(path="/")
        hello = Route("/hello", lambda request: PlainTextResponse(f"hello {request.url.scheme} {request.client.host}"))
        app = Starlette(routes=[hello, Mount("/mcp", inner)], lifespan=inner.lifespan)
    """
    harness = start(source)
    assert harness.ready()["kind"] == "asgi"
    client = Client(harness.socket)
    client.initialize()
    assert client.call("tools/list") == {"tools": []}
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
    assert client.get("/hello", forwarded) == (200, b"hello https 203.0.113.9")


def test_BLD_5_bare_asgi_function_without_lifespan(start: Start) -> None:
    source = """
        async def app(scope, receive, send):
            assert scope["type"] == "http"
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": scope["path"].encode()})
    """
    harness = start(source)
    assert harness.ready()["kind"] == "asgi"
    assert Client(harness.socket).get("/anything") == (200, b"/anything")


def test_BLD_5_lifespan_of_the_server_runs(start: Start) -> None:
    source = """
        from contextlib import asynccontextmanager
        from fastmcp import FastMCP

        @asynccontextmanager
        async def lifespan(server):
            print("lifespan started")
            yield {}
            print("lifespan ended")

        mcp = FastMCP("demo", lifespan=lifespan)
    """
    harness = start(source)
    harness.ready()
    assert "lifespan started" in harness.output()
    harness.stop()
    assert "lifespan ended" in harness.output()
