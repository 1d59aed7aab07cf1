import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { inspectPath } from "@towpath/runtime";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { expectAccessible } from "./accessible.ts";
import { memoryProvider } from "./authorize.ts";
import { newVisitor } from "./browser.ts";

const name = "own-sign-in";
const dataDirectory = inject("dataDirectory");
const url = `${inject("serversUrl")}/${name}/mcp`;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-own-sign-in-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function deploy(text: string, ...args: string[]) {
  await writeFile(join(directory, "requirements.txt"), "fastmcp==4.1.2\n");
  await writeFile(join(directory, "server.py"), text);
  return towpath("deploy", directory, "--name", name, ...args, "--data-dir", dataDirectory);
}

const settings = (...args: string[]) => towpath("settings", name, ...args, "--data-dir", dataDirectory);

async function call(token: string): Promise<unknown> {
  const client = new Client({ name: "e2e", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const { content } = await client.callTool({ name: "ping", arguments: {} });
  await client.close();
  return content;
}

test.runIf(isThorough)(
  "GW-4 BLD-10 a server that does its own sign-in is deployed, and answers callers with its token through the gateway",
  async () => {
    const deployed = await deploy(
      `from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier

mcp = FastMCP("Guarded", auth=StaticTokenVerifier(tokens={"letmein": {"client_id": "me", "scopes": []}}))


@mcp.tool
def ping() -> str:
    return "pong"
`,
      "--public",
    );
    expect([deployed.status, deployed.stdout]).toEqual([0, expect.stringContaining(`Live: ${url}`)]);
    expect(deployed.stdout).toContain("1 tool,");
    expect(deployed.stdout).toContain("Warning: Clients can't find this server's sign-in");
    const members = await settings("--private");
    expect(members.stdout).toMatch(
      /can be called by +members of the organization[\s\S]*Warning: Nobody can call this server yet/,
    );
    expect((await settings("--auth", "oauth")).stderr).toContain("--auth must be");
    const own = await settings("--auth", "passthrough");
    expect([own.status, own.stdout]).toEqual([
      0,
      expect.stringContaining("whom the server itself lets in (passthrough)"),
    ]);
    expect(own.stdout).not.toContain("Warning:");
    const shown = (await settings()).stdout;
    expect(shown).toMatch(/entrypoint +server\.py(:mcp)? \(found automatically\)/);
    expect(own.stdout).toBe(
      `${shown}\n✓ can be called by: members of the organization, by API key or sign-in (towpath-cloud) → anyone whom the server itself lets in (passthrough)\n`,
    );
    expect((await settings("--auth", "passthrough")).stdout).toContain("Nothing changed");
    await expect.poll(() => call("letmein").catch(String)).toEqual([{ type: "text", text: "pong" }]);
    const stranger = await fetch(url, { method: "POST", body: "{}" });
    expect(stranger.status).toBe(401);
    await expect(call("something else")).rejects.toThrow();
    // The endpoint by which builds read its lists is closed to clients.
    const bypass = url.replace(/\/mcp$/, inspectPath);
    for (const authorization of ["Bearer letmein", "none"]) {
      expect((await fetch(bypass, { method: "POST", body: "{}", headers: { authorization } })).status).toBe(404);
    }
  },
);

test.runIf(isThorough)(
  "GW-4 BLD-10 a server with its own OAuth pages and files runs in its sandbox; its consent leads to its provider",
  async () => {
    const deployed = await deploy(`import os

from fastmcp import FastMCP
from fastmcp.server.auth import OAuthProxy
from fastmcp.server.auth.providers.jwt import JWTVerifier, RSAKeyPair

auth = OAuthProxy(
    upstream_authorization_endpoint="https://login.example/authorize",
    upstream_token_endpoint="https://login.example/token",
    upstream_client_id="me",
    upstream_client_secret="a secret of this test",
    token_verifier=JWTVerifier(public_key=RSAKeyPair.generate().public_key, issuer="https://login.example"),
    base_url=os.environ["TOWPATH_CLOUD_URL"],
)
mcp = FastMCP("Proxied", auth=auth)


@mcp.tool
def ping() -> str:
    return "pong"
`);
    expect([deployed.status, deployed.stdout]).toEqual([0, expect.stringContaining(`Live: ${url}`)]);
    expect(deployed.stdout).not.toContain("Warning:");
    const authProvider = memoryProvider("http://127.0.0.1:1/callback", "A client");
    const client = new Client({ name: "e2e", version: "1" });
    const connected = client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
    await expect(connected).rejects.toThrow(UnauthorizedError);
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const { page } = await newVisitor(browser);
    await page.goto(authProvider.kept.asked?.href ?? "");
    await page.getByRole("button", { name: "Allow Access" }).click();
    await page.getByRole("heading", { name: `Continue to ${name}?` }).waitFor();
    await expectAccessible(page);
    const led = page.waitForRequest((asked) => asked.url().startsWith("https://login.example/authorize?"));
    await page.getByRole("button", { name: "Continue" }).press("Enter");
    const { searchParams } = new URL((await led).url());
    expect(searchParams.get("redirect_uri")).toBe(`${inject("serversUrl")}/${name}/auth/callback`);
  },
);

test.runIf(isThorough)("BLD-6 the terminal prints a server's warnings after its address", async () => {
  const deployed = await deploy('from fastmcp import FastMCP\n\nmcp = FastMCP("Empty")\n');
  expect(deployed.status).toBe(0);
  // It still decides itself who can call it, and asks for no credentials.
  expect(deployed.stdout).toMatch(/Live: http[\s\S]*Warning: Anyone can call this server/);
  expect(deployed.stdout).toMatch(
    /Warning: The server offers nothing[\s\S]*What to do: If it offers them only with variables/,
  );
});
