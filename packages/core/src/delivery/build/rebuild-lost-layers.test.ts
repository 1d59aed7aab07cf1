import { auditLog, build, buildLog, deployment, instance, project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { newId } from "../../ids/index.ts";
import {
  liveCommit,
  memoryQueue,
  openOrganization,
  refusalCode,
  sampleDiagnosis,
  seedProject,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import { getServerStatus } from "../deployment/index.ts";
import { saveReleasePolicy } from "../gradual-release/index.ts";
import { failBuild, rebuildLostLayers, startBuild, takeBuild } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);

const commit = "a".repeat(40);
const worker = () => testContext(database.db, { kind: "job", job: "sweep" });
/** Queues builds at that time, minutes from now. Returns their ids. */
async function rebuild(isStored: boolean, more: { readonly minutes?: number; readonly isStart?: boolean } = {}) {
  const { minutes = 0, isStart = false } = more;
  const clock = { now: () => new Date(Date.now() + minutes * 60_000) };
  const ctx = testContext(database.db, { kind: "job", job: "sweep" }, { clock });
  const found = await rebuildLostLayers({
    ctx,
    input: { missing: async (digests) => new Set(isStored ? [] : digests), isStart },
  });
  expect(found.lost === 0).toBe(isStored);
  return found.queued;
}

async function fail(buildId: string): Promise<void> {
  const ctx = worker();
  const taken = await takeBuild({ ctx, input: { buildId } });
  await failBuild({ ctx, input: { buildId, attempt: taken?.attempt ?? 0, diagnosis: sampleDiagnosis } });
}

async function deployed() {
  const { name } = await seedProject(database.db, organization);
  const input = { orgSlug: organization.slug, projectName: name, commitSha: commit };
  const { build: made } = await startBuild({ ctx: testContext(database.db, organization.owner), input });
  await succeedBuild(database.db, made.id);
  return { input, made };
}

test("RUN-8 a live deployment whose layers are lost is built again, by one worker, and the log says why", async () => {
  const { made } = await deployed();
  expect(await rebuild(true)).toEqual([]);
  // Several workers at the same time.
  const queued = (await Promise.all([1, 2, 3, 4].map(() => rebuild(false)))).flat();
  expect(queued).toHaveLength(1);
  const [id = ""] = queued;
  const [row] = await database.db.select().from(build).where(eq(build.id, id));
  expect(row).toMatchObject({ status: "queued", commitSha: commit, trigger: "redeploy", sequence: 2 });
  const [line] = await database.db.select().from(buildLog).where(eq(buildLog.buildId, id));
  expect(line).toMatchObject({ kind: "warning", text: expect.stringContaining("no longer stored") });
  const [entry] = await database.db.select().from(auditLog).where(eq(auditLog.subject, id));
  expect(entry).toMatchObject({ actor: "job:sweep", detail: { of: made.id, commit } });
  await fail(id);
  expect(await liveCommit(database.db, row?.branchId ?? "")).toBe(commit);
  // Other tests have live deployments, too.
  await database.db.delete(project).where(eq(project.name, made.project.name));
});

/** A live version, and one that gets a share of its sessions and has lost its code. `sweep` looks for such. */
async function released(approval: "nobody" | "admin") {
  const { input, made } = await deployed();
  const ctx = testContext(database.db, organization.owner);
  const of = { orgSlug: input.orgSlug, projectName: input.projectName };
  await saveReleasePolicy({ ctx, input: { ...of, isGradual: true } });
  const commitSha = "b".repeat(40);
  const { build: next } = await startBuild({ ctx, input: { ...input, commitSha } });
  await succeedBuild(database.db, next.id);
  await saveReleasePolicy({ ctx, input: { ...of, approval } });
  const code = "c".repeat(64);
  const layers = { pythonVersion: "3.12.1", dependencies: "a".repeat(64), code };
  await database.db.update(build).set({ layers }).where(eq(build.id, next.id));
  const sweep = (isStart = false) =>
    rebuildLostLayers({ ctx: worker(), input: { missing: async () => new Set([code]), isStart } });
  return { made, commitSha, sweep };
}

test("RUN-8 CAP-8 a version that is released gradually is built again too, and its release begins again", async () => {
  const { made, commitSha, sweep } = await released("nobody");
  const lost = await sweep();
  expect(lost).toMatchObject({ lost: 1, queued: [expect.any(String)] });
  const [queued = ""] = lost.queued;
  const [row] = await database.db.select().from(build).where(eq(build.id, queued));
  expect(row).toMatchObject({ commitSha, isGradual: true, trigger: "redeploy" });
  expect(await succeedBuild(database.db, queued)).toMatchObject({ outcome: "releasing" });
  expect(await liveCommit(database.db, row?.branchId ?? "")).toBe(commit);
  // The release of the one without files has ended.
  expect(await sweep()).toEqual({ lost: 0, queued: [] });
  await database.db.delete(project).where(eq(project.name, made.project.name));
});

test("RUN-8 CAP-8 where versions need an approval, the one that was built again waits for it, and none takes its place", async () => {
  const { made, sweep } = await released("admin");
  const [queued = ""] = (await sweep()).queued;
  expect(await succeedBuild(database.db, queued)).toMatchObject({ outcome: "waiting" });
  expect(await sweep(true)).toEqual({ lost: 1, queued: [] });
  await database.db.delete(project).where(eq(project.name, made.project.name));
});

test.runIf(isThorough)(
  "RUN-8 a rebuild that fails is tried again with growing pauses and when a worker starts, until one succeeds",
  async () => {
    const { made } = await deployed();
    const tries: string[] = [];
    const tryAt = async (minutes: number, isStart = false) => {
      const [id] = await rebuild(false, { minutes, isStart });
      if (id === undefined) return false;
      tries.push(id);
      await database.db
        .update(auditLog)
        .set({ createdAt: new Date(Date.now() + minutes * 60_000) })
        .where(eq(auditLog.subject, id));
      await fail(id);
      return true;
    };
    expect(await tryAt(0)).toBe(true);
    expect([await tryAt(0.9), await tryAt(1.1), await tryAt(3), await tryAt(3.2)]).toEqual([false, true, false, true]);
    expect([await tryAt(7), await tryAt(7.1, true)]).toEqual([false, true]);
    for (let more = 0; more < 8; more++) expect(await tryAt(10_000 + more * 360.1)).toBe(true);
    expect(await tryAt(10_000 + 7 * 360.1 + 359)).toBe(false);
    expect(new Set(tries).size).toBe(tries.length);
    await database.db.delete(project).where(eq(project.name, made.project.name));
  },
);

test("RUN-8 the server's status says when what is lost is built again, until it has started since", async () => {
  const { input, made } = await deployed();
  const lost = async () => {
    const status = await getServerStatus({ ctx: testContext(database.db, organization.owner), input });
    return status.live?.lost;
  };
  expect(await lost()).toBeNull();
  for (let tries = 0; tries < 3; tries++) {
    const [id = ""] = await rebuild(false, { isStart: true });
    expect(await lost()).toEqual({ nextTryAt: null });
    await fail(id);
  }
  const waitMs = Date.parse((await lost())?.nextTryAt ?? "") - Date.now();
  expect(waitMs).toBeGreaterThan(3.5 * 60_000);
  expect(waitMs).toBeLessThanOrEqual(4 * 60_000);
  const [of] = await database.db.select().from(deployment).where(eq(deployment.buildId, made.id));
  const row = { deploymentId: of?.id ?? "", startedAt: new Date() };
  await database.db.insert(instance).values({ ...row, id: newId(), state: "crashed" });
  expect(await lost()).not.toBeNull();
  await database.db
    .insert(instance)
    .values({ ...row, id: newId(), state: "stopped", startedAt: new Date(Date.now() + 1) });
  expect(await lost()).toBeNull();
  await database.db.delete(project).where(eq(project.name, made.project.name));
});

test("RUN-8 a rebuild installs what the lost build had installed: its versions, or date-pinned ones if those are unknown", async () => {
  const { made } = await deployed();
  const resolution = { pythonVersion: "3.12.1", pins: ["fastmcp==4.0.0"], at: "2026-01-02T03:04:05.000Z" };
  await database.db.update(build).set({ resolution, entrypoint: "then.py" }).where(eq(build.id, made.id));
  const [again = ""] = await rebuild(false);
  expect(await takeBuild({ ctx: worker(), input: { buildId: again } })).toMatchObject({
    resolution,
    entrypoint: "then.py",
  });
  await database.db.delete(build).where(eq(build.id, again));
  const startedAt = new Date("2026-02-03T04:05:06.000Z");
  await database.db.update(build).set({ resolution: null, startedAt }).where(eq(build.id, made.id));
  const [earlier = ""] = await rebuild(false, { isStart: true });
  const taken = await takeBuild({ ctx: worker(), input: { buildId: earlier } });
  expect(taken?.resolution).toEqual({ pythonVersion: "3.12.1", pins: null, at: startedAt.toISOString() });
  await database.db.delete(project).where(eq(project.name, made.project.name));
});

test("RUN-8 while a build of the branch runs, no other is queued: its result replaces what is lost", async () => {
  const { input } = await deployed();
  const ctx = testContext(database.db, organization.owner, { queue: memoryQueue() });
  const { build: next } = await startBuild({ ctx, input: { ...input, commitSha: "b".repeat(40) } });
  expect(await rebuild(false)).toEqual([]);
  await succeedBuild(database.db, next.id);
  expect(await rebuild(false)).toHaveLength(1);
});

test("users can't start it", async () => {
  const call = { ctx: testContext(database.db, organization.owner), input: { missing: async () => new Set<string>() } };
  expect(await refusalCode(rebuildLostLayers(call))).toBe("forbidden");
});
