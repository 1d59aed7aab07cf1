import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openArtifacts } from "@towpath/artifacts";
import { rebuildLostLayers, takeBuild } from "@towpath/core/delivery/build";
import { layersSchema } from "@towpath/core/delivery/build/contract";
import { testContext } from "@towpath/core/testing";
import { migrateDatabase } from "@towpath/db";
import { migrateOnlyTo, openTestDatabase } from "@towpath/db/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import rows from "./testing/first-release.json" with { type: "json" };
import { openSite, type Site, sweepSite } from "./testing/retention-bench.ts";

// Database and directory of the first release (commit 2420f951) after two `towpath deploy`.
const database = openTestDatabase({ fresh: true });
let site: Site;
beforeEach(async () => {
  await migrateOnlyTo(database, "0000_initial");
  for (const [table, values] of Object.entries(rows)) {
    const insert = `INSERT INTO "${table}" SELECT * FROM jsonb_populate_recordset(NULL::"${table}", $1)`;
    await database.pool.query(insert, [JSON.stringify(values)]);
  }
  site = await openSite(database, await mkdtemp(join(tmpdir(), "tp-first-release-")));
  for (const { layers } of rows.build) {
    for (const path of [`deps/${layers.dependencies}`, `code/${layers.code}`])
      await mkdir(join(site.dataDirectory, "artifacts", path), { recursive: true });
  }
});
afterEach(async () => {
  await rm(site.dataDirectory, { recursive: true, force: true });
});

const days = (count: number) => new Date(Date.now() + count * 86_400_000);

test("RUN-8 OPS-3 data of the first release migrates, and its servers keep their layers; one that is lost is built as it was", async () => {
  const migrated = await migrateDatabase(database.url);
  expect(migrated.from).toBe("schema 0000_initial");
  expect(migrated.applied).toBeGreaterThan(39);

  for (const when of [0, 3, 400]) await sweepSite(site, days(when));
  const used = rows.build.flatMap(({ layers }) => [layers.dependencies, layers.code]);
  expect((await site.firstRelease.list()).map(({ name }) => name).toSorted()).toEqual(used.toSorted());

  const ctx = testContext(database.db, { kind: "job", job: "sweep" });
  const { layers } = openArtifacts({ db: database.db, dataDirectory: site.dataDirectory, config: null });
  const rebuild = () => rebuildLostLayers({ ctx, input: { missing: layers.missing } });
  expect(await rebuild()).toEqual({ lost: 0, queued: [] });

  const [lost] = rows.build;
  if (lost === undefined) throw new Error("the fixture has no build");
  const path = join(site.dataDirectory, "artifacts", "code", lost.layers.code);
  await rename(path, `${path}-lost`);
  const found = await rebuild();
  expect(found).toEqual({ lost: 1, queued: [expect.any(String)] });
  const taken = await takeBuild({ ctx, input: { buildId: found.queued[0] ?? "" } });
  expect(taken).toMatchObject({
    commitSha: lost.commit_sha,
    entrypoint: lost.entrypoint,
    resolution: { pythonVersion: layersSchema.parse(lost.layers).pythonVersion, pins: null },
  });
  expect(new Date(taken?.resolution?.at ?? 0).getTime()).toBe(new Date(lost.started_at).getTime());
});
