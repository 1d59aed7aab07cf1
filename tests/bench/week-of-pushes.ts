import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seedOrganization, seedProject } from "@towpath/core/testing";
import { migrateDatabase, openDatabase } from "@towpath/db";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import {
  dayMs,
  fillCache,
  openSite,
  push,
  storeLayer,
  sweepSite,
} from "../../apps/worker/src/testing/retention-bench.ts";

// LOG-6: days of synthetic pushes, each with a sweep in the evening; prints what is kept, day by day.
//   node tests/bench/week-of-pushes.ts [days, default 14] [pushes a day, default 100]

const [days = 14, pushes = 100] = process.argv.slice(2).map(Number);
const directory = await mkdtemp(join(tmpdir(), "tp-week-"));
const postgres = await startEmbeddedPostgres({
  dataDirectory: join(directory, "pg"),
  socketDirectory: join(directory, "s"),
  durable: false,
});
await migrateDatabase(postgres.url);
const client = openDatabase(postgres.url);
const site = await openSite(client, join(directory, "data"));
const organization = await seedOrganization(client.db);
const project = await seedProject(client.db, organization);
const begin = Date.now();

const count = async (table: string) => (await client.pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;
const print = (cells: readonly unknown[]) =>
  process.stdout.write(`| ${cells.map((each) => String(each).padStart(12)).join(" | ")} |\n`);

print(["day", "pushed MB", "kept MB", "artifacts", "builds", "build log", "audit log", "sweep ms"]);
let pushed = 0;
for (let day = 1; day <= days; day++) {
  const morning = begin + day * dayMs;
  const dependencies = await storeLayer(site, 500_000, new Date(morning));
  pushed += 500_000;
  for (let at = 0; at < pushes; at++) {
    const now = new Date(morning + (at * dayMs) / 3 / pushes);
    await push(site, organization, project, now, { dependencies, code: await storeLayer(site, 50_000, now) });
    pushed += 50_000;
  }
  await fillCache(site, organization.id, 50_000);
  const swept = performance.now();
  await sweepSite(site, new Date(morning + dayMs / 2));
  await sweepSite(site, new Date(morning + dayMs / 2 + dayMs / 12));
  const sweepMs = Math.round(performance.now() - swept);
  const kinds = await site.driver.host.disk.measure(new AbortController().signal);
  const kept = Object.values(kinds).reduce((sum, bytes) => sum + bytes, 0);
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const tables = await Promise.all(["artifact", "build", "build_log", "audit_log"].map(count));
  print([day, megabytes(pushed), megabytes(kept), ...tables, sweepMs]);
}
await client.close();
await postgres.stop();
await rm(directory, { recursive: true, force: true });
