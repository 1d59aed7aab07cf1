import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CallToolResultSchema, CreateTaskResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { connectLegacy } from "./testing/clients.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();
const script = (name: string) => new URL(`testing/fastmcp/${name}`, import.meta.url).pathname;
let directory: string;
let child: ChildProcess | undefined;
let server: DeployedServer;

beforeAll(async () => {
  if (!isThorough) return;
  directory = await mkdtemp(join(tmpdir(), "tp-tasks-"));
  const path = join(directory, "mcp.sock");
  const python = [
    "run",
    "--no-project",
    "--with",
    "mcp==1.26.0",
    "--with",
    "uvicorn",
    "python",
    script("count.py"),
    path,
    join(directory, "runs"),
  ];
  child = spawn("uv", python, { stdio: ["ignore", "ignore", "inherit"], detached: true });
  await until(() => existsSync(path), 150_000);
  server = await rig.deploy((_request, response) => response.destroy());
  rig.runner.servers.set(server.deploymentId, { instanceId: randomUUID(), endpoint: { kind: "unix", path } });
}, 180_000);
afterAll(async () => {
  // uv's child is the server: both are in one process group.
  if (child?.pid) process.kill(-child.pid, "SIGKILL");
  if (directory) await rm(directory, { recursive: true, force: true });
});

test.runIf(isThorough)(
  "CAP-2 a server of Python's SDK 1, which has no tasks, runs calls as tasks and ends a canceled one",
  async () => {
    const { client } = await connectLegacy(server.url);
    const { tasks } = client.experimental;
    const create = async (call: string, seconds: number) => {
      const params = { name: "work", arguments: { call, seconds }, task: { ttl: 60_000 } };
      return (await client.request({ method: "tools/call", params }, CreateTaskResultSchema)).task;
    };
    const [short, long] = [await create("short", 2), await create("long", 600)];
    expect((await tasks.listTasks()).tasks.map(({ status }) => status)).toEqual(["working", "working"]);
    expect(await tasks.cancelTask(long.taskId)).toMatchObject({ status: "cancelled" });
    expect(await tasks.getTaskResult(short.taskId, CallToolResultSchema)).toMatchObject({
      content: [{ text: "done short" }],
    });
    expect(await tasks.getTask(short.taskId)).toMatchObject({ status: "completed" });
    const lines = (await readFile(join(directory, "runs"), "utf8")).trim().split("\n");
    const runs = lines.map((line) => line.split(" ").slice(0, 2).join(" "));
    expect(runs.toSorted()).toEqual(["begun long", "begun short", "finished short"]);
    await client.close();
  },
);

test.runIf(isThorough)(
  "CAP-2 ORG-3 FastMCP's client runs a call as a task at a server without them and through a portal, and is notified of its end",
  { timeout: 120_000 },
  async () => {
    await storeManifest(rig, server);
    const portal = await addPortal(rig, [{ server, prefix: "here" }]);
    const python = ["run", "--no-project", "--with", "fastmcp==3.4.11", "python", script("task.py")];
    for (const url of [server.url, portal.url]) {
      const { stdout } = await promisify(execFile)("uv", [...python, url.href, "work"]);
      expect(JSON.parse(stdout)).toEqual({
        isTask: true,
        first: "working",
        notified: ["completed"],
        result: "done fastmcp",
        listed: [true],
      });
    }
  },
);
