// What 100, 1,000 and 10,000 routes cost a process of the gateway, against PostgreSQL: memory, the first load, a reload
// without a change, and one change. Half of the servers have an access policy, a tenth a former name. "blocked" is the
// longest time in which the process did nothing else, such as answering calls.
//
//   ./towpath test bench many-routes

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { migrateDatabase, openDatabase } from "@towpath/db";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { openNotifications } from "@towpath/db/notifications";
import { openLog } from "@towpath/role";
import { createReadModel } from "../../apps/gateway/src/read-model/routes.ts";
import { createRouteFeed } from "../../apps/gateway/src/route/route-feed.ts";
import { RouteTable } from "../../apps/gateway/src/route/route-table.ts";
import { median } from "./measure.ts";

type Pool = ReturnType<typeof openDatabase>["pool"];

const sizes = [100, 1000, 10_000];
const rounds = 7;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const rows: string[][] = [];
const directory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
const postgres = await startEmbeddedPostgres({
  dataDirectory: join(directory, "data"),
  socketDirectory: join(directory, "s"),
  durable: true,
});
const database = openDatabase(postgres.url);
try {
  await migrateDatabase(postgres.url);
  let present = 0;
  for (const size of sizes) {
    await addServers(database.pool, present, size);
    present = size;
    rows.push(await measure(database.pool, size));
  }
} finally {
  await database.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}
const heads = ["routes", "memory", "first load", "blocked", "reload", "blocked", "one change", "blocked"];
process.stdout.write(`\n${heads.map((head) => head.padStart(11)).join("")}\n`);
for (const cells of rows) process.stdout.write(`${cells.map((cell) => cell.padStart(11)).join("")}\n`);
process.stdout.write(`\nMedians of ${rounds}, but for memory and the first load.\n`);

async function measure(pool: Pool, size: number): Promise<string[]> {
  const table = new RouteTable();
  const { promise: loaded, resolve } = Promise.withResolvers<void>();
  const feed = createRouteFeed({
    readModel: createReadModel(pool),
    table,
    directory: "/nowhere",
    writesSnapshot: false,
    onLoaded: () => resolve(),
    log: openLog("silent", { role: "bench" }),
  });
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const first = await blockedWhile(async () => {
    feed.start();
    await loaded;
  });
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  const reloads = await repeat(() => blockedWhile(() => feed.reload()));

  const notifications = openNotifications(postgres.url, { applicationName: "bench", onProblem: () => {} });
  const stopListening = feed.listen(notifications);
  await sleep(500);
  let changes = 0;
  const changed = await repeat(async () => {
    const name = `server-${(size >> 1) + changes++}`;
    const capturesBefore = table.find(name)?.capturePayloads;
    return blockedWhile(async () => {
      await pool.query("UPDATE project SET capture_payloads = NOT capture_payloads WHERE name = $1", [name]);
      while (table.find(name)?.capturePayloads === capturesBefore) await sleep(1);
    });
  });
  stopListening();
  await notifications.close();
  feed.stop();
  const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  const both = (measured: readonly Measured[]) => [
    ms(median(measured.map(({ ms: each }) => each))),
    ms(median(measured.map(({ blockedMs }) => blockedMs))),
  ];
  return [String(table.size), `${(bytes / 1e6).toFixed(1)} MB`, ...both([first]), ...both(reloads), ...both(changed)];
}

type Measured = { readonly ms: number; readonly blockedMs: number };

async function blockedWhile(work: () => Promise<unknown>): Promise<Measured> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // The first samples.
  await sleep(20);
  delay.reset();
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  await sleep(5);
  delay.disable();
  return { ms, blockedMs: delay.max / 1e6 };
}

async function repeat(work: () => Promise<Measured>): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await work());
  return measured;
}

/** Adds servers `from` to `to` with a live deployment each, ten to an organization. */
async function addServers(pool: Pool, from: number, to: number): Promise<void> {
  const id = (kind: number, number = "n") =>
    `('0192a000-0000-7000-800${kind}-' || lpad(to_hex(${number}), 12, '0'))::uuid`;
  const add = (into: string, values: string, where = "true") =>
    pool.query(`INSERT INTO ${into} SELECT ${values} FROM generate_series($1::int, $2::int - 1) AS n WHERE ${where}`, [
      from,
      to,
    ]);
  await add("organization (id, name, slug)", `${id(0, "n / 10")}, 'O', 'o-' || n / 10`, "n % 10 = 0");
  await add(
    "project (id, organization_id, name, entrypoint, auth_mode)",
    `${id(1)}, ${id(0, "n / 10")}, 'server-' || n, 'server.py', 'towpath-cloud'`,
  );
  await add("branch (id, project_id, name, is_default)", `${id(2)}, ${id(1)}, 'main', true`);
  await add(
    "build (id, project_id, branch_id, status, commit_sha, trigger, sequence, entrypoint)",
    `${id(3)}, ${id(1)}, ${id(2)}, 'succeeded', 'abc', 'push', 1, 'server.py'`,
  );
  await add(
    "deployment (id, project_id, branch_id, build_id, environment, slug)",
    `${id(4)}, ${id(1)}, ${id(2)}, ${id(3)}, 'production', 'server-' || n`,
  );
  await add(
    "route (label, project_id, branch_id, deployment_id, sequence)",
    `'server-' || n, ${id(1)}, ${id(2)}, ${id(4)}, 1`,
  );
  await add("access_policy (project_id, roles, tools)", `${id(1)}, '{owner,admin}', '{echo,add}'`, "n % 2 = 0");
  await add(
    "former_name (name, project_id, expires_at)",
    `'former-' || n, ${id(1)}, now() + interval '30 days'`,
    "n % 10 = 0",
  );
  await pool.query("ANALYZE");
}
