import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { newApiKey } from "@towpath/auth/credentials";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { clusterOf } from "./cluster.ts";
import { callTool, type InstanceRig, openInstanceRig } from "./instance-rig.ts";
import { type NamedDatabase, nameDatabase } from "./named-database.ts";

// The table of docs/kubernetes.md: what goes on without what. The tests share an instance.

const cluster = clusterOf(inject("clusterDirectory"));
let rig: InstanceRig;
let database: NamedDatabase;
const [awake, asleep, private_] = ["awake-server", "asleep-server", "private-server"];
let [seen, unseen] = ["", ""];
const leaseMs = 3000;
beforeAll(async () => {
  const settings = { TOWPATH_LEASE_MS: String(leaseMs), TOWPATH_GATEWAY_HOLD_MS: "20000" };
  const names = ["web-1", "worker-1", "gateway-1", "gateway-2", "runner-1", "runner-2"] as const;
  rig = await openInstanceRig(cluster, names, settings, async (url) => {
    database = await nameDatabase(url);
    return database.url;
  });
  for (const name of [awake, asleep, private_]) await rig.deploy(name, source);
  await rig.rows(`UPDATE project SET sleeping_lists = 'always' WHERE name = '${asleep}'`);
  await rig.platform.terminal("settings", private_, "--private");
  [seen, unseen] = [await newKey(), await newKey()];
}, 900_000);
afterAll(async () => {
  await rig?.close();
  await database?.close();
}, 60_000);

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

async function newKey(): Promise<string> {
  const { key, hash } = newApiKey();
  const organization = `SELECT organization_id FROM project WHERE name = '${private_}'`;
  await rig.rows(`INSERT INTO apikey (id, key, reference_id) VALUES ('${randomUUID()}', '${hash}', (${organization}))`);
  return key;
}

let [calls, answered] = [0, 0];
/** Resolves to the answer, or to what the gateway answers instead. */
async function call(name: string, gateway: 0 | 1 = 1, key?: string): Promise<string> {
  const url = `${rig.platform.gateways[gateway]}/${name}/mcp`;
  try {
    const answer = await callTool(url, "echo", { text: `call ${++calls}` }, { key });
    answered++;
    return answer;
  } catch (error) {
    return String(error);
  }
}
/** Undefined if it is no answer. */
const podOf = (answer: string) => / at (server-[\w-]+)/.exec(answer)?.[1];

async function toolsOf(name: string): Promise<string[]> {
  const client = new Client({ name: "two", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${rig.platform.gateways[1]}/${name}/mcp`)));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map((tool) => tool.name);
}

/** Calls the awake server through gateways during `fault`; all have to be answered by one pod. */
async function whileCalling(gateways: readonly (0 | 1)[], fault: () => Promise<void>): Promise<void> {
  const pod = podOf(await call(awake));
  expect(pod).toBeDefined();
  const ended = new AbortController();
  const others: string[] = [];
  const before = answered;
  const calling = gateways.map(async (gateway) => {
    while (!ended.signal.aborted) {
      const answer = await call(awake, gateway);
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
const untilAnswered = (name: string, gateway: 0 | 1 = 1) =>
  expect.poll(async () => podOf(await call(name, gateway)), settled).toBeDefined();
/** Whether web answers what it needs the database for. */
const webAnswers = () =>
  rig.platform.terminal("list").then(
    (text) => text.includes(awake),
    () => false,
  );
/** What the terminal prints, also if it fails. */
const deploy = (name: string) => rig.deploy(name, `${source}# ${name}\n`).then(String, String);
const linesOf = async (name: string) => {
  const sql = `SELECT line FROM server_log JOIN project ON project.id = project_id
    WHERE project.name = '${name}' AND line LIKE 'ran call %'`;
  return (await rig.rows<{ line: string }>(sql)).map(({ line }) => line);
};
const rowsOfCalls = async () => {
  const sql = `SELECT count(*)::int AS n, count(DISTINCT id)::int AS ids FROM request_log
    WHERE method = 'tools/call' AND http_status = 200`;
  return (await rig.rows<{ n: number; ids: number }>(sql))[0];
};

test("RUN-7 OPS-11 without the Kubernetes API for a minute, awake servers are called, lists of sleeping ones are answered, and builds, output and wakes go on after it", async () => {
  await rig.stopServer(asleep);
  const printedBefore = (await linesOf(awake)).length;
  const under = deploy("built-through");
  await expect.poll(() => rig.podsOf("build"), { timeout: 60_000, interval: 50 }).toHaveLength(1);
  let begun: Promise<string> | undefined;
  const callsBefore = answered;
  await whileCalling([0, 1], async () => {
    await cluster.signal("kube-apiserver", "SIGSTOP");
    try {
      const stoppedAt = performance.now();
      expect(await toolsOf(asleep)).toEqual(["echo"]);
      begun = deploy("built-after");
      expect(await call(asleep)).toMatch(/Error: 50[34] /);
      await sleep(60_000 - (performance.now() - stoppedAt));
    } finally {
      await cluster.signal("kube-apiserver", "SIGCONT");
    }
    const resumedAt = performance.now();
    await untilAnswered(asleep);
    process.stdout.write(
      `A sleeping server answered ${Math.round(performance.now() - resumedAt)} ms after the API was back.\n`,
    );
  });
  expect(await under).toContain("Live:");
  expect(await begun).toContain("Live:");
  await expect.poll(() => rig.podsOf("build"), settled).toEqual([]);
  // What was printed meanwhile arrives, once.
  await expect
    .poll(async () => (await linesOf(awake)).length - printedBefore, settled)
    .toBeGreaterThan(answered - callsBefore - 20);
  const lines = await linesOf(awake);
  expect(new Set(lines).size).toBe(lines.length);
  // The runner that waited may have been the first to reach the API.
  expect(rig.platform.ended.filter((name) => !name.startsWith("runner"))).toEqual([]);
}, 400_000);

test("RUN-7 OPS-11 without the bucket, awake servers are called and the dashboard is shown, and starts and pushes go on when it is back", async () => {
  await rig.stopServer(asleep);
  await whileCalling([0, 1], async () => {
    rig.bucket.pause();
    try {
      expect(await webAnswers()).toBe(true);
      const [refusal, pushed] = await Promise.all([call(asleep), deploy("built-later")]);
      process.stdout.write(`Without the bucket: ${refusal.slice(0, 300)}\n${pushed.slice(-500)}\n`);
      expect(refusal).toMatch(/Error: 50[34] /);
      expect(pushed).not.toContain("Live:");
    } finally {
      rig.bucket.resume();
    }
    await untilAnswered(asleep);
    expect(await deploy("built-later")).toContain("Live:");
  });
}, 300_000);

test("RUN-7 OPS-11 GW-10 without PostgreSQL, awake servers are called by callers seen before; rows of a gateway that ends meanwhile with its disk arrive once; a new gateway is ready when it is back", async () => {
  const { length: endedBefore } = rig.platform.ended;
  for (const gateway of [0, 1] as const) expect(podOf(await call(private_, gateway, seen))).toBeDefined();
  await expect.poll(async () => (await rowsOfCalls())?.n, settled).toBe(answered);
  await whileCalling([1], async () => {
    await rig.stopPostgres();
    try {
      for (let made = 0; made < 20; made++) expect(podOf(await call(awake, 0))).toBeDefined();
      expect(podOf(await call(private_, 1, seen))).toBeDefined();
      expect(await call(private_, 1, unseen)).toMatch(/Error: 503 /);
      expect(await webAnswers()).toBe(false);
      expect(await deploy("built-never")).not.toContain("Live:");
      await rig.platform.kill("gateway-1", "SIGTERM");
      await rm(rig.platform.dataOf("gateway-1"), { recursive: true });
      await rig.platform.start("gateway-1", { isReady: false });
      await expect.poll(() => rig.platform.health("gateway-1"), settled).toBe(503);
      expect(await call(awake, 0)).toMatch(/Error: 503 /);
    } finally {
      await rig.startPostgres();
    }
    await expect.poll(() => rig.platform.health("gateway-1"), settled).toBe(200);
    expect(podOf(await call(awake, 0))).toBeDefined();
    expect(podOf(await call(private_, 0, unseen))).toBeDefined();
    await expect.poll(() => webAnswers(), settled).toBe(true);
  });
  await expect.poll(async () => (await rowsOfCalls())?.n, { timeout: 120_000, interval: 1000 }).toBe(answered);
  expect((await rowsOfCalls())?.ids).toBe(answered);
  expect(rig.platform.ended.slice(endedBefore)).toEqual([]);
}, 400_000);

test("RUN-7 OPS-11 GW-10 a PostgreSQL whose address goes silent fails over to another one behind its name: calls go on, and all the rest within a minute", async () => {
  await rig.stopServer(asleep);
  const { length: endedBefore } = rig.platform.ended;
  const rowsBefore = (await rowsOfCalls())?.n ?? 0;
  await whileCalling([0, 1], async () => {
    await rig.stopPostgres();
    await database.failOver();
    await rig.startPostgres();
    const failedOverAt = performance.now();
    const took = async (what: string, succeeds: () => Promise<boolean>) => {
      while (!(await succeeds().catch(() => false))) await sleep(250);
      return `${what} ${Math.round(performance.now() - failedOverAt)} ms`;
    };
    const times = await Promise.all([
      took("the dashboard", webAnswers),
      took("a wake", async () => podOf(await call(asleep, 0)) !== undefined),
      took("a build", async () => (await deploy("built-elsewhere")).includes("Live:")),
      took("rows of calls", async () => ((await rowsOfCalls())?.n ?? 0) > rowsBefore + 20),
    ]);
    process.stdout.write(`After the fail-over came ${times.join(", ")}.\n`);
    expect(performance.now() - failedOverAt).toBeLessThan(60_000);
  });
  await expect.poll(async () => (await rowsOfCalls())?.n, settled).toBe(answered);
  expect(rig.platform.ended.slice(endedBefore)).toEqual([]);
}, 300_000);

test("RUN-7 OPS-11 without any runner, awake servers are called, a call to what sleeps waits for the next runner, and that one reads what was printed meanwhile", async () => {
  await rig.stopServer(asleep);
  // Gateways have a lease until then.
  await sleep(leaseMs);
  await whileCalling([0, 1], async () => {
    for (const runner of ["runner-1", "runner-2"] as const) await rig.platform.kill(runner);
    let printed = "";
    try {
      expect(await toolsOf(asleep)).toEqual(["echo"]);
      printed = `ran ${/call \d+/.exec(await call(awake))}`;
      const calledAt = performance.now();
      expect(await call(asleep)).toMatch(/Error: 50[23] .*runner/is);
      expect(performance.now() - calledAt).toBeGreaterThan(15_000);
    } finally {
      await rig.platform.start("runner-1");
    }
    await untilAnswered(asleep);
    await expect
      .poll(async () => (await linesOf(awake)).filter((line) => line === printed), settled)
      .toEqual([printed]);
  });
}, 300_000);

test("RUN-7 OPS-11 without web, calls, wakes and builds go on; without worker, a push waits for it", async () => {
  await rig.stopServer(asleep);
  const statesOf = async (name: string) => {
    const sql = `SELECT status FROM build JOIN project ON project.id = build.project_id WHERE name = '${name}'`;
    return (await rig.rows<{ status: string }>(sql)).map(({ status }) => status);
  };
  await whileCalling([0, 1], async () => {
    const lost = deploy("built-without-web");
    await expect.poll(() => rig.podsOf("build"), settled).toHaveLength(1);
    await rig.platform.kill("web-1");
    expect(await webAnswers()).toBe(false);
    await untilAnswered(asleep);
    await expect.poll(() => statesOf("built-without-web"), settled).toEqual(["succeeded"]);
    await untilAnswered("built-without-web");
    await rig.platform.kill("worker-1");
    await rig.platform.start("web-1");
    await lost;
    const waiting = deploy("built-waiting");
    await expect.poll(() => statesOf("built-waiting"), settled).toEqual(["queued"]);
    expect(await webAnswers()).toBe(true);
    await rig.platform.start("worker-1");
    expect(await waiting).toContain("Live:");
  });
}, 300_000);
