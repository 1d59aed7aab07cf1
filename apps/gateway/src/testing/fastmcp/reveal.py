"""Serves a FastMCP server on the unix socket given, whose tools repeat the variable TOKEN in every form they can."""

import base64
import json
import os
import sys
import urllib.parse

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("reveals")
token = os.environ["TOKEN"]


@mcp.tool
async def reveal(ctx: Context) -> dict:
    """Answers with the token, after a notification that has it too."""
    raw = token.encode()
    await ctx.info(f"the token is {token}")
    return {
        "text": f"token={token};",
        "json": json.dumps({"token": token}),
        "unicode": json.dumps({"token": token}, ensure_ascii=False),
        "base64": base64.b64encode(raw).decode(),
        "basic": base64.b64encode(b"user:" + raw).decode(),
        "base64url": base64.urlsafe_b64encode(b"x" + raw).decode(),
        "lines": base64.encodebytes(raw).decode(),
        "hex": raw.hex(),
        "upper": raw.hex().upper(),
        "quote": urllib.parse.quote(token),
        "quote_all": urllib.parse.quote(token, safe=""),
        "form": urllib.parse.urlencode({"token": token}),
        token: "a name",
    }


@mcp.tool
def fail() -> str:
    """Fails with the token in its message."""
    raise ToolError(f"401 for {token}")


@mcp.resource(f"config://{urllib.parse.quote(token, safe='')}/settings")
def settings() -> str:
    """Its address has the token."""
    return "nothing"


uvicorn.run(mcp.http_app(path="/mcp"), uds=sys.argv[1], log_level="warning")
