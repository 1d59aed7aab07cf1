import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { deployEchoes, type Rig, redeployEcho } from "../chaos/rig.ts";
import { independence } from "../chaos/scenarios/independence.ts";
import { killProcess } from "../chaos/scenarios/kill-process.ts";
import { seededKills } from "../chaos/scenarios/seeded-kills.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { isThorough } from "../thorough.ts";

// A short form of the chaos stage for every run: a kill of each process that calls and log rows pass through.
const dataDirectory = inject("dataDirectory");
const { pool: database, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 2 });
let rig: Rig;

beforeAll(async () => {
  const servers = await deployEchoes(dataDirectory, ["chaos-plain"]);
  rig = {
    dataDirectory,
    url: inject("url"),
    serversUrl: inject("serversUrl"),
    servers,
    database,
    // A few calls are under way at every moment; more would only heat the machine that the other stages share.
    callPauseMs: 400,
    times: 1,
    smallDisk: null,
    clock: null,
  };
});
afterAll(close);

// One behind PgBouncer isn't the instance's to start again.
const hasOwnDatabase = Object.keys(inject("databaseSettings")).length === 0;
test.runIf(hasOwnDatabase)(
  "RUN-8 OPS-1 GW-10 PostgreSQL is killed under load: no call fails, no row is lost, it is back by itself",
  async () => {
    const row = await killProcess(rig, "postgres");
    expect(row).toMatchObject({ problems: [], failed: 0 });
    expect(row.calls).toBeGreaterThan(20);
    // The queue, its notifications and the log streams have reconnected.
    await redeployEcho(rig, "chaos-plain", "after a restart of the database");
  },
);

// The gateway's own tests kill each of its processes under load.
test.runIf(isThorough)(
  "RUN-8 OPS-1 GW-7 the gateway is killed under load: it is back every time, no answered call's row is lost",
  async () => {
    const row = await killProcess(rig, "gateway");
    // The duration of a start depends on the machine, but a gateway without a restart never comes back.
    expect(Math.max(...row.recoveryMs)).toBeLessThan(45_000);
    expect(row.lost).toBeLessThanOrEqual(0);
    expect(row.calls - row.failed).toBeGreaterThan(20);
  },
);

test("RUN-8 the runner is killed under load: servers keep running, no call fails, sessions included", async () => {
  const instances = () => database.query("SELECT id FROM instance WHERE state IN ('ready', 'frozen') ORDER BY id");
  const before = (await instances()).rows;
  const row = await killProcess(rig, "runner");
  expect(row).toMatchObject({ problems: [], failed: 0 });
  expect(row.calls).toBeGreaterThan(20);
  expect((await instances()).rows).toEqual(expect.arrayContaining(before));
});

// The tests above cover each process alone.
test.runIf(isThorough)(
  "RUN-8 GW-10 processes are killed in random order under load, with keys, tokens and open streams: no row and no server is lost",
  async () => {
    const row = await seededKills({ ...rig, times: 4 }, 3);
    expect(row.problems).toEqual([]);
    expect(row.calls - row.failed).toBeGreaterThan(20);
  },
);

// The gateway's own tests stop PostgreSQL and the runner.
test.runIf(isThorough)(
  "GW-4 GW-10 RUN-8 with PostgreSQL, web, worker and runner stopped, callers seen before are served, also after the gateway's workers were killed, and a revocation counts soon after",
  async () => {
    const row = await independence(rig, { how: "stopped", forMs: 6_000, killsGateway: true });
    expect(row.problems).toEqual([]);
    expect(row.calls - row.failed).toBeGreaterThan(20);
  },
);
