import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { towpath } from "../instance/towpath-process.ts";

const name = "own-sign-in";
const dataDirectory = inject("dataDirectory");
const url = `${inject("serversUrl")}/${name}/mcp`;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-own-sign-in-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function deploy(text: string) {
  await writeFile(join(directory, "requirements.txt"), "fastmcp\n");
  await writeFile(join(directory, "server.py"), text);
  return towpath("deploy", directory, "--name", name, "--public", "--data-dir", dataDirectory);
}

/** Changes who may call it, as the settings page does. */
async function leaveSignInToTheServer(): Promise<void> {
  const token = (await readFile(join(dataDirectory, "operator-token"), "utf8")).trim();
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${inject("url")}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    expect(answer.ok, text).toBe(true);
    return JSON.parse(text);
  };
  const { organization, installationId, repository } = await post("/api/v1/repositories", { name });
  const place = { organization, installationId, repositoryFullName: repository.fullName };
  await post("/api/v1/projects", { ...place, name, authMode: "passthrough" });
}

async function call(token: string): Promise<unknown> {
  const client = new Client({ name: "e2e", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const { content } = await client.callTool({ name: "ping", arguments: {} });
  await client.close();
  return content;
}

test("GW-4 BLD-10 a server that does its own sign-in is deployed, and answers through the gateway who has its token", async () => {
  const deployed = await deploy(`from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier

mcp = FastMCP("Guarded", auth=StaticTokenVerifier(tokens={"letmein": {"client_id": "me", "scopes": []}}))


@mcp.tool
def ping() -> str:
    return "pong"
`);
  expect([deployed.status, deployed.stdout]).toEqual([0, expect.stringContaining(`Live: ${url}`)]);
  expect(deployed.stdout).toContain("1 tool,");
  expect(deployed.stdout).not.toContain("Warning:");
  await leaveSignInToTheServer();
  await expect.poll(() => call("letmein").catch(String)).toEqual([{ type: "text", text: "pong" }]);
  const stranger = await fetch(url, { method: "POST", body: "{}" });
  expect(stranger.status).toBe(401);
  await expect(call("something else")).rejects.toThrow();
});

test("BLD-6 the terminal prints what is wrong with a server after where it is live", async () => {
  const deployed = await deploy('from fastmcp import FastMCP\n\nmcp = FastMCP("Empty")\n');
  expect(deployed.status).toBe(0);
  expect(deployed.stdout).toMatch(/Live: http[\s\S]*Warning: The server offers nothing[\s\S]*What to do: Register/);
});
