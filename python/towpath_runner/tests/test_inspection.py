"""BLD-6: builds read the lists of a server whose own sign-in answers 401."""

from __future__ import annotations

import pytest
from client import Client
from conftest import Start

PATH = "/-/towpath/inspect"
INSPECT = [f"--inspect-path={PATH}"]

TOKEN_FASTMCP = """
    from fastmcp import FastMCP
    from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
    auth = StaticTokenVerifier(tokens={"letmein": {"client_id": "me", "scopes": ["read"]}}, required_scopes=["read"])
    mcp = FastMCP("demo", auth=auth, instructions="Sign in first.")

    @mcp.tool
    def add(a: int, b: int) -> int:
        return a + b
"""

OAUTH_FASTMCP = TOKEN_FASTMCP.replace("jwt import StaticTokenVerifier", "in_memory import InMemoryOAuthProvider").replace(
    'StaticTokenVerifier(tokens={"letmein": {"client_id": "me", "scopes": ["read"]}}, required_scopes=["read"])',
    'InMemoryOAuthProvider(base_url="https://demo.towpath.example")',
)

SDK = """
    from mcp.server.{module} import {name}
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings

    class Verifier:
        async def verify_token(self, token):
            if token == "letmein":
                return AccessToken(token=token, client_id="me", scopes=["read"], expires_at=None)

    url = "https://demo.towpath.example"
    auth = AuthSettings(issuer_url=url, resource_server_url=url + "/mcp", required_scopes=["read"]{more})
    mcp = {name}("demo", token_verifier=Verifier(), auth=auth, instructions="Sign in first.")

    @mcp.tool()
    def add(a: int, b: int) -> int:
        return a + b
"""
SDK_1 = SDK.format(module="fastmcp", name="FastMCP", more="")
SDK_2 = SDK.format(module="mcpserver", name="MCPServer", more=", validate_token_resource=False")

MOUNTED = """
    from starlette.applications import Starlette
    from starlette.routing import Mount

    inner = mcp.http_app(path="/")

    class Wrapped:
        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            await self.app(scope, receive, send)

    app = Wrapped(Starlette(routes=[Mount("/mcp", inner)], lifespan=inner.lifespan))
"""

#: FastMCP hides this tool from callers without a token of that scope.
HIDDEN = """
    from fastmcp.server.auth import require_scopes

    @mcp.tool(auth=require_scopes("admin"))
    def wipe() -> str:
        return "gone"
"""

CASES = {
    "fastmcp_2_token": (TOKEN_FASTMCP, "fastmcp2", ["add"]),
    "fastmcp_2_oauth": (OAUTH_FASTMCP, "fastmcp2", ["add"]),
    "fastmcp_3_token": (TOKEN_FASTMCP + HIDDEN, "fastmcp3", ["add", "wipe"]),
    "fastmcp_3_oauth": (OAUTH_FASTMCP, "fastmcp3", ["add"]),
    "fastmcp_4_token": (TOKEN_FASTMCP + HIDDEN, "fastmcp4", ["add", "wipe"]),
    "fastmcp_4_oauth": (OAUTH_FASTMCP, "fastmcp4", ["add"]),
    "mcp_1_token": (SDK_1, "mcp1", ["add"]),
    "mcp_2_token": (SDK_2, "mcp2", ["add"]),
    "mcp_1_app": (SDK_1 + "\n    app = mcp.streamable_http_app()\n    del mcp\n", "mcp1", ["add"]),
    "mcp_2_app": (SDK_2 + "\n    app = mcp.streamable_http_app()\n    del mcp\n", "mcp2", ["add"]),
    "fastmcp_4_mounted_and_wrapped": (TOKEN_FASTMCP + MOUNTED + "\n    del mcp\n", "fastmcp4", ["add"]),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_BLD_6_lists_are_read_behind_the_sign_in(start: Start, case: tuple[str, str, list[str]]) -> None:
    source, environment, tools = case
    harness = start(source, environment=environment, arguments=INSPECT)
    harness.ready()
    assert Client(harness.socket).status() == 401
    inside = Client(harness.socket, PATH)
    assert inside.initialize()["instructions"] == "Sign in first."
    assert [tool["name"] for tool in inside.call("tools/list")["tools"]] == tools
    assert Client(harness.socket).status() == 401
    assert Client(harness.socket).status({"Authorization": "Bearer letmein"}) == (401 if "OAuth" in source else 200)


def test_BLD_6_the_sign_in_of_a_deployed_server_cannot_be_bypassed(start: Start) -> None:
    harness = start(TOKEN_FASTMCP)
    harness.ready()
    assert Client(harness.socket, PATH).status() == 404


def test_BLD_6_an_app_without_a_recognizable_server_answers_404(start: Start) -> None:
    source = """
        async def app(scope, receive, send):
            assert scope["type"] == "http"
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"who are you?"})
    """
    harness = start(source, arguments=INSPECT)
    harness.ready()
    assert Client(harness.socket).status() == 401
    assert Client(harness.socket, PATH).status() == 404


@pytest.mark.parametrize("end", ["", "\n    server = mcp._mcp_server\n    del mcp\n"])
def test_BLD_2_a_lifespan_that_fails_for_each_session_is_reported_by_the_build(start: Start, end: str) -> None:
    source = f"""
    import os
    from contextlib import asynccontextmanager
    from mcp.server.fastmcp import FastMCP

    @asynccontextmanager
    async def lifespan(server):
        if os.getenv("SHOP_KEY") is None:
            raise OSError("Missing required environment variable: SHOP_KEY")
        print("entered")
        yield {{}}
        print("left")

    mcp = FastMCP("demo", lifespan=lifespan)
{end}"""
    status = start(source, environment="mcp1", arguments=INSPECT).failed()
    assert (status["code"], status["candidates"]) == ("variable_missing", ["SHOP_KEY"]), status
    server = start(source, environment="mcp1", arguments=INSPECT, SHOP_KEY="x")
    server.ready()
    assert "entered" in server.output() and "left" in server.output()
