import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { newApiKey } from "@towpath/auth/credentials";
import { expect, onTestFinished, test, vi } from "vitest";
import { answerEmpty } from "./testing/clients.ts";
import { createRig, type DeployedServer, openRig, segmentsIn, until } from "./testing/rig.ts";

// A gateway whose database is unreachable, silent or slow.

const rig = openRig({ TOWPATH_GATEWAY_HOLD_MS: "1000" });

const deploy = () => rig.deploy(answerEmpty);
const call = (server: DeployedServer, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`, {
    method: "POST",
    headers,
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
const segments = () => segmentsIn(join(rig.config.stateDirectory, "spool"));

test("GW-10 routes come from the snapshot, rows wait on disk and arrive once, keys are refused", async () => {
  const server = await deploy();
  const guarded = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  expect((await call(server)).status).toBe(200);
  await rig.rows(server.projectId, 1);

  // A gateway that starts without the database and never gets it.
  const databaseUrl = rig.config.databaseUrl;
  await rig.restart({ databaseUrl: databaseUrl.replace("port=", "port=1") });
  expect(await (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/healthz`)).json()).toMatchObject({
    ok: true,
    database: false,
  });
  for (let at = 0; at < 20; at++) expect((await call(server)).status).toBe(200);
  expect((await call(guarded, { authorization: `Bearer ${newApiKey().key}` })).status).toBe(503);
  await rig.restart({ databaseUrl });
  expect(await rig.rows(server.projectId, 21)).toHaveLength(21);
  await until(async () => (await segments()).length === 0);
  expect(await rig.rows(server.projectId, 21)).toHaveLength(21);
});

test("GW-10 a restarted gateway serves before the database has answered", async () => {
  const server = await deploy();
  expect((await call(server)).status).toBe(200);
  await rig.restart();
  // Takes connections and never says anything, as a database that recovers from a crash may.
  const asked: Socket[] = [];
  let givenUp = 0;
  const silent = createServer((socket) => {
    asked.push(socket);
    socket.on("error", () => {}).on("close", () => givenUp++);
    socket.resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  const databaseUrl = rig.config.databaseUrl;
  const stretched = stretchTimer(3000);
  try {
    await rig.restart({ databaseUrl: `postgresql://postgres@127.0.0.1:${port}/none` });
    expect((await call(server)).status).toBe(200);
    await until(() => asked.length > 0);
    expect(givenUp).toBe(0);
  } finally {
    stretched.mockRestore();
    silent.close();
    for (const socket of asked) socket.destroy();
    await rig.restart({ databaseUrl });
  }
  expect(await rig.rows(server.projectId, 2)).toHaveLength(2);
});

/** After `ms` the gateway stops waiting for its database: a busy machine passes that before a first call. */
function stretchTimer(ms: number) {
  const original = globalThis.setTimeout;
  const stretched = (run: () => void, afterMs?: number) => original(run, afterMs === ms ? 20 * ms : afterMs);
  return vi.spyOn(globalThis, "setTimeout").mockImplementation(stretched as typeof setTimeout);
}

test("GW-4 GW-10 a server that became private while the gateway was down is private from its first request", async () => {
  const server = await deploy();
  expect((await call(server)).status).toBe(200);
  const client = await rig.database.pool.connect();
  // Also after a failure.
  onTestFinished(() => client.release(true));
  const changeTo = (mode: string) =>
    client.query(`BEGIN; LOCK TABLE project IN ACCESS EXCLUSIVE MODE;
      UPDATE project SET auth_mode = '${mode}' WHERE id = '${server.projectId}'`);
  // The database answers, though not at once.
  await changeTo("towpath-cloud");
  const stretched = stretchTimer(1000);
  await rig.restart();
  stretched.mockRestore();
  const early = call(server);
  // By then the call is there, and waits.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await client.query("COMMIT");
  expect((await early).status).toBe(401);

  // One that does not answer is not waited for.
  await changeTo("towpath-public");
  await rig.restart();
  expect((await call(server)).status).toBe(401);
  await client.query("COMMIT");
  await until(async () => (await call(server)).status === 200);
});

test("GW-10 rows survive an outage of the database under load", async () => {
  const server = await deploy();
  expect((await call(server)).status).toBe(200);
  await rig.rows(server.projectId, 1);
  const { pool } = rig.database;
  await pool.query("ALTER TABLE request_log RENAME TO request_log_hidden");
  for (let at = 0; at < 50; at++) expect((await call(server)).status).toBe(200);
  await until(async () => (await segments()).length > 0);
  await pool.query("ALTER TABLE request_log_hidden RENAME TO request_log");
  expect((await rig.rows(server.projectId, 51)).length).toBe(51);
  await until(async () => (await segments()).length === 0);
  expect((await rig.rows(server.projectId, 51)).length).toBe(51);
});

test("GW-10 a gateway that knows no routes yet says so instead of denying servers", async () => {
  const lonely = await createRig();
  await lonely.restart({
    databaseUrl: lonely.config.databaseUrl.replace("port=", "port=1"),
    stateDirectory: join(lonely.config.stateDirectory, "empty"),
  });
  const base = `http://127.0.0.1:${lonely.gateway.port}`;
  expect((await fetch(`${base}/any-server/mcp`)).status).toBe(503);
  expect((await fetch(`${base}/-/healthz`)).status).toBe(503);
  await lonely.close();
});
