"""Signs in to the URL given with the OAuth flow of mcp's own client, calls `echo` and prints what came back.

Runs with mcp 1.9, which speaks 2025-03-26 and names no resource, and with mcp 2.
"""

import asyncio
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

IS_OLD = version("mcp").startswith("1.9.")


class Storage:
    """Keeps tokens and registration in memory."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def open_callback():
    """Listens for the answer: the server's port, and a future of its parameters."""
    loop = asyncio.get_running_loop()
    answer = loop.create_future()

    class Callback(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"done")
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            if "code" in query:
                loop.call_soon_threadsafe(answer.set_result, query)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Callback)
    Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port, answer


async def call(streams) -> None:
    async with ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        result = await session.call_tool("echo", {"text": f"from mcp {version('mcp')}"})
        print(json.dumps({"text": result.content[0].text}), flush=True)


async def main(url: str) -> None:
    port, answer = open_callback()

    async def show(address: str) -> None:
        print(address, flush=True)

    async def wait():
        query = await answer
        if IS_OLD:
            return query["code"], query.get("state")
        from mcp.client.auth.oauth2 import AuthorizationCodeResult

        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    metadata = OAuthClientMetadata(
        client_name=f"mcp {version('mcp')}",
        redirect_uris=[f"http://127.0.0.1:{port}/callback"],
        token_endpoint_auth_method="none",
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
    )
    auth = OAuthClientProvider(url, metadata, Storage(), show, wait)
    if IS_OLD:
        from mcp.client.streamable_http import streamablehttp_client

        async with streamablehttp_client(url, auth=auth) as streams:
            await call(streams)
    else:
        from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

        async with create_mcp_http_client(auth=auth) as client, streamable_http_client(url, http_client=client) as streams:
            await call(streams)


asyncio.run(main(sys.argv[1]))
