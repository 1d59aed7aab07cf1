import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { answerEmpty, postTo } from "../../apps/gateway/src/testing/clients.ts";
import { type DatabaseLink, openDatabaseLink } from "../../apps/gateway/src/testing/database-link.ts";
import { type GatewayProcess, startGatewayProcess } from "../../apps/gateway/src/testing/gateway-process.ts";
import { type DeployedServer, openRig, until } from "../../apps/gateway/src/testing/rig.ts";
import { type S3Service, startVersitygw } from "./versitygw.ts";

// Gateways whose disks go with them, as those of pods do.

const rig = openRig();
let directory: string;
let service: S3Service;
let link: DatabaseLink;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-rows-"));
  service = await startVersitygw(join(directory, "buckets"));
  await service.newBucket("logs");
  link = await openDatabaseLink(rig.config.databaseUrl);
});
afterAll(async () => {
  await link.close();
  await service.stop();
  await rm(directory, { recursive: true });
});

let started = 0;
/** A gateway with a disk of its own, which `stop` ends and removes. */
async function startPod(workers = "1") {
  const disk = join(directory, `pod-${++started}`);
  const gateway = await startGatewayProcess(rig, disk, {
    ...service.settings,
    DATABASE_URL: link.url,
    TOWPATH_GATEWAY_SPOOL_TO: "s3://logs/of/gateways",
    TOWPATH_GATEWAY_WORKERS: workers,
  });
  const stop = async (signal: NodeJS.Signals) => {
    const begun = performance.now();
    gateway.child.kill(signal);
    const status = await gateway.ended;
    await rm(disk, { recursive: true, force: true });
    return { status, tookMs: performance.now() - begun };
  };
  return { gateway, stop };
}

const copies = () => readdir(join(service.directory, "logs/of/gateways")).catch(() => []);
const rowsOf = async ({ projectId }: DeployedServer) => {
  const sql = "SELECT count(*)::int AS count FROM request_log WHERE project_id = $1";
  return (await rig.database.pool.query(sql, [projectId])).rows[0].count as number;
};

/** Makes calls; all have to be answered. */
async function call({ port }: GatewayProcess, { label }: DeployedServer, calls: number): Promise<void> {
  const url = new URL(`http://127.0.0.1:${port}/${label}/mcp`);
  await until(async () => (await postTo(url)).status === 200);
  for (let made = 1; made < calls; made++) expect((await postTo(url)).status).toBe(200);
}

test("GW-10 OPS-11 a gateway that ends for good while PostgreSQL is unavailable leaves its rows in the bucket, and another one writes each once", async () => {
  const server = await rig.deploy(answerEmpty);
  const ending = await startPod("2");
  const other = await startPod();
  await call(ending.gateway, server, 20);
  await expect.poll(() => rowsOf(server), { timeout: 10_000 }).toBeGreaterThanOrEqual(20);
  const before = await rowsOf(server);
  await link.cut();
  await call(ending.gateway, server, 100);
  await sleep(50);
  const { status, tookMs } = await ending.stop("SIGTERM");
  process.stdout.write(`A gateway without a database ended after ${Math.round(tookMs)} ms.\n`);
  expect(status).toBe(0);
  expect((await copies()).length).toBeGreaterThan(0);
  expect(await rowsOf(server)).toBe(before);
  await link.restore();
  await expect.poll(() => rowsOf(server), { timeout: 90_000, interval: 500 }).toBe(before + 100);
  await expect.poll(copies, { timeout: 10_000 }).toEqual([]);
  await other.stop("SIGTERM");
  expect(await rowsOf(server)).toBe(before + 100);
}, 180_000);

test("GW-10 OPS-11 in an outage a gateway that is killed with its disk costs the rows of its last seconds only", async () => {
  const server = await rig.deploy(answerEmpty);
  const killed = await startPod();
  const other = await startPod();
  await call(killed.gateway, server, 5);
  await expect.poll(() => rowsOf(server), { timeout: 10_000 }).toBeGreaterThanOrEqual(5);
  const before = await rowsOf(server);
  // Not even the end of a connection shows it.
  link.silence();
  await call(killed.gateway, server, 50);
  await expect.poll(copies, { timeout: 10_000 }).not.toEqual([]);
  await call(killed.gateway, server, 30);
  await sleep(3000);
  await killed.stop("SIGKILL");
  await link.restore();
  await expect.poll(() => rowsOf(server), { timeout: 90_000, interval: 500 }).toBe(before + 80);
  await expect.poll(copies, { timeout: 40_000 }).toEqual([]);
  await other.stop("SIGTERM");
}, 180_000);

test("GW-10 OPS-11 a gateway that outlives an outage writes its rows itself, and removes their copies", async () => {
  const server = await rig.deploy(answerEmpty);
  const pod = await startPod();
  await call(pod.gateway, server, 5);
  await expect.poll(() => rowsOf(server), { timeout: 10_000 }).toBeGreaterThanOrEqual(5);
  const before = await rowsOf(server);
  await link.cut();
  await call(pod.gateway, server, 40);
  await expect.poll(copies, { timeout: 10_000 }).not.toEqual([]);
  await link.restore();
  await expect.poll(() => rowsOf(server), { timeout: 20_000 }).toBe(before + 40);
  await expect.poll(copies, { timeout: 10_000 }).toEqual([]);
  expect((await pod.stop("SIGTERM")).status).toBe(0);
}, 90_000);
