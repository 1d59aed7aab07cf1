import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newApiKey, signUserJwt } from "@towpath/auth/credentials";
import pino from "pino";
import { Agent, fetch as undiciFetch } from "undici";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openClock } from "../../../tests/clock.ts";
import { isThorough } from "../../../tests/thorough.ts";
import { startGateway } from "./compose.ts";
import { accessTokenFor, endSignIn, storeGrant } from "./testing/access-tokens.ts";
import { addMember, answerEmpty, rpc, storeApiKey } from "./testing/clients.ts";
import { type DatabaseLink, openDatabaseLink } from "./testing/database-link.ts";
import { type GatewayProcess, isAlive, startGatewayProcess } from "./testing/gateway-process.ts";
import { createRig, type DeployedServer, type Rig, until } from "./testing/rig.ts";

// A real database behind a link that is cut, and a runner that stops.
const clock = openClock();
let rig: Rig;
let link: DatabaseLink;
/** Where the gateway listens. */
let port: number;

beforeEach(async () => {
  rig = await createRig({ TOWPATH_GATEWAY_HOLD_MS: "3000" });
  link = await openDatabaseLink(rig.config.databaseUrl);
});
afterEach(async () => {
  await link.close();
  await rig.close();
});

/** Restarts the rig's own gateway behind the link. */
async function startHere(change: Partial<Rig["config"]> = {}): Promise<void> {
  await rig.restart({ databaseUrl: link.url, directDatabaseUrl: link.url, ...change });
  port = rig.gateway.port;
}

/** A gateway of two workers in processes of their own, which can be killed. */
async function startProcesses() {
  const directory = await mkdtemp(join(tmpdir(), "tp-outage-"));
  let gateway: GatewayProcess;
  const start = async () => {
    const settings = { TOWPATH_GATEWAY_WORKERS: "2", TOWPATH_GATEWAY_HOLD_MS: "3000" };
    gateway = await startGatewayProcess(rig, directory, { DATABASE_URL: link.url, ...settings });
    port = gateway.port;
  };
  const kill = async () => {
    gateway.child.kill("SIGKILL");
    await until(() => !gateway.workers().some(isAlive));
  };
  onTestFinished(async () => {
    await kill();
    await rm(directory, { recursive: true });
  });
  await start();
  return {
    async killAndStart() {
      await kill();
      await start();
    },
  };
}

// A connection for each request: whichever worker is free takes it.
const dispatcher = new Agent({ pipelining: 0 });
type Bearer = { authorization: string };

async function statusOf(server: DeployedServer, headers: Partial<Bearer> = {}): Promise<number> {
  const url = `http://127.0.0.1:${port}/${server.label}/mcp`;
  const answer = await undiciFetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: rpc(),
    dispatcher,
  });
  await answer.text();
  return answer.status;
}

const callsAtOnce = 10;

/** Statuses of many calls at once, so that both workers get some. */
const statusesOf = async (server: DeployedServer, headers?: Bearer) => [
  ...new Set(await Promise.all(Array.from({ length: callsAtOnce }, () => statusOf(server, headers)))),
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
  const [granted, endedLater] = [await storeGrant(rig, server), await storeGrant(rig, server)];
  const [key, personal] = [
    await storeApiKey(rig, organizationId),
    await storeApiKey(rig, organizationId, { userId: await addMember(rig, organizationId) }),
  ];
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const callers = {
    key: key.bearer,
    personal: personal.bearer,
    oauth: bearer(await accessTokenFor(rig, server, granted)),
    signIn: bearer(await accessTokenFor(rig, server, endedLater)),
    token: bearer((await signUserJwt(rig.signingKeys, { projectId, userId })).token),
  };
  await until(async () => (await statusOf(open)) === 200);
  return { server, open, cold, callers, keyId: key.id, grantId: granted.grantId, endedLater, userId };
}

const knownDirectory = () => join(rig.config.stateDirectory, "known");
/** After a change all is confirmed once more, a second later, and what is new is saved within another. */
const newSaves = () => new Promise((resolve) => setTimeout(resolve, 4000));

test.runIf(isThorough)(
  "GW-4 GW-10 with PostgreSQL and the runner stopped, callers and servers seen before go on at every worker and after a kill, and a revocation counts once PostgreSQL is back",
  {
    timeout: 120_000,
  },
  async () => {
    const gateway = await startProcesses();
    const { server, open, cold, callers, keyId, grantId, endedLater, userId } = await setUp();
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
    // Workers tell each other by files, also now.
    await vi.waitFor(everybody, { timeout: 30_000, interval: 500 });
    // Longer than members and grants count without a question.
    await new Promise((resolve) => setTimeout(resolve, 6000));
    await everybody();

    await gateway.killAndStart();
    await everybody();

    // Nobody can tell the gateway yet.
    const { pool } = rig.database;
    await pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [keyId]);
    await pool.query("UPDATE oauth_grant SET revoked_at = now() WHERE id = $1", [grantId]);
    await endSignIn(rig, endedLater);
    await pool.query("DELETE FROM member WHERE user_id = $1", [userId]);
    for (const each of [callers.key, callers.signIn]) expect(await statusesOf(server, each)).toEqual([200]);
    await link.restore();
    await rig.runner.start();
    const now = async (headers: Bearer) => (await statusesOf(server, headers)).join();
    await expect.poll(() => now(callers.key), { timeout: 20_000 }).toBe("401");
    await expect.poll(() => now(callers.oauth), { timeout: 20_000 }).toBe("401");
    await expect.poll(() => now(callers.signIn), { timeout: 20_000 }).toBe("401");
    await expect.poll(() => now(callers.token), { timeout: 20_000 }).toBe("404");
    await expect.poll(() => now(callers.personal), { timeout: 20_000 }).toBe("200");
    // What was called meanwhile is in the log, once: the call of the set-up and three rounds.
    const logged = async () => {
      const { rows } = await pool.query("SELECT count(*)::int AS n FROM request_log WHERE project_id = $1", [
        open.projectId,
      ]);
      return rows[0].n;
    };
    await expect.poll(logged, { timeout: 30_000 }).toBe(1 + 3 * callsAtOnce);
    // A revoked credential is not found by a successor during the next outage.
    await newSaves();
    await link.cut();
    await gateway.killAndStart();
    for (const each of [callers.key, callers.signIn]) expect(await statusesOf(server, each)).toEqual([503]);
    expect(await statusesOf(server, callers.personal)).toEqual([200]);
    expect(await logged()).toBe(1 + 3 * callsAtOnce);
  },
);

test.runIf(isThorough)(
  "GW-10 while PostgreSQL hangs, nobody who was seen before waits for it, and strangers are refused",
  {
    timeout: 90_000,
  },
  async () => {
    await startHere();
    const { server, callers } = await setUp();
    for (const headers of Object.values(callers)) expect(await statusesOf(server, headers)).toEqual([200]);
    link.silence();
    // Longer than members and grants count without a question: now it must be asked.
    clock.pass(6000);
    const begun = performance.now();
    for (let round = 0; round < 5; round++)
      for (const headers of Object.values(callers)) expect(await statusesOf(server, headers)).toEqual([200]);
    // 200 calls. Each wait for the database would take seconds.
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(await statusesOf(server, { authorization: `Bearer ${newApiKey().key}` })).toEqual([503]);
    await link.restore();
    await expect
      .poll(() => statusOf(server, { authorization: `Bearer ${newApiKey().key}` }), { timeout: 20_000 })
      .toBe(401);
  },
);

test.runIf(isThorough)(
  "GW-10 KEY-2 what a gateway keeps for an outage names nobody to whoever copies it, and lets nobody in who changes it",
  {
    timeout: 60_000,
  },
  async () => {
    await startHere();
    const { server, callers, userId } = await setUp();
    for (const headers of Object.values(callers)) expect(await statusOf(server, headers)).toBe(200);
    await link.cut();
    await startHere();
    expect(await statusOf(server, callers.key)).toBe(200);
    const path = join(knownDirectory(), "worker-0.sealed");
    const text = await readFile(path, "utf8");
    const secret = callers.key.authorization.slice("Bearer ".length);
    for (const word of [secret, userId, "organizationId", "leases"]) {
      expect(text).not.toContain(word);
      expect(Buffer.from(text, "base64url").toString("latin1")).not.toContain(word);
    }
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await rig.gateway.stop(100);
    const kept = await readFile(path, "utf8");
    const at = Math.floor(kept.length / 2);
    await writeFile(path, `${kept.slice(0, at)}${kept[at] === "A" ? "B" : "A"}${kept.slice(at + 1)}`);
    rig.gateway = await startGateway(rig.config, pino({ level: "silent" }));
    port = rig.gateway.port;
    expect(await statusOf(server, callers.key)).toBe(503);
  },
);

test.runIf(isThorough)("GW-10 a setting of 0 keeps nothing for an outage", { timeout: 60_000 }, async () => {
  await startHere({ outageMs: 0 });
  const { server, callers } = await setUp();
  expect(await statusOf(server, callers.oauth)).toBe(200);
  await link.cut();
  await startHere();
  expect(await readdir(knownDirectory()).catch(() => [])).toEqual([]);
  expect(await statusOf(server, callers.oauth)).toBe(503);
});
