"""Serves a FastMCP server that does its own sign-in on the unix socket given, written as docs/sign-in.md says.

`proxy`: the server asks for consent on a page of its own and signs people in at the provider. `remote`: clients sign in
at the provider, and the server checks its tokens.
"""

import os
import sys

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.oidc_proxy import OIDCProxy
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token

how, socket = sys.argv[1:]
url = os.environ["TOWPATH_CLOUD_URL"]
issuer = os.environ["ISSUER"]

if how == "proxy":
    auth = OIDCProxy(
        config_url=f"{issuer}/.well-known/openid-configuration",
        client_id="towpath",
        client_secret="secret-of-the-test-client",
        audience=f"{url}/mcp",
        required_scopes=["use"],
        base_url=url,
    )
else:
    keys = f"{issuer}/jwks"
    auth = RemoteAuthProvider(
        token_verifier=JWTVerifier(jwks_uri=keys, issuer=issuer, audience=f"{url}/mcp", required_scopes=["use"]),
        authorization_servers=[issuer],
        base_url=url,
    )

mcp = FastMCP("own sign-in", auth=auth)


@mcp.tool
def whoami() -> str:
    """The name that the caller signed in with."""
    token = get_access_token()
    return str(token.claims.get("sub")) if token else "nobody"


uvicorn.run(mcp.http_app(path="/mcp"), uds=socket, log_level="warning")
