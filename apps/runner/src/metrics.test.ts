import { once } from "node:events";
import { rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { openTestDatabase } from "@towpath/db/testing";
import { createRunnerClient, type RunnerClient } from "@towpath/runner-api";
import { shortDirectory } from "@towpath/runtime/testing";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Runner, startRunner } from "./compose.ts";
import { readConfig } from "./config.ts";
import { createLightDriver, type LightDriver } from "./testing/light-driver.ts";
import { seedDeployment } from "./testing/seed-deployment.ts";

const database = openTestDatabase({ fresh: true });
let directory: string;
let light: LightDriver;
let runner: Runner;
let client: RunnerClient;
beforeEach(async () => {
  directory = await shortDirectory();
  light = createLightDriver(() => 10 * 1024 * 1024);
  const config = readConfig({
    DATABASE_URL: database.url,
    TOWPATH_DATA_DIR: directory,
    TOWPATH_RUN_DIR: directory,
    TOWPATH_SECRET: "x".repeat(32),
    TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
    TOWPATH_MAX_INSTANCES: "7",
    TOWPATH_LEASE_MS: "500",
    TOWPATH_FREEZE_AFTER_MS: "100",
  });
  const { servers } = light.driver;
  const start: typeof servers.start = async (spec, onOutput) =>
    spec.server.entrypoint === "failing.py:mcp"
      ? { ok: false, cause: "exited", status: null, exit: null }
      : servers.start(spec, onOutput);
  const driver = { ...light.driver, servers: { ...servers, start } };
  runner = await startRunner(config, pino({ level: "silent" }), driver);
  client = createRunnerClient(runner.address, { timeoutMs: 10_000 });
});
afterEach(async () => {
  await client.close();
  await runner.close();
  await rm(directory, { recursive: true, force: true });
});

const deploy = async (entrypoint: string) => (await seedDeployment(database.db, { entrypoint })).deploymentId;

async function countOf(sample: string): Promise<number> {
  const socketPath = join(directory, "runner-metrics.sock");
  const [response] = (await once(get({ socketPath, path: "/-/metrics", agent: false }), "response")) as [
    IncomingMessage,
  ];
  const line = (await text(response)).split("\n").find((each) => each.startsWith(`${sample} `));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
}
const starts = (kind: string, result: string) =>
  countOf(`towpath_runner_starts_total{kind="${kind}",result="${result}"}`);

test("OPS-9 starts are counted by kind and result, servers by state, and what they use by place and memory", async () => {
  const [one, other] = [await deploy("one.py:mcp"), await deploy("failing.py:mcp")];
  expect(await starts("cold", "failed")).toBe(0);
  await client.ensure(one);
  await expect(client.ensure(other)).rejects.toThrow();
  expect([await starts("cold", "ready"), await starts("cold", "failed")]).toEqual([1, 1]);
  expect(await countOf("towpath_runner_places_used")).toBe(1);
  expect(await countOf("towpath_runner_places_max")).toBe(7);
  expect(await countOf("towpath_runner_memory_bytes")).toBe(10 * 1024 * 1024);
  expect(await countOf('towpath_runner_calls_total{call="ensure",result="ok"}')).toBe(1);
  expect(await countOf('towpath_runner_calls_total{call="ensure",result="start_failed"}')).toBe(1);
  await expect.poll(() => countOf('towpath_runner_instances{state="frozen"}')).toBe(1);
  await client.ensure(one);
  expect(await starts("frozen", "ready")).toBe(1);
  expect(await countOf('towpath_runner_start_duration_seconds_count{kind="frozen"}')).toBe(1);
});

test("OPS-9 crashes are counted, and the starts that follow after their back-off", async () => {
  const one = await deploy("one.py:mcp");
  const { instanceId } = await client.ensure(one);
  light.kill(instanceId, 0);
  await expect.poll(() => countOf('towpath_runner_ended_total{how="crashed"}')).toBe(1);
  expect(await countOf("towpath_runner_restarts_total")).toBe(0);
  await client.ensure(one);
  expect(await countOf("towpath_runner_restarts_total")).toBe(1);
  await client.stop(one);
  expect(await countOf('towpath_runner_ended_total{how="stopped"}')).toBe(1);
  expect(await countOf('towpath_runner_instances{state="ready"}')).toBe(0);
});
