import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, expect, inject, test } from "vitest";
import { z } from "zod";
import { repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

const run = promisify(execFile);
const name = "outside-clients";
const dataDirectory = inject("dataDirectory");
const url = `${inject("serversUrl")}/${name}/mcp`;

const rowSchema = z.object({
  method: z.string().nullable(),
  tool: z.string().nullable(),
  httpStatus: z.number(),
  isError: z.boolean(),
  durationMs: z.number(),
  client: z.string().nullable(),
  protocolVersion: z.string().nullable(),
  session: z.string().nullable(),
  principal: z.string(),
  time: z.string(),
});

async function rows() {
  const printed = await towpath("logs", name, "--json", "--data-dir", dataDirectory);
  expect(printed.status).toBe(0);
  return printed.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => rowSchema.parse(JSON.parse(line)));
}

/** The newest `tools/call` row, which must be there within 2 s of the call. */
async function newestCall(where: (row: z.infer<typeof rowSchema>) => boolean) {
  const deadline = Date.now() + 2_000;
  do {
    const found = (await rows()).find((row) => row.method === "tools/call" && where(row));
    if (found) return found;
    await sleep(200);
  } while (Date.now() < deadline);
  throw new Error(`The call is not in the log after 2 s: ${JSON.stringify(await rows(), null, 1)}`);
}

beforeAll(async () => {
  const directory = join(repositoryRoot, "python", "samples", "echo");
  const deployed = await towpath(
    "deploy",
    directory,
    "--name",
    name,
    "--entrypoint",
    "echo.py",
    "--public",
    "--data-dir",
    dataDirectory,
  );
  expect(deployed.stdout + deployed.stderr).toContain(`Live: ${url}`);
  expect(deployed.status).toBe(0);
});

test("GW-2 the TypeScript client of the modern revision", async () => {
  const client = new Client({ name: "e2e-modern", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const result = await client.callTool({ name: "echo", arguments: { text: "modern" } });
  expect(result.content).toEqual([expect.objectContaining({ type: "text", text: "modern" })]);
  await client.close();
  const row = await newestCall((candidate) => candidate.client?.startsWith("e2e-modern") === true);
  expect(row).toMatchObject({
    tool: "echo",
    httpStatus: 200,
    isError: false,
    protocolVersion: "2026-07-28",
    principal: "anonymous",
  });
});

test("GW-2 the TypeScript client of the older revisions keeps its session", async () => {
  const client = new LegacyClient({ name: "e2e-legacy", version: "1.0.0" });
  const transport = new LegacyTransport(new URL(url));
  await client.connect(transport);
  expect(transport.sessionId).toBeTruthy();
  const result = await client.callTool({ name: "echo", arguments: { text: "legacy" } });
  expect(result.content).toEqual([{ type: "text", text: "legacy" }]);
  await transport.terminateSession();
  await client.close();
  const row = await newestCall((candidate) => candidate.client?.startsWith("e2e-legacy") === true);
  expect(row.session).toBeTruthy();
  expect(row.session).not.toBe(transport.sessionId);
});

test("GW-2 FastMCP's own client", async () => {
  const script = join(repositoryRoot, "tests", "e2e", "call_with_fastmcp.py");
  const { stdout } = await run("uv", ["run", "--no-project", "--with", "fastmcp==4.1.2", "python", script, url]);
  expect(JSON.parse(stdout)).toEqual({ tools: ["echo"], text: "from Python" });
});

test.runIf(isThorough).each([
  ["legacy", /^2025-/],
  ["modern", /^2026-07-28$/],
])("GW-2 the inspector's command line, %s era", async (era, version) => {
  const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
  const { bin } = z.object({ bin: z.record(z.string(), z.string()) }).parse(createRequire(import.meta.url)(manifest));
  const program = join(dirname(manifest), Object.values(bin)[0] ?? "");
  const since = new Date().toISOString();
  const { stdout } = await run(process.execPath, [
    program,
    "--cli",
    url,
    "--transport",
    "http",
    "--protocol-era",
    era,
    "--method",
    "tools/call",
    "--tool-name",
    "echo",
    "--tool-arg",
    `text=${era}`,
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: "text", text: era }] });
  const row = await newestCall((candidate) => candidate.time >= since);
  expect(row.protocolVersion).toMatch(version);
});

test("LOG rows carry exactly the fields that scripts rely on", async () => {
  const [row] = await rows();
  expect(Object.keys(row ?? {}).sort()).toEqual(Object.keys(rowSchema.shape).sort());
});
