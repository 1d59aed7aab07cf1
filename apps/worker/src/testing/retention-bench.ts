import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type ArtifactStore, type FirstReleaseLayers, openArtifacts } from "@towpath/artifacts";
import { startBuild, takeBuild } from "@towpath/core/delivery/build";
import { createDeployment, goLive } from "@towpath/core/delivery/deployment";
import { mergeRemovals, type Removal, sweepRows } from "@towpath/core/operations/retention";
import { type SeededOrganization, sampleOutcome, testContext } from "@towpath/core/testing";
import type { DatabaseClient } from "@towpath/db";
import { artifact, type RetentionPolicy } from "@towpath/db/schema";
import type { RuntimeDriver } from "@towpath/runtime";
import { createFakeDriver } from "@towpath/runtime/testing";
import { eq } from "drizzle-orm";
import { sweepFiles } from "../retention/files.ts";

export const dayMs = 86_400_000;

/** Small numbers, so that a short test exceeds every limit. */
const shortPolicy: RetentionPolicy = {
  requestLogDays: 2,
  serverLogDays: 2,
  buildLogDays: 2,
  auditDays: 3,
  endedBranchDays: 2,
  buildsPerBranch: 10,
  deploymentsPerBranch: 3,
};

export type Site = {
  readonly client: DatabaseClient;
  readonly dataDirectory: string;
  readonly driver: RuntimeDriver;
  readonly store: ArtifactStore;
  readonly firstRelease: FirstReleaseLayers;
};

/** A data directory of its own beside a database. */
export async function openSite(client: DatabaseClient, directory?: string): Promise<Site> {
  const dataDirectory = directory ?? (await mkdtemp(join(tmpdir(), "tp-retention-")));
  const { layers, store, firstRelease } = openArtifacts({ db: client.db, dataDirectory, config: null });
  const instanceDirectory = join(dataDirectory, "b");
  const driver = createFakeDriver({ dataDirectory, instanceDirectory, layers, uv: "uv", buildEnvironment: {} });
  return { client, dataDirectory, driver, store, firstRelease };
}

/** Stores random bytes as a layer that was last used at that time. */
export async function storeLayer(site: Site, bytes: number, usedAt: Date): Promise<string> {
  const digest = await site.store.add(Readable.from([randomBytes(bytes)]));
  await setLastUse(site, digest, usedAt);
  return digest;
}

export async function setLastUse({ client }: Site, digest: string, usedAt: Date): Promise<void> {
  await client.db.update(artifact).set({ lastUsedAt: usedAt }).where(eq(artifact.digest, digest));
}

/** Fills an organization's uv cache. */
export async function fillCache(site: Site, organizationId: string, bytes: number): Promise<string> {
  const directory = join(site.dataDirectory, "cache", "uv", organizationId);
  await mkdir(join(directory, "wheels"), { recursive: true });
  await writeFile(join(directory, "wheels", randomBytes(4).toString("hex")), randomBytes(bytes));
  return directory;
}

/** A push that goes live: build, layers, log. `now` is when. */
export async function push(
  site: Site,
  owner: SeededOrganization,
  project: { readonly name: string },
  now: Date,
  layers: { readonly dependencies: string; readonly code: string },
): Promise<void> {
  const { db, pool } = site.client;
  const clock = { now: () => now };
  const input = { orgSlug: owner.slug, projectName: project.name, commitSha: randomBytes(20).toString("hex") };
  const { build } = await startBuild({ ctx: testContext(db, owner.owner, { clock }), input });
  const ctx = testContext(db, { kind: "job", job: "build.run" }, { clock });
  const taken = await takeBuild({ ctx, input: { buildId: build.id } });
  if (!taken) throw new Error("the build was taken already");
  const { buildId, attempt } = taken;
  const outcome = sampleOutcome({ buildId, attempt });
  await createDeployment({ ctx, input: { ...outcome, layers: { pythonVersion: "3.12.1", ...layers } } });
  await goLive({ ctx, input: { buildId, attempt } });
  await pool.query(
    `INSERT INTO build_log (build_id, line, time, phase, kind, text)
     SELECT $1, 100 + n, $2, 'install', 'output', repeat('x', 100) FROM generate_series(1, 20) n`,
    [buildId, now],
  );
}

/** A worker's round at that time. */
export async function sweepSite(site: Site, now: Date, more: { readonly low?: boolean } = {}): Promise<Removal> {
  const ctx = testContext(site.client.db, { kind: "job", job: "sweep" }, { clock: { now: () => now } });
  const rows = await sweepRows({ ctx, input: { now, policy: shortPolicy } });
  const files = await sweepFiles({
    ctx,
    now,
    builds: site.driver.builds,
    store: site.store,
    firstRelease: site.firstRelease,
    cacheBytes: 100_000,
    low: more.low ?? false,
  });
  return mergeRemovals([rows, files].filter((each) => each !== null));
}
