import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { KeptCallStore } from "./read-model/kept-calls.ts";
import { type Answer, callOf, deployCounting, RawClient } from "./testing/counting-server.ts";
import { openDatabaseLink } from "./testing/database-link.ts";
import { type GatewayProcess, startGatewayProcess } from "./testing/gateway-process.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";
import { askModern, deployTaskless, deployTasklessPortal } from "./testing/taskless-server.ts";

// Two gateways in processes of their own, as on two hosts.

const rig = openRig();
const directories: string[] = [];
let gateways: GatewayProcess[] = [];
const start = (directory: string) => startGatewayProcess(rig, directory, { TOWPATH_GATEWAY_WORKERS: "1" });
beforeAll(async () => {
  for (const name of ["first", "second"]) directories.push(await mkdtemp(join(tmpdir(), `tp-kept-${name}-`)));
  gateways = await Promise.all(directories.map(start));
}, 120_000);
afterAll(async () => {
  for (const { child, ended } of gateways) {
    child.kill("SIGKILL");
    await ended;
  }
  for (const directory of directories) await rm(directory, { recursive: true });
});

/** The URL of a server or a portal at each gateway, once both know it. */
async function urlsOf({ label }: Pick<DeployedServer, "label">, who: Record<string, string>): Promise<[URL, URL]> {
  const urls = gateways.map(({ port }) => new URL(`http://127.0.0.1:${port}/${label}/mcp`));
  // A portal wants a session.
  const isKnown = ({ status }: Response) => status === 202 || status === 400;
  for (const url of urls)
    await until(async () => isKnown(await new RawClient(url, who).send({ method: "notifications/x" })));
  return urls as [URL, URL];
}
const key = (text: string) => ({ "idempotency-key": text });
const textOf = ({ result, error }: Answer) => result?.content[0]?.text ?? error?.data.towpath;
const stateOf = async (projectId: string) => {
  const { rows } = await rig.database.pool.query("SELECT state FROM kept_call WHERE project_id = $1", [projectId]);
  return rows.map(({ state }) => state);
};

test("CAP-2 GW-14 requests with one key at two gateways at once are one run each", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  const who = await caller();
  const [here, there] = await urlsOf(server, who);
  const calls = Array.from({ length: 30 }, (_, at) => at);
  const all = calls.flatMap((at) =>
    [here, there, here, there].map((url) => new RawClient(url, { ...who, ...key(`race-${at}`) }).result(1, callOf(at))),
  );
  await until(() => counting.runs.length === calls.length);
  counting.release();
  const answers = await Promise.all(all);
  expect(answers.filter(({ result }) => !result)).toEqual([]);
  for (const at of calls) {
    const own = answers.slice(4 * at, 4 * at + 4);
    expect(own.map(({ result }) => result?.structuredContent)).toEqual(Array(4).fill({ amount: at }));
    expect(new Set(own.map(textOf)).size).toBe(1);
  }
  expect(counting.runs).toHaveLength(calls.length);
});

test.runIf(isThorough)(
  "CAP-2 GW-14 a call that lost its client at one gateway is asked for and canceled at the other",
  async () => {
    const { server, counting, caller } = await deployCounting(rig);
    const who = await caller();
    const [here, there] = await urlsOf(server, who);
    const client = await RawClient.inSession(here, who);
    await client.breakOff(5, callOf(), () => until(() => counting.runs.length === 1));
    await until(async () => (await stateOf(server.projectId)).includes("running"));
    const joined = client.at(there).result(5);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    counting.release();
    expect(textOf(await joined)).toBe("run 1");

    counting.hold();
    await client.breakOff(6, callOf(), () => until(() => counting.runs.length === 2));
    await until(async () => (await stateOf(server.projectId)).includes("running"));
    await client.at(there).send({ method: "notifications/cancelled", params: { requestId: 6 } });
    await until(() => counting.closed.length === 1);
    expect(textOf(await client.at(there).result(6))).toBe("call_canceled");
    expect(counting.runs).toHaveLength(2);
  },
  40_000,
);

test("CAP-2 RUN-8 after kill -9 of its gateway a call is unknown at the other one, and is not run again", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  const who = await caller();
  const [here, there] = await urlsOf(server, who);
  const client = await RawClient.inSession(here, who);
  const keyed = new RawClient(here, { ...who, ...key("k") });
  // Their clients are there when it happens.
  const broken = [client.call(3), keyed.call(1, callOf(2))].map((each) =>
    each.then(
      ({ status }) => status,
      () => 0,
    ),
  );
  await until(() => counting.runs.length === 2);
  // Without a key a call is claimed after a second.
  await until(async () => (await stateOf(server.projectId)).length === 2);
  gateways[0]?.child.kill("SIGKILL");
  expect(await Promise.all(broken)).toEqual([0, 0]);
  const again = await Promise.all([client.at(there).result(3), keyed.at(there).result(2, callOf(2))]);
  expect(again.map(textOf)).toEqual(["outcome_unknown", "outcome_unknown"]);
  expect(again[0]?.error?.message).toContain("gateway that had sent it ended");
  counting.release();
  expect(textOf(await client.at(there).result(3))).toBe("outcome_unknown");
  expect(counting.runs).toHaveLength(2);
  await gateways[0]?.ended;
  gateways[0] = await start(directories[0] ?? "");
}, 60_000);

test("CAP-2 RUN-8 a call whose gateway could not say for a while that it is alive runs again, and its key stays taken", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  const who = await caller();
  const [here, there] = await urlsOf(server, who);
  const client = new RawClient(here, { ...who, ...key("gap") });
  await client.breakOff(1, callOf(), () => until(() => counting.runs.length === 1));
  await until(async () => (await stateOf(server.projectId)).includes("running"));
  const { pool } = rig.database;
  await until(async () => {
    await pool.query("UPDATE kept_call SET alive_until = now() WHERE project_id = $1", [server.projectId]);
    await new KeptCallStore(pool).sweep();
    return (await stateOf(server.projectId)).includes("unknown");
  });
  await expect.poll(() => stateOf(server.projectId), { timeout: 10_000 }).toEqual(["running"]);
  const text = "SELECT known, ended_at, expires_at FROM kept_call WHERE project_id = $1";
  expect((await pool.query(text, [server.projectId])).rows).toEqual([
    { known: null, ended_at: null, expires_at: null },
  ]);
  const joined = client.at(there).result(2);
  counting.release();
  expect(textOf(await joined)).toBe("run 1");
  expect(counting.runs).toHaveLength(1);
});

test("CAP-2 RUN-8 a database that has just started leaves gateways time to say that they are alive", async () => {
  const { server } = await deployCounting(rig);
  // Of one transaction, so that the gateways see nothing of it. What is in `public` comes before PostgreSQL's own.
  const client = await rig.database.pool.connect();
  const startedAgo = (seconds: number) =>
    client.query(`CREATE OR REPLACE FUNCTION public.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql AS
      $$ SELECT now() - interval '${seconds} seconds' $$`);
  try {
    await client.query("BEGIN; SET LOCAL search_path = public, pg_catalog");
    await startedAgo(5);
    await client.query(
      `INSERT INTO kept_call (id, project_id, claim, arguments_hash, state, started_at, alive_until)
       VALUES (gen_random_uuid(), $1, 'after a start', '', 'running', now(), now() - interval '1 minute')`,
      [server.projectId],
    );
    const store = new KeptCallStore(client as never);
    await store.sweep();
    expect(await store.find("after a start")).toMatchObject({ state: "running", isAlive: true });
    await startedAgo(20);
    expect(await store.find("after a start")).toMatchObject({ state: "unknown" });
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
});

test.runIf(isThorough)(
  "CAP-2 RUN-8 a call goes on and is run once while its gateway is without the database for longer than it counts as alive",
  async () => {
    const { server, counting, caller } = await deployCounting(rig);
    const who = await caller();
    const [, there] = await urlsOf(server, who);
    const link = await openDatabaseLink(rig.config.databaseUrl);
    const directory = await mkdtemp(join(tmpdir(), "tp-kept-cut-"));
    const environment = { TOWPATH_GATEWAY_WORKERS: "1", DATABASE_URL: link.url };
    const gateway = await startGatewayProcess(rig, directory, environment);
    try {
      const here = new URL(`http://127.0.0.1:${gateway.port}/${server.label}/mcp`);
      const client = new RawClient(here, { ...who, ...key("cut") });
      await client.breakOff(1, callOf(), () => until(() => counting.runs.length === 1));
      await until(async () => (await stateOf(server.projectId)).includes("running"));
      await link.cut();
      expect(textOf(await client.at(there).result(2))).toBe("outcome_unknown");
      await link.restore();
      await expect.poll(() => stateOf(server.projectId), { timeout: 20_000 }).toEqual(["running"]);
      counting.release();
      expect(textOf(await client.at(there).result(3))).toBe("run 1");
      expect(counting.runs).toHaveLength(1);
    } finally {
      gateway.child.kill("SIGKILL");
      await gateway.ended;
      await link.close();
      await rm(directory, { recursive: true });
    }
  },
  90_000,
);

test.runIf(isThorough)(
  "CAP-2 a call without its client keeps its server from sleep, and counts in the metrics",
  async () => {
    const { server, counting, caller } = await deployCounting(rig);
    const who = await caller();
    const [here, there] = await urlsOf(server, who);
    rig.runner.leaseMs = 1500;
    const client = new RawClient(here, { ...who, ...key("long") });
    await client.breakOff(1, callOf(), () => until(() => counting.runs.length === 1));
    const renewed = () => rig.runner.ensured.filter((id) => id === server.deploymentId).length;
    const before = renewed();
    await until(() => renewed() >= before + 3);
    const metrics = async () => (await fetch(new URL("/-/metrics", here))).text();
    expect(await metrics()).toContain("towpath_gateway_calls_unattended 1");
    counting.release();
    expect(textOf(await client.at(there).result(2))).toBe("run 1");
    await until(async () => (await metrics()).includes("towpath_gateway_calls_unattended 0"));
    rig.runner.leaseMs = 10_000;
  },
  40_000,
);

test.runIf(isThorough)(
  "CAP-2 a gateway that is stopped waits for calls without a client, whose results the other one has",
  async () => {
    const { server, counting, caller } = await deployCounting(rig);
    const who = await caller();
    const [here, there] = await urlsOf(server, who);
    const client = new RawClient(here, { ...who, ...key("stopped") });
    await client.breakOff(1, callOf(), () => until(() => counting.runs.length === 1));
    await until(async () => (await stateOf(server.projectId)).includes("running"));
    gateways[0]?.child.kill("SIGTERM");
    setTimeout(() => counting.release(), 700);
    await gateways[0]?.ended;
    expect(textOf(await client.at(there).result(2))).toBe("run 1");
    gateways[0] = await start(directories[0] ?? "");
  },
  60_000,
);

test.runIf(isThorough)(
  "CAP-2 GW-14 a task is asked for, answered and canceled at another gateway than the one that runs it",
  async () => {
    const { server, taskless, caller } = await deployTaskless(rig);
    const who = await caller();
    const [here, there] = await urlsOf(server, who);
    await askModern(here, who, { method: "server/discover" });
    const task = async (name: string) =>
      (await askModern(here, who, { method: "tools/call", params: { name } })).result.taskId;
    const at = (method: string, params: object) => askModern(there, who, { method, params });
    const status = async (taskId: string) => (await at("tasks/get", { taskId })).result.status;
    const [asking, working, canceled] = [await task("ask"), await task("work"), await task("work")];
    await expect.poll(() => status(asking)).toBe("input_required");
    const inputResponses = { name: { action: "accept", content: { name: "Ada" } } };
    await at("tasks/update", { taskId: asking, inputResponses });
    await expect.poll(() => status(asking)).toBe("input_required");
    await at("tasks/update", { taskId: asking, inputResponses: { "2/name": inputResponses.name } });
    await expect.poll(() => status(asking)).toBe("completed");
    await at("tasks/cancel", { taskId: canceled });
    expect(await status(canceled)).toBe("cancelled");
    await until(() => taskless.closed.length === 1);
    taskless.release();
    await expect.poll(() => status(working)).toBe("completed");
    expect(taskless.runs).toHaveLength(5);
  },
  60_000,
);

const deployPlain = async () => ({ ...(await deployTaskless(rig)), name: "work" });
const deployPortal = async () => {
  const { portal, one, caller } = await deployTasklessPortal(rig);
  return { server: portal, taskless: one, caller, name: "one_work" };
};

test.runIf(isThorough).each([
  ["server", deployPlain],
  ["portal", deployPortal],
])(
  "CAP-2 RUN-8 after kill -9 of its gateway a task of a %s has failed, in words, in both eras",
  async (_, deploy) => {
    const { server, taskless, caller, name } = await deploy();
    const who = await caller();
    const [here, there] = await urlsOf(server, who);
    await askModern(here, who, { method: "server/discover" });
    const params = { name };
    const modern = (await askModern(here, who, { method: "tools/call", params })).result.taskId;
    const client = await RawClient.inSession(here, who, "2025-11-25");
    const created = (await client.result(1, { ...params, task: {} })) as unknown as {
      result: { task: { taskId: string } };
    };
    const { taskId } = created.result.task;
    await until(() => taskless.runs.length === 2);
    const blocked = client.at(there).send({ id: 2, method: "tasks/result", params: { taskId } });
    gateways[0]?.child.kill("SIGKILL");
    const text = await (await blocked).text();
    expect(text).toContain("outcome_unknown");
    expect(text).toMatch(/Nobody knows how the call ended.*gateway that had sent it ended/);
    const got = await askModern(there, who, { method: "tasks/get", params: { taskId: modern } });
    expect(got.result).toMatchObject({ status: "failed", error: { data: { towpath: "outcome_unknown" } } });
    taskless.release();
    await gateways[0]?.ended;
    gateways[0] = await start(directories[0] ?? "");
  },
  60_000,
);
