import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { databaseUrlOf } from "../instance/processes.ts";
import { putToSleep, runningServers } from "../instance/sleep.ts";
import { repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

const run = promisify(execFile);
const dataDirectory = inject("dataDirectory");
const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 2 });

const source = (imported: string) => `from ${imported} as Server

mcp = Server("Sleeper", instructions="Wake me gently.")


@mcp.tool()
def echo(text: str) -> str:
    """Repeats."""
    return text


@mcp.resource("text://motd")
def motd() -> str:
    return "hello"


@mcp.resource("user://{name}")
def user(name: str) -> str:
    return name


@mcp.prompt()
def greet(name: str) -> str:
    return f"Greet {name}"
`;
/** Current frameworks, one of which other files install anyway. `./towpath test thorough` has the rest, too. */
const frameworks: Readonly<Record<string, { readonly requirement: string; readonly code: string }>> = {
  "sleepy-fastmcp-4": { requirement: "fastmcp==4.1.2", code: source("fastmcp import FastMCP") },
  "sleepy-mcp-1": { requirement: "mcp>=1,<2", code: source("mcp.server.fastmcp import FastMCP") },
  ...(isThorough && {
    "sleepy-fastmcp-2": { requirement: "fastmcp>=2,<3", code: source("fastmcp import FastMCP") },
    "sleepy-fastmcp-3": { requirement: "fastmcp>=3,<4", code: source("fastmcp import FastMCP") },
    "sleepy-mcp-2": { requirement: "mcp>=2,<3\nuvicorn", code: source("mcp.server import MCPServer") },
  }),
};
const names = Object.keys(frameworks);
const urlOf = (name: string) => new URL(`${inject("serversUrl")}/${name}/mcp`);
const runningOfOurs = async () => (await runningServers(dataDirectory, pool)).filter((name) => names.includes(name));

async function deploy(name: string, requirement: string, code: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-sleepy-"));
  await writeFile(join(directory, "requirements.txt"), `${requirement}\n`);
  await writeFile(join(directory, "server.py"), code);
  const deployed = await towpath("deploy", directory, "--name", name, "--public", "--data-dir", dataDirectory);
  await rm(directory, { recursive: true });
  expect(deployed.stdout + deployed.stderr).toContain("Live: ");
}

beforeAll(
  () => Promise.all(Object.entries(frameworks).map(([name, { requirement, code }]) => deploy(name, requirement, code))),
  400_000,
);
afterAll(close);

const both = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
const clientInfo = { name: "e2e-sleeping", version: "1" };

async function ask(url: URL, method: string, params: object | undefined, headers: Record<string, string>) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: `${method} 1`, method, ...(params && { params }) });
  const response = await fetch(url, { method: "POST", headers: { ...both, ...headers }, body });
  const text = await response.text();
  const message = JSON.parse(/^data: ?(\{.+)$/m.exec(text)?.[1] ?? text);
  return { session: response.headers.get("mcp-session-id"), answer: { status: response.status, message } };
}

/** A server's answers to handshakes, pings and lists in every revision. */
async function answersOf(url: URL): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const protocolVersion of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
    const opened = await ask(url, "initialize", { protocolVersion, capabilities: {}, clientInfo }, {});
    answers.push(opened.answer);
    const headers = { "mcp-session-id": opened.session ?? "", "mcp-protocol-version": protocolVersion };
    for (const method of ["ping", ...methods]) answers.push((await ask(url, method, undefined, headers)).answer);
  }
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": clientInfo,
  };
  for (const method of ["server/discover", ...methods]) {
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
    const { answer } = await ask(url, method, { _meta }, headers);
    answers.push(answer);
    // An earlier framework: clients continue with `initialize`.
    if (answer.status !== 200) break;
  }
  return answers;
}

const { promise: asleep, resolve: foundAsleep } = Promise.withResolvers<Map<string, unknown[]>>();

test("GW-12 servers asleep answer handshakes, pings and lists of every revision, and none is started", async () => {
  await putToSleep(dataDirectory, pool, names);
  const found = new Map<string, unknown[]>();
  for (const name of names) found.set(name, await answersOf(urlOf(name)));
  expect(await runningOfOurs()).toEqual([]);
  foundAsleep(found);
});

test("GW-12 the TypeScript clients of both eras connect to sleeping servers and list, and none is started", async () => {
  for (const name of names) {
    const client = new Client(clientInfo, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(urlOf(name)));
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["echo"]);
    await client.close();
    const legacy = new LegacyClient(clientInfo);
    await legacy.connect(new LegacyTransport(urlOf(name)) as never);
    expect((await legacy.listPrompts()).prompts.map((prompt) => prompt.name)).toEqual(["greet"]);
    await legacy.close();
  }
  expect(await runningOfOurs()).toEqual([]);
});

test.runIf(isThorough)("GW-12 so does FastMCP's client", async () => {
  const script = join(repositoryRoot, "tests", "e2e", "list_with_fastmcp.py");
  const python = ["run", "--no-project", "--with", "fastmcp==4.1.2", "python", script];
  const { stdout } = await run("uv", [...python, ...names.map((name) => urlOf(name).href)]);
  expect(JSON.parse(stdout)).toEqual(names.map(() => ({ tools: ["echo"], prompts: ["greet"], templates: ["user"] })));
  expect(await runningOfOurs()).toEqual([]);
});

test("GW-12 the first call of a session opened asleep wakes its server and no other, and the session continues there", async () => {
  const awake: string[] = [];
  for (const name of names) {
    const client = new LegacyClient(clientInfo);
    const transport = new LegacyTransport(urlOf(name));
    await client.connect(transport as never);
    await client.listTools();
    expect(await runningOfOurs()).toEqual([...awake].sort());
    for (const text of ["first", "second"]) {
      const { content } = await client.callTool({ name: "echo", arguments: { text } });
      expect(content).toEqual([expect.objectContaining({ type: "text", text })]);
    }
    awake.push(name);
    expect(await runningOfOurs()).toEqual([...awake].sort());
    expect(transport.sessionId).toMatch(/^p1\./);
    await transport.terminateSession();
    await client.close();
  }
});

test("GW-12 running, the same servers give the same answers themselves", async () => {
  const before = await asleep;
  for (const name of names) expect([name, await answersOf(urlOf(name))]).toEqual([name, before.get(name)]);
});
