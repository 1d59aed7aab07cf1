import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newApiKey, signUserJwt } from "@towpath/auth/credentials";
import { Agent, fetch as undiciFetch } from "undici";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accessTokenFor, storeGrant } from "./testing/access-tokens.ts";
import { addMember, answerEmpty, rpc, storeApiKey } from "./testing/clients.ts";
import { type DatabaseLink, openDatabaseLink } from "./testing/database-link.ts";
import { type GatewayProcess, isAlive, startGatewayProcess } from "./testing/gateway-process.ts";
import { createRig, type DeployedServer, type Rig, until } from "./testing/rig.ts";

// Two workers in processes of their own, a real database behind a link that is cut, and a runner that stops.
let rig: Rig;
let link: DatabaseLink;
let directory: string;
let gateway: GatewayProcess;
const start = () =>
  startGatewayProcess(rig, directory, { DATABASE_URL: link.url, TOWPATH_GATEWAY_WORKERS: "2", ...settings });
const settings = { TOWPATH_GATEWAY_HOLD_MS: "3000" };

beforeEach(async () => {
  rig = await createRig();
  link = await openDatabaseLink(rig.config.databaseUrl);
  directory = await mkdtemp(join(tmpdir(), "tp-outage-"));
  gateway = await start();
}, 30_000);
afterEach(async () => {
  await kill();
  await link.close();
  await rig.close();
  await rm(directory, { recursive: true });
});

async function kill(): Promise<void> {
  gateway.child.kill("SIGKILL");
  await until(() => !gateway.workers().some(isAlive));
}

// A connection for each request: whichever worker is free takes it.
const dispatcher = new Agent({ pipelining: 0 });
type Bearer = { authorization: string };

async function statusOf(server: DeployedServer, headers: Partial<Bearer> = {}): Promise<number> {
  const url = `http://127.0.0.1:${gateway.port}/${server.label}/mcp`;
  const answer = await undiciFetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: rpc(),
    dispatcher,
  });
  await answer.text();
  return answer.status;
}

/** Statuses of many calls at once, so that both workers get some. */
const statusesOf = async (server: DeployedServer, headers?: Bearer) => [
  ...new Set(await Promise.all(Array.from({ length: 24 }, () => statusOf(server, headers)))),
];

/** A private server, its callers of every kind, and an open one. */
async function setUp() {
  const [server, open, cold] = [
    await rig.deploy(answerEmpty, { authMode: "towpath-cloud" }),
    await rig.deploy(answerEmpty),
    await rig.deploy(answerEmpty),
  ];
  const { organizationId, projectId } = server;
  const userId = await addMember(rig, organizationId);
  const granted = await storeGrant(rig, server);
  const [key, personal] = [
    await storeApiKey(rig, organizationId),
    await storeApiKey(rig, organizationId, { userId: await addMember(rig, organizationId) }),
  ];
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const callers = {
    key: key.bearer,
    personal: personal.bearer,
    oauth: bearer(await accessTokenFor(rig, server, granted)),
    token: bearer((await signUserJwt(rig.signingKeys, { projectId, userId })).token),
  };
  await until(async () => (await statusOf(open)) === 200);
  return { server, open, cold, callers, keyId: key.id, grantId: granted.grantId, userId };
}

/** The files in which the workers keep what they know. */
const savedFiles = () => readdir(join(directory, "gateway", "known")).catch(() => []);
const newSaves = () => new Promise((resolve) => setTimeout(resolve, 2500));

test("GW-4 GW-10 with PostgreSQL and the runner stopped, callers and servers seen before go on at every worker and after a kill, and a revocation counts once PostgreSQL is back", {
  timeout: 120_000,
}, async () => {
  const { server, open, cold, callers, keyId, grantId, userId } = await setUp();
  // Each caller once, at one of the workers.
  for (const headers of Object.values(callers)) expect(await statusOf(server, headers)).toBe(200);
  await newSaves();
  await link.cut();
  await rig.runner.stop();
  const everybody = async () => {
    for (const headers of Object.values(callers)) expect(await statusesOf(server, headers)).toEqual([200]);
    expect(await statusesOf(open)).toEqual([200]);
    expect(await statusesOf(server, { authorization: `Bearer ${newApiKey().key}` })).toEqual([503]);
    expect(await statusOf(cold)).toBe(503);
  };
  await everybody();
  // Longer than members and grants count without a question.
  await new Promise((resolve) => setTimeout(resolve, 6000));
  await everybody();

  await kill();
  gateway = await start();
  await everybody();

  // Nobody can tell the gateway yet.
  const { pool } = rig.database;
  await pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [keyId]);
  await pool.query("UPDATE oauth_grant SET revoked_at = now() WHERE id = $1", [grantId]);
  await pool.query("DELETE FROM member WHERE user_id = $1", [userId]);
  expect(await statusesOf(server, callers.key)).toEqual([200]);
  await link.restore();
  await rig.runner.start();
  const now = async (headers: Bearer) => (await statusesOf(server, headers)).join();
  await expect.poll(() => now(callers.key), { timeout: 20_000 }).toBe("401");
  await expect.poll(() => now(callers.oauth), { timeout: 20_000 }).toBe("401");
  await expect.poll(() => now(callers.token), { timeout: 20_000 }).toBe("404");
  await expect.poll(() => now(callers.personal), { timeout: 20_000 }).toBe("200");
  // What was called meanwhile is in the log, once: the call of the set-up and three rounds.
  const logged = async () => {
    const { rows } = await pool.query("SELECT count(*)::int AS n FROM request_log WHERE project_id = $1", [
      open.projectId,
    ]);
    return rows[0].n;
  };
  await expect.poll(logged, { timeout: 30_000 }).toBe(1 + 3 * 24);
  // A revoked credential is not found by a successor during the next outage.
  await newSaves();
  await link.cut();
  await kill();
  gateway = await start();
  expect(await statusesOf(server, callers.key)).toEqual([503]);
  expect(await statusesOf(server, callers.personal)).toEqual([200]);
  expect(await logged()).toBe(1 + 3 * 24);
});

test("GW-10 while PostgreSQL hangs, nobody who was seen before waits for it, and strangers are refused", {
  timeout: 90_000,
}, async () => {
  const { server, callers } = await setUp();
  for (const headers of Object.values(callers)) expect(await statusesOf(server, headers)).toEqual([200]);
  link.silence();
  // Longer than members and grants count without a question: now it must be asked.
  await new Promise((resolve) => setTimeout(resolve, 6000));
  const begun = performance.now();
  for (let round = 0; round < 5; round++)
    for (const headers of Object.values(callers)) expect(await statusesOf(server, headers)).toEqual([200]);
  // 480 calls. Each wait for the database would take seconds.
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(await statusesOf(server, { authorization: `Bearer ${newApiKey().key}` })).toEqual([503]);
  await link.restore();
  await expect
    .poll(() => statusOf(server, { authorization: `Bearer ${newApiKey().key}` }), { timeout: 20_000 })
    .toBe(401);
});

test("GW-10 KEY-2 what workers keep for an outage names nobody to whoever copies it, and lets nobody in who changes it", {
  timeout: 60_000,
}, async () => {
  const { server, callers, userId } = await setUp();
  for (const headers of Object.values(callers)) expect(await statusOf(server, headers)).toBe(200);
  await newSaves();
  await until(async () => (await savedFiles()).filter((name) => name.endsWith(".sealed")).length === 2);
  const paths = (await savedFiles()).map((name) => join(directory, "gateway", "known", name));
  for (const path of paths) {
    const text = await readFile(path, "utf8");
    const secret = callers.key.authorization.slice("Bearer ".length);
    for (const word of [secret, userId, "organizationId", "leases"]) {
      expect(text).not.toContain(word);
      expect(Buffer.from(text, "base64url").toString("latin1")).not.toContain(word);
    }
  }
  await link.cut();
  await kill();
  for (const path of paths) await writeFile(path, `${(await readFile(path, "utf8")).slice(0, -8)}AAAAAAAA`);
  gateway = await start();
  expect(await statusesOf(server, callers.key)).toEqual([503]);
});

test("GW-10 a setting of 0 keeps nothing for an outage", { timeout: 60_000 }, async () => {
  await kill();
  gateway = await startGatewayProcess(rig, directory, { DATABASE_URL: link.url, TOWPATH_GATEWAY_OUTAGE_MS: "0" });
  const { server, callers } = await setUp();
  expect(await statusOf(server, callers.oauth)).toBe(200);
  await newSaves();
  expect(await savedFiles()).toEqual([]);
  await link.cut();
  await new Promise((resolve) => setTimeout(resolve, 6000));
  expect(await statusesOf(server, callers.oauth)).toEqual([503]);
});
