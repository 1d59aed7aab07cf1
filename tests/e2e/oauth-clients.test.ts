import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { UnauthorizedError as LegacyUnauthorized } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { freePort } from "@towpath/role/testing";
import { expect, inject, onTestFinished, test } from "vitest";
import { suiteProgram } from "../conformance/suite.ts";
import { makePortal } from "../instance/make-portal.ts";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { memoryProvider, printedAddress } from "./authorize.ts";
import { openSignedInServer } from "./signed-in-server.ts";

const issuer = inject("url");
const server = openSignedInServer("oauth-clients");
const { url, allow, runProgram } = server;
const require = createRequire(import.meta.url);

const echoed = (text: string) => expect.arrayContaining([expect.objectContaining({ type: "text", text })]);

test("GW-4 GW-5 the TypeScript client 2 registers, signs in, calls, and renews its token", async () => {
  const authProvider = memoryProvider(server.callback.url, "SDK two");
  const connect = async () => {
    const client = new Client({ name: "oauth-two", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const transport = new StreamableHTTPClientTransport(url, { authProvider });
    await client.connect(transport);
    return client;
  };
  await expect(connect()).rejects.toThrow(UnauthorizedError);
  expect(authProvider.kept.asked?.searchParams.get("resource")).toBe(url.href);
  const answer = await allow(authProvider.kept.asked ?? "");
  expect(answer.get("iss")).toBe(issuer);
  await new StreamableHTTPClientTransport(url, { authProvider }).finishAuth(answer);
  const client = await connect();
  expect((await client.callTool({ name: "echo", arguments: { text: "two" } })).content).toEqual(echoed("two"));
  await client.close();

  const { tokens } = authProvider.kept;
  const [header = "", claims = ""] = tokens?.access_token.split(".") ?? [];
  if (tokens) authProvider.kept.tokens = { ...tokens, access_token: `${header}.${claims}.AAAA` };
  const renewed = await connect();
  expect((await renewed.callTool({ name: "echo", arguments: { text: "again" } })).content).toEqual(echoed("again"));
  expect(authProvider.kept.tokens?.refresh_token).not.toBe(tokens?.refresh_token);
  await renewed.close();
});

test("GW-4 GW-5 the TypeScript client 1 registers, signs in and calls in a session", async () => {
  const authProvider = memoryProvider(server.callback.url, "SDK one");
  const connect = async () => {
    const client = new LegacyClient({ name: "oauth-one", version: "1" });
    const transport = new LegacyTransport(url, { authProvider });
    await client.connect(transport);
    return { client, transport };
  };
  await expect(connect()).rejects.toThrow(LegacyUnauthorized);
  const answer = await allow(authProvider.kept.asked ?? "");
  await new LegacyTransport(url, { authProvider }).finishAuth(answer.get("code") ?? "");
  const { client, transport } = await connect();
  expect(transport.sessionId).toBeTruthy();
  expect((await client.callTool({ name: "echo", arguments: { text: "one" } })).content).toEqual(echoed("one"));
  await client.close();
});

test("ORG-3 GW-4 GW-5 a client that knows only a portal's URL signs in there, and its token is for the portal alone", async () => {
  const portal = await makePortal({ name: "oauth-portal", server: "oauth-clients", authMode: "towpath-cloud" });
  const authProvider = memoryProvider(server.callback.url, "Portal app");
  const connect = async () => {
    const client = new Client({ name: "oauth-portal", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(portal, { authProvider }));
    return client;
  };
  await expect(connect()).rejects.toThrow(UnauthorizedError);
  expect(authProvider.kept.asked?.searchParams.get("resource")).toBe(portal.href);
  const answer = await allow(authProvider.kept.asked ?? "", async (page) => {
    await page.getByText("An app wants to use one of your portals").waitFor();
    const details = page.locator("dl");
    for (const text of ["Portal app", "oauth-portal of", "Its serversoauth-clients", portal.href])
      await expect.poll(() => details.textContent()).toContain(text);
  });
  await new StreamableHTTPClientTransport(portal, { authProvider }).finishAuth(answer);
  const token = authProvider.kept.tokens?.access_token ?? "";
  expect(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).aud).toBe(portal.href);
  const client = await connect();
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  const called = await client.callTool({ name: "echo", arguments: { text: "by the portal" } });
  expect(called.content).toEqual(echoed("by the portal"));
  await client.close();
  // The person may call the server behind it, but this token is not for it.
  const direct = await fetch(url, { method: "POST", headers: { authorization: `Bearer ${token}` }, body: "{}" });
  expect([direct.status, direct.headers.get("www-authenticate")]).toEqual([
    401,
    expect.stringContaining(`oauth-protected-resource${url.pathname}`),
  ]);
});

test.runIf(isThorough)("GW-4 GW-5 mcp-remote signs in for a client that knows no OAuth", async () => {
  const program = join(dirname(require.resolve("mcp-remote/package.json")), "dist", "proxy.js");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, url.href],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: server.home,
      MCP_REMOTE_CONFIG_DIR: join(server.home, "mcp-remote"),
      BROWSER: "true",
    },
    stderr: "pipe",
  });
  const client = new LegacyClient({ name: "behind-mcp-remote", version: "1" });
  onTestFinished(() => client.close());
  const connected = client.connect(transport);
  connected.catch(() => {});
  await allow(await printedAddress(transport.stderr as Readable));
  await connected;
  expect((await client.callTool({ name: "echo", arguments: { text: "remote" } })).content).toEqual(echoed("remote"));
});

test.runIf(isThorough)("GW-4 GW-5 FastMCP's client signs in by the OAuth helper of mcp", async () => {
  const script = join(repositoryRoot, "tests", "e2e", "sign_in_with_fastmcp.py");
  const args = ["run", "--no-project", "--with", "fastmcp==4.1.2", "python", script, url.href];
  // Python's webbrowser module starts this program as the browser.
  const { status, printed } = await runProgram("uv", args, { env: { BROWSER: "echo %s" } });
  expect([status, printed]).toEqual([0, expect.stringContaining('{"text": "from Python"}')]);
});

test.runIf(isThorough)("GW-4 GW-5 the official inspector's command line signs in", async () => {
  const manifest = require.resolve("@modelcontextprotocol/inspector/package.json");
  const program = join(dirname(manifest), "clients", "launcher", "build", "index.js");
  const port = await freePort();
  const args = [program, "--cli", url.href, "--transport", "http", "--method", "tools/call", "--tool-name", "echo"];
  args.push("--tool-arg", "text=inspected", "--callback-url", `http://127.0.0.1:${port}/oauth/callback`);
  // Without a terminal it starts a sign-in only if it may open a browser.
  const { status, printed } = await runProgram(process.execPath, args, { env: { MCP_AUTO_OPEN_ENABLED: "true" } });
  expect([status, printed]).toEqual([0, expect.stringContaining('"inspected"')]);
});

test.runIf(isThorough)("GW-5 the conformance suite's authorization scenarios pass", async () => {
  const port = await freePort();
  const registered = await fetch(`${issuer}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: "none" }),
  });
  const { client_id: clientId } = (await registered.json()) as { client_id: string };
  const { status, printed } = await runProgram(process.execPath, [
    suiteProgram(),
    "authorization",
    "--url",
    issuer,
    "--client-id",
    clientId,
    "--resource",
    url.href,
    "--port",
    String(port),
    "--output-dir",
    server.home,
  ]);
  expect([status, printed]).toEqual([0, expect.stringMatching(/authorization-code-grant/)]);
});
