import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startBuild, takeBuild } from "@towpath/core/delivery/build";
import { aloneAmongWorkers, referencedLayers } from "@towpath/core/operations/retention";
import { type SeededOrganization, seedOrganization, seedProject, testContext } from "@towpath/core/testing";
import { currentRelease } from "@towpath/db/release";
import { repository, repositoryBundles } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { startRounds } from "@towpath/role";
import { openRegistry } from "@towpath/telemetry";
import { eq } from "drizzle-orm";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { isThorough, rounds } from "../../../../tests/thorough.ts";
import {
  dayMs,
  fillCache,
  openSite,
  push,
  type Site,
  setLastUse,
  storeLayer,
  sweepSite,
} from "../testing/retention-bench.ts";
import { openBench } from "../testing/worker-bench.ts";
import { retentionConfigFrom, retentionSettings } from "./config.ts";
import { Disk } from "./disk.ts";
import { RetentionMetrics } from "./metrics.ts";
import { retentionRounds } from "./retention.ts";

const database = openTestDatabase({ fresh: true });
let site: Site;
let organization: SeededOrganization;
beforeEach(async () => {
  site = await openSite(database);
  organization = await seedOrganization(database.db);
});
afterEach(async () => {
  await rm(site.dataDirectory, { recursive: true, force: true });
});

const stored = async () => (await readdir(join(site.dataDirectory, "artifacts", "blobs"))).toSorted();
const at = (days: number) => new Date(Date.now() + days * dayMs);

test("LOG-6 layers without a deployment go a day after their last use; those of a build under way stay", async () => {
  const project = await seedProject(database.db, organization);
  const [dependencies, code] = [await storeLayer(site, 1000, at(-9)), await storeLayer(site, 1000, at(-9))];
  await push(site, organization, project, new Date(), { dependencies, code });
  const unused = await storeLayer(site, 1000, at(-2));
  const justUsed = await storeLayer(site, 1000, at(-0.5));
  await sweepSite(site, new Date());
  expect(await stored()).toEqual([dependencies, code, justUsed].toSorted());
  // When the disk is nearly full, an hour is enough: no build lasts that long.
  const ofBuild = await storeLayer(site, 1000, new Date());
  await sweepSite(site, new Date(), { low: true });
  expect(await stored()).toEqual([dependencies, code, ofBuild].toSorted());
  expect(await stored()).not.toContain(unused);
});

test("LOG-6 SRC-3 bundles that repositories consist of stay, however old; those that no repository names go after a day", async () => {
  const id = crypto.randomUUID();
  await database.db.insert(repository).values({ id, organizationId: organization.id, name: "weather", madeBy: "push" });
  const bundles = [await storeLayer(site, 1000, at(-90)), await storeLayer(site, 1000, at(-9))];
  await database.db.insert(repositoryBundles).values({ repositoryId: id, head: "main", bundles });
  const ofPush = await storeLayer(site, 1000, at(-0.5));
  await storeLayer(site, 1000, at(-2));
  await sweepSite(site, new Date());
  expect(await stored()).toEqual([...bundles, ofPush].toSorted());
  await database.db.delete(repository).where(eq(repository.id, id));
  await sweepSite(site, new Date());
  expect(await stored()).toEqual([ofPush]);
});

test("RUN-8 LOG-6 a layer of the first release stays for as long as a deployment refers to it", async () => {
  const project = await seedProject(database.db, organization);
  const [dependencies, code, unused] = ["d", "c", "u"].map((letter) =>
    createHash("sha256").update(letter).digest("hex"),
  ) as [string, string, string];
  for (const path of [`deps/${dependencies}`, `deps/${unused}`, `code/${code}`])
    await mkdir(join(site.dataDirectory, "artifacts", path), { recursive: true });
  await push(site, organization, project, new Date(), { dependencies, code });
  for (const low of [false, true]) await sweepSite(site, at(3), { low });
  expect((await site.firstRelease.list()).map(({ name }) => name)).toEqual([dependencies, code]);
  await database.pool.query("DELETE FROM deployment");
  await sweepSite(site, at(3));
  expect(await site.firstRelease.list()).toEqual([]);
});

test("LOG-6 a layer that cannot be removed is reported and doesn't keep the others", async () => {
  for (let number = 0; number < 5; number++) await storeLayer(site, 100, at(-2));
  const [first = ""] = await stored();
  // Deleting it fails: a directory is no file that can be unlinked.
  const blob = join(site.dataDirectory, "artifacts", "blobs", first);
  await rm(blob);
  await mkdir(blob);
  const swept = await sweepSite(site, new Date());
  expect(swept.problems.map(({ name }) => name)).toEqual(["layer"]);
  expect((await stored()).filter((digest) => digest !== first)).toEqual([]);
});

test.runIf(isThorough)(
  "LOG-6 a layer that a build finds while the sweep deletes it is kept or made again, never partly deleted",
  async () => {
    const name = createHash("sha256").update("what it was made of").digest("hex");
    for (let round = 0; round < 40; round++) {
      const digest = await storeLayer(site, 2000, at(-3));
      await site.store.tag(name, digest);
      await setLastUse(site, digest, at(-3));
      const [found] = await Promise.all([site.store.resolve(name), sweepSite(site, new Date())]);
      // Readers that got the digest can read all of it.
      if (found !== null) expect(await digestOf(found)).toBe(found);
      await site.store.delete(digest, { unusedSince: at(1) });
    }
  },
);

async function digestOf(digest: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of await site.store.get(digest)) hash.update(chunk);
  return hash.digest("hex");
}

test.runIf(isThorough)(
  "LOG-6 build caches go with their organization, past their limit, and all when the disk is nearly full",
  async () => {
    const other = await seedOrganization(database.db);
    const building = await seedOrganization(database.db);
    await beginBuild(building);
    const gone = "0192a000-0000-7000-8000-000000000000";
    await fillCache(site, organization.id, 50_000);
    await fillCache(site, other.id, 200_000);
    await fillCache(site, building.id, 200_000);
    await fillCache(site, gone, 10);
    await sweepSite(site, new Date());
    const caches = () => readdir(join(site.dataDirectory, "cache", "uv"));
    expect((await caches()).toSorted()).toEqual([organization.id, building.id].toSorted());
    // A running build may still read what was renamed.
    expect(await readdir(join(site.dataDirectory, "trash"))).toHaveLength(2);
    await sweepSite(site, new Date(Date.now() + 2 * 3_600_000));
    expect(await readdir(join(site.dataDirectory, "trash"))).toEqual([]);
    await sweepSite(site, new Date(), { low: true });
    expect(await caches()).toEqual([building.id]);
  },
);

async function beginBuild(owner: SeededOrganization): Promise<string> {
  const project = await seedProject(database.db, owner);
  const input = { orgSlug: owner.slug, projectName: project.name, commitSha: "a".repeat(40) };
  const { build } = await startBuild({ ctx: testContext(database.db, owner.owner), input });
  const ctx = testContext(database.db, { kind: "job", job: "build.run" });
  expect(await takeBuild({ ctx, input: { buildId: build.id } })).not.toBeNull();
  return build.id;
}

test("RUN-8 LOG-6 leftovers of builds are removed unless the builds run, at any worker", async () => {
  const running = await beginBuild(organization);
  const limits = { memoryBytes: 2 ** 28, processes: 64, cpus: 1, tmpBytes: 2 ** 20 };
  const common = { organizationId: organization.id, limits, diskBytes: 2 ** 30, freeBytes: 0 };
  for (const buildId of [running, "0192a000-0000-7000-8000-000000000000", "of-no-build"])
    await site.driver.builds.open({ buildId, ...common });
  const scratch = () => readdir(join(site.dataDirectory, "builds"));
  expect((await sweepSite(site, new Date())).removed).toMatchObject({ scratch: 2 });
  expect(await scratch()).toEqual([expect.stringMatching(`^${running}`)]);
  await database.pool.query("UPDATE build SET status = 'canceled' WHERE id = $1", [running]);
  await sweepSite(site, new Date());
  expect(await scratch()).toEqual([]);
});

test.runIf(isThorough)(
  "LOG-3 LOG-6 one of a host's workers at a time sweeps its files and counts what it removed, and logs are deleted after the set days",
  async () => {
    const bench = await openBench();
    const { services } = bench;
    const shared = await openSite(services.database, site.dataDirectory);
    const keep = { TOWPATH_KEEP_REQUEST_LOG_DAYS: "7", TOWPATH_KEEP_SERVER_LOG_DAYS: "12" };
    const settings = z.object(retentionSettings).parse({ TOWPATH_RETENTION_EVERY_MS: "100", ...keep });
    const tenDaysAgo = at(-10).toISOString().slice(0, 10);
    const { pool } = services.database;
    await pool.query("SELECT towpath_ensure_log_partitions($1::date)", [tenDaysAgo]);
    const partitions = ["request_log", "server_log"].map((table) => `${table}_${tenDaysAgo.replaceAll("-", "")}`);
    const kept = async () => {
      const found = await pool.query("SELECT relname FROM pg_class WHERE relname = ANY($1)", [partitions]);
      return found.rows.map(({ relname }) => relname).toSorted();
    };
    expect(await kept()).toEqual(partitions);
    const config = retentionConfigFrom(settings);
    const disk = new Disk(site.driver.host, config.disk);
    const unused = await storeLayer(shared, 1000, at(-2));
    const [sweeping, swept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const otherWorker = aloneAmongWorkers(
      testContext(services.database.db, { kind: "job", job: "sweep" }),
      `towpath_retention_files ${site.driver.host.name}`,
      () => {
        sweeping.resolve();
        return swept.promise;
      },
    );
    await sweeping.promise;
    const registry = openRegistry({ role: "worker", release: currentRelease() });
    const failed: string[] = [];
    const stop = startRounds(retentionRounds({ services, config, ...shared, disk, registry }), (name) =>
      failed.push(name),
    );
    try {
      const metrics = () => registry.metrics();
      const rounds = /towpath_retention_last_round_timestamp_seconds [1-9]/;
      await expect.poll(metrics, { timeout: 20_000 }).toMatch(rounds);
      expect(await metrics()).toContain(`towpath_build_info{version="${currentRelease().version}",commit="`);
      await expect.poll(kept, { timeout: 20_000 }).toEqual(partitions.slice(1));
      expect(await stored()).toEqual([unused]);
      swept.resolve();
      await expect.poll(metrics, { timeout: 20_000 }).toContain('towpath_retention_removed_total{what="layer"} 1');
      expect(await stored()).toEqual([]);
    } finally {
      swept.resolve();
      await otherWorker;
      await stop();
      await bench.close();
    }
    expect(failed).toEqual([]);
  },
);

test("LOG-6 the remaining disk space is the free space or the rest of the budget, and metrics report it", async () => {
  await storeLayer(site, 300_000, new Date());
  const disk = (budget: number, reserve: number) =>
    new Disk(site.driver.host, {
      budget: { kind: "bytes", bytes: budget },
      reserve: { kind: "bytes", bytes: reserve },
    });
  const small = disk(400_000, 200_000);
  expect((await small.look()).low).toBe(false);
  await small.measure(new AbortController().signal);
  const report = await small.look();
  expect(report.kinds.artifacts).toBeGreaterThanOrEqual(300_000);
  expect(report).toMatchObject({ low: true, reserveBytes: 200_000 });
  expect(report.availableBytes).toBeLessThan(100_000);
  const share = new Disk(site.driver.host, {
    budget: { kind: "share", part: 1 },
    reserve: { kind: "share", part: 1 },
  });
  expect(await share.look()).toMatchObject({ low: true });
  const registry = new Registry();
  const metrics = new RetentionMetrics(registry, small);
  metrics.swept({ removed: { layer: 3 }, problems: [{ name: "session", error: new Error("x") }] });
  const shown = await registry.metrics();
  for (const line of [
    'towpath_retention_removed_total{what="layer"} 3',
    'towpath_retention_problems_total{what="session"} 1',
    'towpath_disk_bytes{kind="reserve"} 200000',
  ])
    expect(shown).toContain(line);
  expect(shown).toMatch(/towpath_data_bytes\{folder="artifacts"\} \d{6}/);
  expect(shown).toMatch(/towpath_retention_last_round_timestamp_seconds \d/);
});

/** Rows of the tables that pushes write to, and bytes on disk. */
async function size(): Promise<{ rows: number; bytes: number }> {
  const tables = ["build", "deployment", "build_log", "request_log", "audit_log", "erasure"];
  const counts = await Promise.all(
    tables.map((table) => database.pool.query(`SELECT count(*)::int AS n FROM ${table}`)),
  );
  const kinds = await site.driver.host.disk.measure(new AbortController().signal);
  const bytes = Object.values(kinds).reduce((sum, each) => sum + each, 0);
  return { rows: counts.reduce((sum, { rows }) => sum + rows[0].n, 0), bytes };
}

test.runIf(isThorough)(
  "LOG-6 after the first days of a week of pushes the disk and the tables no longer grow",
  {
    timeout: 120_000,
  },
  async () => {
    const project = await seedProject(database.db, organization);
    const sizes: { rows: number; bytes: number }[] = [];
    for (let day = 1; day <= 10; day++) {
      const dependencies = await storeLayer(site, 50_000, at(day));
      await database.pool.query("SELECT towpath_ensure_log_partitions($1::date)", [at(day).toISOString().slice(0, 10)]);
      for (let hour = 0; hour < 6; hour++) {
        const now = new Date(at(day).getTime() + hour * 3_600_000);
        const code = await storeLayer(site, 20_000, now);
        await push(site, organization, project, now, { dependencies, code });
        await database.pool.query(
          `INSERT INTO request_log (id, time, organization_id, project_id, kind, http_method, http_status, is_error,
           outcome, duration_ms, request_bytes, response_bytes, principal)
         SELECT gen_random_uuid(), $1, $2, $3, 'request', 'POST', 200, false, 'ok', 1, 1, 1, 'anonymous'
         FROM generate_series(1, 50)`,
          [now, organization.id, project.id],
        );
        await fillCache(site, organization.id, 20_000);
      }
      // Evening and night.
      await sweepSite(site, new Date(at(day).getTime() + 8 * 3_600_000));
      await sweepSite(site, new Date(at(day).getTime() + 10 * 3_600_000));
      sizes.push(await size());
    }
    const settled = sizes.slice(4);
    for (const kind of ["rows", "bytes"] as const) {
      const values = settled.map((each) => each[kind]);
      expect(Math.max(...values), `${kind} by day: ${sizes.map((each) => each[kind])}`).toBeLessThanOrEqual(
        Math.min(...values) * 1.3,
      );
    }
    // Without retention: 60 builds with 1,200 lines, 3,000 rows of the request log, 1.7 MB of layers.
    expect(settled.at(-1)?.rows).toBeLessThan(1500);
    const needed = await referencedLayers({ ctx: testContext(database.db, { kind: "job", job: "sweep" }) });
    const kept = new Set(await stored());
    expect([...needed].filter((digest) => !kept.has(digest))).toEqual([]);
  },
);

test.runIf(isThorough)(
  "LOG-6 a worker killed at any point of a sweep leaves nothing half-deleted",
  { timeout: 120_000 },
  async () => {
    const program = fileURLToPath(new URL("../testing/sweep-forever.ts", import.meta.url));
    const project = await seedProject(database.db, organization);
    const ctx = testContext(database.db, { kind: "job", job: "sweep" });
    // So far ahead that every round has something to remove, of every kind.
    const later = at(5);
    // Starting a worker is slow: few kills, spread over a sweep.
    const kills = rounds(2, 8);
    for (let kill = 0; kill < kills; kill++) {
      // It starts while the files that it will remove are made, and waits for a line.
      const victim = spawn(process.execPath, [program, database.url, site.dataDirectory, later.toISOString()]);
      let complaint = "";
      victim.stderr.on("data", (chunk) => {
        complaint += chunk;
      });
      const ready = once(victim.stdout, "data");
      const ended = once(victim, "close");
      for (let each = 0; each < 4; each++) {
        const [dependencies, code] = [await storeLayer(site, 30_000, at(-9)), await storeLayer(site, 30_000, at(-9))];
        await push(site, organization, project, new Date(), { dependencies, code });
        await storeLayer(site, 30_000, at(-9));
      }
      await fillCache(site, organization.id, 30_000);
      // A victim that exits early has printed why: see below.
      await Promise.race([ready, ended]);
      victim.stdin.on("error", () => {}).write("go\n");
      await sleep(((kill + Math.random()) * 120) / kills);
      victim.kill("SIGKILL");
      const [, signal] = await ended;
      expect({ signal, complaint }).toEqual({ signal: "SIGKILL", complaint: "" });
      // Layers that deployments need are complete, at whichever removal the kill came.
      for (const digest of await referencedLayers({ ctx })) expect(await digestOf(digest)).toBe(digest);
      const { rows } = await database.pool.query("SELECT count(*)::int AS n FROM route WHERE project_id = $1", [
        project.id,
      ]);
      expect(rows[0].n).toBe(1);
    }
    // The next worker finishes: nothing unneeded is left.
    for (let round = 0; round < 3; round++) expect((await sweepSite(site, later, { low: true })).problems).toEqual([]);
    const needed = await referencedLayers({ ctx });
    expect(new Set(await stored())).toEqual(needed);
    expect(new Set(await site.store.unusedSince(at(10)))).toEqual(needed);
    expect(await readdir(join(site.dataDirectory, "trash"))).toEqual([]);
    const orphans = await database.pool.query(
      "SELECT count(*)::int AS n FROM build_log WHERE NOT EXISTS (SELECT 1 FROM build WHERE id = build_id)",
    );
    expect(orphans.rows[0].n).toBe(0);
  },
);
