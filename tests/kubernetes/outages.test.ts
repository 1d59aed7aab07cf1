import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { clusterOf } from "./cluster.ts";
import { callTool, type InstanceRig, openInstanceRig } from "./instance-rig.ts";

// The table of docs/kubernetes.md: what goes on without what. The tests share an instance.

const cluster = clusterOf(inject("clusterDirectory"));
let rig: InstanceRig;
beforeAll(async () => {
  rig = await openInstanceRig(cluster, ["web-1", "worker-1", "gateway-1", "gateway-2", "runner-1", "runner-2"], {
    TOWPATH_LEASE_MS: "3000",
    TOWPATH_GATEWAY_HOLD_MS: "20000",
  });
  for (const name of [awake, asleep]) await rig.deploy(name, source);
}, 900_000);
afterAll(() => rig?.close(), 60_000);

const [awake, asleep] = ["awake-server", "asleep-server"];
const source = `
import socket

from mcp.server.mcpserver import MCPServer

mcp = MCPServer("Outages")


@mcp.tool()
def echo(text: str) -> str:
    """Repeats the text, and says where."""
    print("ran", text, flush=True)
    return f"{text} at {socket.gethostname()}"
`;
const urlOf = (name: string, gateway: 0 | 1) => `${rig.platform.gateways[gateway]}/${name}/mcp`;
let [calls, answered] = [0, 0];
async function call(name: string, gateway: 0 | 1 = 1): Promise<string> {
  const answer = await callTool(urlOf(name, gateway), "echo", { text: `call ${++calls}` });
  answered++;
  return answer;
}
const podOf = (answer: string) => / at (server-[\w-]+)/.exec(answer)?.[1];
const refusalOf = (answer: Promise<string>) => answer.then(() => "answered", String);

async function toolsOf(name: string): Promise<string[]> {
  const client = new Client({ name: "two", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(urlOf(name, 1))));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map((tool) => tool.name);
}

/** Calls the awake server through gateways during `fault`; all have to be answered by one pod. */
async function whileCalling(gateways: readonly (0 | 1)[], fault: () => Promise<void>): Promise<void> {
  const pod = podOf(await call(awake));
  const ended = new AbortController();
  const others: string[] = [];
  const before = answered;
  const calling = gateways.map(async (gateway) => {
    while (!ended.signal.aborted) {
      const answer = await call(awake, gateway).catch(String);
      if (podOf(answer) !== pod) others.push(answer);
      await sleep(250);
    }
  });
  await fault().finally(() => ended.abort());
  await Promise.all(calling);
  expect(others).toEqual([]);
  expect(answered - before).toBeGreaterThan(10);
}

const settled = { timeout: 90_000, interval: 500 };

test("RUN-7 OPS-11 without the Kubernetes API for a minute, awake servers are called, lists of sleeping ones are answered, and what sleeps wakes after it", async () => {
  await rig.stopServer(asleep);
  await whileCalling([0, 1], async () => {
    await cluster.signal("kube-apiserver", "SIGSTOP");
    try {
      const begun = performance.now();
      expect(await toolsOf(asleep)).toEqual(["echo"]);
      expect(await refusalOf(call(asleep))).toMatch(/Error: 50[34] .*(not started|try again|cluster|Kubernetes)/is);
      await sleep(60_000 - (performance.now() - begun));
    } finally {
      await cluster.signal("kube-apiserver", "SIGCONT");
    }
    const resumedAt = performance.now();
    await expect.poll(() => refusalOf(call(asleep)), settled).toBe("answered");
    process.stdout.write(
      `A sleeping server answered ${Math.round(performance.now() - resumedAt)} ms after the API was back.\n`,
    );
  });
  // What was printed meanwhile arrives, once.
  const sql = `SELECT line FROM server_log JOIN project ON project.id = project_id
    WHERE project.name = '${awake}' AND line LIKE 'ran call %'`;
  const inLog = async () => (await rig.rows<{ line: string }>(sql)).map(({ line }) => line);
  await expect.poll(async () => (await inLog()).length, settled).toBeGreaterThan(200);
  const lines = await inLog();
  expect(new Set(lines).size).toBe(lines.length);
}, 400_000);

test("RUN-7 OPS-11 GW-10 without PostgreSQL, awake servers are called; rows of a gateway that ends meanwhile with its disk arrive once", async () => {
  const count = async () => {
    const sql =
      "SELECT count(*)::int AS n, count(DISTINCT id)::int AS ids FROM request_log WHERE method = 'tools/call' AND http_status = 200";
    return (await rig.rows<{ n: number; ids: number }>(sql))[0];
  };
  await expect.poll(async () => (await count())?.n, settled).toBe(answered);
  await whileCalling([1], async () => {
    await rig.stopPostgres();
    for (let made = 0; made < 20; made++) await call(awake, 0);
    await rig.platform.kill("gateway-1", "SIGTERM");
    await rm(rig.platform.dataOf("gateway-1"), { recursive: true });
    await sleep(3000);
    await rig.startPostgres();
    await rig.platform.start("gateway-1");
    await expect.poll(() => refusalOf(call(awake, 0)), settled).toBe("answered");
  });
  await expect.poll(async () => (await count())?.n, { timeout: 120_000, interval: 1000 }).toBe(answered);
  expect((await count())?.ids).toBe(answered);
}, 400_000);

test("RUN-7 OPS-11 without the bucket, awake servers are called, and what sleeps starts when it is back", async () => {
  await rig.stopServer(asleep);
  await whileCalling([0, 1], async () => {
    rig.bucket.pause();
    const refusal = await refusalOf(call(asleep)).finally(() => rig.bucket.resume());
    expect(refusal).toMatch(/Error: 50[34]/);
    process.stdout.write(`Without the bucket: ${refusal.slice(0, 300)}\n`);
    await expect.poll(() => refusalOf(call(asleep)), settled).toBe("answered");
  });
}, 300_000);

test("RUN-7 OPS-11 without any runner, awake servers are called, and a call to what sleeps waits for the next runner", async () => {
  await rig.stopServer(asleep);
  await whileCalling([0, 1], async () => {
    for (const runner of ["runner-1", "runner-2"] as const) await rig.platform.kill(runner);
    expect(await toolsOf(asleep)).toEqual(["echo"]);
    expect(await refusalOf(call(asleep))).toMatch(/Error: 503 .*runner/is);
    await rig.platform.start("runner-1");
    await expect.poll(() => refusalOf(call(asleep)), settled).toBe("answered");
  });
}, 300_000);

test("RUN-7 OPS-11 without web and worker, calls and wakes go on", async () => {
  await rig.stopServer(asleep);
  await whileCalling([0, 1], async () => {
    await Promise.all([rig.platform.kill("web-1"), rig.platform.kill("worker-1")]);
    await call(asleep);
    await sleep(2000);
    await Promise.all([rig.platform.start("web-1"), rig.platform.start("worker-1")]);
  });
}, 300_000);
