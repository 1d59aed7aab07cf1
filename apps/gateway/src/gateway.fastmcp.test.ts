import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { connectLegacy, connectModern } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { createRig, type DeployedServer, type Rig, setAccess, setLimits, until } from "./testing/rig.ts";

const run = promisify(execFile);
const script = (name: string) => new URL(`testing/fastmcp/${name}`, import.meta.url).pathname;
const python = ["run", "--no-project", "--with", "fastmcp==4.1.2", "python"];

let rig: Rig;
let directory: string;
let child: ChildProcess;
let server: DeployedServer;
let printed = "";

beforeAll(async () => {
  rig = await createRig();
  directory = await mkdtemp(join(tmpdir(), "tp-fm-"));
  const path = join(directory, "mcp.sock");
  child = spawn("uv", [...python, script("serve.py"), path], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, FASTMCP_HTTP_HOST_ORIGIN_PROTECTION: "false" },
    detached: true,
  });
  child.stdout?.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await until(() => existsSync(path), 150_000);
  server = await rig.deploy((_request, response) => response.destroy());
  rig.runner.servers.set(server.deploymentId, { instanceId: crypto.randomUUID(), endpoint: { kind: "unix", path } });
}, 180_000);
afterAll(async () => {
  // uv's child is the server: both are in one process group.
  if (child?.pid) process.kill(-child.pid, "SIGKILL");
  await rig.close();
  await rm(directory, { recursive: true, force: true });
});

test.runIf(isThorough)(
  "GW-15 FastMCP's client and the TypeScript SDKs at a FastMCP server: only the allowed tool is listed and runs",
  {
    timeout: 120_000,
  },
  async () => {
    await setAccess(rig.database, server.projectId, { tools: ["echo"] });
    const first = await connectModern(server.url);
    await expect.poll(async () => (await first.listTools()).tools.length, { timeout: 20_000 }).toBe(1);
    await first.close();
    const { stdout } = await run("uv", [...python, script("call.py"), server.url.href]);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ tools: ["echo"], prompts: ["greet"], echoed: "still here" });
    expect(result.refusal).toMatch(/^raised .*The tool "drop" is not allowed on this server/);

    const modern = await connectModern(server.url);
    const { client: legacy } = await connectLegacy(server.url);
    for (const client of [modern, legacy] as const) {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
      await expect(client.callTool({ name: "drop", arguments: {} })).rejects.toThrow(/not allowed on this server/);
      const { content } = await client.callTool({ name: "echo", arguments: { text: "here" } });
      expect(content).toEqual([expect.objectContaining({ text: "here" })]);
      await client.close();
    }
    expect(printed).not.toContain("drop ran");

    await setAccess(rig.database, server.projectId, { tools: ["echo", "drop"] });
    const last = await connectModern(server.url);
    await expect.poll(async () => (await last.listTools()).tools.length, { timeout: 20_000 }).toBe(2);
    await last.close();
    const { stdout: allowed } = await run("uv", [...python, script("call.py"), server.url.href]);
    expect(JSON.parse(allowed).tools).toEqual(["echo", "drop"]);
    expect(printed).toContain("drop ran");
  },
);

test.runIf(isThorough)(
  "ORG-3 FastMCP's client at a portal of a FastMCP and a TypeScript server: both answer, each under its prefix",
  {
    timeout: 120_000,
  },
  async () => {
    await setAccess(rig.database, server.projectId, {});
    const other = await rig.deploy(createMcpListener());
    await Promise.all([storeManifest(rig, server), storeManifest(rig, other)]);
    const portal = await addPortal(rig, [
      { server, prefix: "py", tools: ["echo"] },
      { server: other, prefix: "ts" },
    ]);
    const { stdout } = await run("uv", [...python, script("call.py"), portal.url.href, "py_echo", "ts_echo"]);
    expect(JSON.parse(stdout)).toMatchObject({
      tools: ["py_echo", "ts_echo", "fail"],
      prompts: ["greet"],
      echoed: "still here",
      others: ["ts_echo"],
      refusal: expect.stringMatching(/Tool "drop" not found in this portal/),
    });
  },
);

test.runIf(isThorough)(
  "GW-8 FastMCP's client fails with the reason, without hanging, when a limit is reached",
  {
    timeout: 120_000,
  },
  async () => {
    await setAccess(rig.database, server.projectId, {});
    await setLimits(rig.database, server.projectId, { caller: { perMinute: 6, burst: 12 } });
    await expect
      .poll(
        async () => {
          const { stdout } = await run("uv", [...python, script("flood.py"), server.url.href]);
          return JSON.parse(stdout).failure;
        },
        { timeout: 60_000 },
      )
      .toMatch(/Rate limit reached .* for each caller.*Try again in \d+ s/);
  },
);
