import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import type { BuildResult } from "../index.ts";
import { openWorkshop, type Tried, type Workshop } from "../testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.close());

const requirements = { "requirements.txt": "fastmcp\n" };
const build = (text: string) => workshop.tryBuild({ "server.py": text, ...requirements });

function success({ result, text }: Tried): Extract<BuildResult, { ok: true }> {
  if (!result.ok) throw new Error(`${JSON.stringify(result.diagnosis, null, 2)}\n${text}`);
  return result;
}

const protectedServer = `
from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import JWTVerifier, RSAKeyPair

auth = JWTVerifier(public_key=RSAKeyPair.generate().public_key, issuer="https://issuer.example", audience="demo")
mcp = FastMCP("Guarded", auth=auth, instructions="Sign in.")

@mcp.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b

@mcp.resource("text://motd")
def motd() -> str:
    return "hello"

@mcp.prompt
def greet(name: str) -> str:
    return f"Greet {name}"
`;

test.runIf(isThorough)(
  "BLD-6 GW-4 the manifest of a server that answers 401 is read inside its process; in towpath-cloud mode, its log warns that it can't be called",
  async () => {
    const files = { "server.py": protectedServer, ...requirements };
    const tried = await workshop.tryBuild(files, { authMode: "towpath-cloud" });
    const { manifest, warnings, ownSignIn } = success(tried);
    expect(ownSignIn).toBe(true);
    expect(manifest).toMatchObject({
      server: { name: "Guarded" },
      instructions: "Sign in.",
      tools: [{ tool_name: "add", description: "Adds." }],
      resources: [{ uri: "text://motd" }],
      prompts: [{ prompt_name: "greet", arguments: [{ name: "name", required: true }] }],
    });
    expect(tried.text).toContain("HTTP 401");
    // Not stored as a warning: it is one for as long as the project has this mode.
    expect(warnings).toEqual([]);
    expect(tried.text).toContain("inspect warning Nobody can call this server yet");
  },
);

test.runIf(isThorough)(
  "BLD-6 lists are read behind a server's own OAuth provider, and inside a mounted app",
  async () => {
    const oauth = protectedServer
      .replace("jwt import JWTVerifier, RSAKeyPair", "in_memory import InMemoryOAuthProvider")
      .replace(/^auth = .*$/m, 'auth = InMemoryOAuthProvider(base_url="https://demo.example")');
    expect(success(await build(oauth)).manifest?.tools).toHaveLength(1);
    const mounted = `${protectedServer}
from starlette.applications import Starlette
from starlette.routing import Mount
inner = mcp.http_app(path="/")
app = Starlette(routes=[Mount("/mcp", inner)], lifespan=inner.lifespan)
del mcp
`;
    expect(success(await build(mounted)).manifest?.tools).toHaveLength(1);
  },
);

test.runIf(isThorough)(
  "BLD-2 GW-4 for an OAuth server that the mcp package refuses at http://, the remedy says where it works",
  async () => {
    const oauth = protectedServer
      .replace("jwt import JWTVerifier, RSAKeyPair", "in_memory import InMemoryOAuthProvider")
      .replace(/^auth = .*$/m, 'auth = InMemoryOAuthProvider(base_url="http://demo.localhost:8080")');
    const { result } = await build(oauth);
    expect(result).toMatchObject({
      ok: false,
      diagnosis: { code: "lifespan_failed", remedy: expect.stringMatching(/over https, or .* by path/) },
    });
  },
);

test.runIf(isThorough)(
  "BLD-6 an app that answers 401 and exposes no server is built with a warning that its lists are unknown",
  async () => {
    const app = `async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
    await send({"type": "http.response.body", "body": b""})
`;
    const tried = await build(app);
    const { manifest, warnings } = success(tried);
    expect(manifest).toBeNull();
    expect(warnings).toMatchObject([{ code: "lists_not_read" }]);
    expect(tried.log).toContainEqual({
      phase: "inspect",
      kind: "warning",
      text: expect.stringContaining("could not be read"),
    });
  },
);

test.runIf(isThorough)("BLD-6 a server without tools, resources and prompts gets a warning", async () => {
  const tried = await build('from mcp.server import MCPServer\nmcp = MCPServer("Empty")\n');
  const { warnings, ownSignIn } = success(tried);
  expect(warnings).toMatchObject([{ code: "nothing_offered", title: "The server offers nothing" }]);
  expect(ownSignIn).toBe(false);
  expect(tried.text).toContain("inspect warning The server offers nothing");
});

test.runIf(isThorough)("BLD-6 a list that fails is a warning with the server's error, not a failed build", async () => {
  const broken = `
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from mcp.shared.exceptions import MCPError

class Broken(Middleware):
    async def on_list_resources(self, context, call_next):
        raise MCPError(-32000, "the catalogue is unavailable")

mcp = FastMCP("Half", middleware=[Broken()])

@mcp.tool
def add(a: int, b: int) -> int:
    return a + b
`;
  const { manifest, warnings } = success(await build(broken));
  expect(manifest?.tools).toHaveLength(1);
  expect(warnings).toMatchObject([{ code: "list_failed", title: "The server could not list its resources" }]);
  expect(warnings[0]?.detail).toContain("the catalogue is unavailable");
});
