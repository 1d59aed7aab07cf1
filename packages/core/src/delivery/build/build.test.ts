import * as schema from "@towpath/db/schema";
import { auditLog, build, buildLog } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { asc, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import {
  sampleDiagnosis as diagnosis,
  finishBuild,
  liveCommit,
  memoryQueue,
  openOrganization,
  refusal,
  refusalCode,
  sampleOutcome,
  seedOrganization,
  seedProject,
  shaOf,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import { createDeployment, goLive } from "../deployment/index.ts";
import type { BuildWarning } from "./build-contract.schema.ts";
import {
  failBuild,
  getBuild,
  keepBuild,
  listBuilds,
  redeployBuild,
  releaseBuild,
  requeueLostBuilds,
  startBuild,
  takeBuild,
  unlessBuilding,
} from "./index.ts";
import { readDiagnosis } from "./stored-build.ts";

const database = openTestDatabase();
const organization = openOrganization(database);
const others = openOrganization(database);

const as = (actor: Actor, queue = memoryQueue()) => testContext(database.db, actor, { queue });
const worker = () => as({ kind: "job", job: "build.run" });
const start = (project: { name: string }, name: string, more: { branch?: string } = {}) =>
  startBuild({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, projectName: project.name, commitSha: shaOf(name), trigger: "cli", ...more },
  });
const statusOf = async (buildId: string) =>
  (await database.db.select({ status: build.status }).from(build).where(eq(build.id, buildId)))[0]?.status;

test("BLD-1 dispatch queues a build with its job, and cancels queued builds of the branch", async () => {
  const project = await seedProject(database.db, organization);
  const queue = memoryQueue();
  const input = { orgSlug: organization.slug, projectName: project.name, commitSha: shaOf("a") };
  const first = await startBuild({ ctx: as(organization.owner, queue), input });
  expect(first).toMatchObject({ created: true, build: { status: "queued", branch: { name: "main" } } });
  expect(queue.jobs.map((job) => job.key)).toEqual([organization.id]);
  const preview = await start(project, "p", { branch: "fix" });
  const second = await start(project, "b");
  expect(await statusOf(first.build.id)).toBe("canceled");
  expect(await statusOf(preview.build.id)).toBe("queued");
  expect(await statusOf(second.build.id)).toBe("queued");
  const [line] = await database.db.select().from(buildLog).where(eq(buildLog.buildId, first.build.id));
  expect(line).toMatchObject({ line: 1, kind: "warning", text: expect.stringContaining("newer build") });
  expect(await database.db.$count(auditLog, eq(auditLog.subject, second.build.id))).toBe(1);
});

test("BLD-12 the same commit is not built twice unless it failed or the settings changed", async () => {
  const project = await seedProject(database.db, organization);
  const first = await start(project, "a");
  expect(await start(project, "a")).toMatchObject({ created: false, build: { id: first.build.id } });
  await succeedBuild(database.db, first.build.id);
  expect((await start(project, "a")).created).toBe(false);
  const second = await start(project, "b");
  const taken = await takeBuild({ ctx: worker(), input: { buildId: second.build.id } });
  await failBuild({ ctx: worker(), input: { buildId: second.build.id, attempt: taken?.attempt ?? 0, diagnosis } });
  expect((await start(project, "b")).created).toBe(true);
  await database.db.execute(sql`UPDATE project SET entrypoint = 'other.py' WHERE id = ${project.id}`);
  expect((await start(project, "b")).created).toBe(true);
});

test("BLD-12 concurrent dispatches of one commit make one build", async () => {
  const project = await seedProject(database.db, organization);
  const all = await Promise.all(Array.from({ length: 8 }, () => start(project, "same")));
  expect(new Set(all.map((each) => each.build.id)).size).toBe(1);
  expect(all.filter((each) => each.created)).toHaveLength(1);
});

test("only members of the organization can start builds", async () => {
  const project = await seedProject(database.db, organization);
  const input = { orgSlug: organization.slug, projectName: project.name, commitSha: shaOf("a") };
  expect(await refusalCode(startBuild({ ctx: as(await organization.join("viewer")), input }))).toBe("forbidden");
  expect(await refusalCode(startBuild({ ctx: as(others.owner), input }))).toBe("not_found");
  const wrong = startBuild({ ctx: as(organization.owner), input: { ...input, commitSha: "main" } });
  expect((await refusal(wrong)).fields).toHaveProperty("commitSha");
});

test("BLD-1 of many workers one takes a build; an outdated attempt changes nothing", async () => {
  const project = await seedProject(database.db, organization);
  const { build: queued } = await start(project, "a");
  const input = { buildId: queued.id };
  const taken = (await Promise.all(Array.from({ length: 8 }, () => takeBuild({ ctx: worker(), input })))).filter(
    Boolean,
  );
  expect(taken).toHaveLength(1);
  expect(taken[0]).toMatchObject({
    attempt: 1,
    entrypoint: "echo.py",
    environment: "production",
    serverUrl: `http://localhost:8080/${project.name}`,
    source: { kind: "github", repositoryId: project.repositoryId },
  });
  expect(await keepBuild({ ctx: worker(), input: { ...input, attempt: 1 } })).toBe(true);
  expect(await releaseBuild({ ctx: worker(), input: { ...input, attempt: 1 } })).toBe(true);
  const again = await takeBuild({ ctx: worker(), input });
  expect(again?.attempt).toBe(2);
  const stale = { ...input, attempt: 1 };
  expect(await keepBuild({ ctx: worker(), input: stale })).toBe(false);
  expect(await releaseBuild({ ctx: worker(), input: stale })).toBe(false);
  expect(await failBuild({ ctx: worker(), input: { ...stale, diagnosis } })).toBe(false);
  expect(await finishBuild(database.db, stale)).toEqual({ outcome: "lost" });
  expect(await goLive({ ctx: worker(), input: stale })).toEqual({ outcome: "lost" });
  expect(await statusOf(queued.id)).toBe("building");
  expect(await finishBuild(database.db, { ...input, attempt: 2 })).toMatchObject({ outcome: "live" });
  expect(await takeBuild({ ctx: worker(), input })).toBeNull();
  expect(await takeBuild({ ctx: worker(), input: { buildId: "x" } })).toBeNull();
  expect(await failBuild({ ctx: worker(), input: { ...input, attempt: 2, diagnosis } })).toBe(false);
});

test("BLD-2 a failed build names its cause and changes nothing that is live", async () => {
  const project = await seedProject(database.db, organization);
  const good = await start(project, "good");
  await succeedBuild(database.db, good.build.id);
  const bad = await start(project, "bad");
  await takeBuild({ ctx: worker(), input: { buildId: bad.build.id } });
  const fence = { buildId: bad.build.id, attempt: 1 };
  // As far as it may have come: a deployment that is not live.
  await createDeployment({ ctx: worker(), input: sampleOutcome(fence) });
  expect(await failBuild({ ctx: worker(), input: { ...fence, diagnosis, timings: { install: 5 } } })).toBe(true);
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("good"));
  const shown = await getBuild({ ctx: as(organization.owner), input: { buildId: bad.build.id } });
  expect(shown).toMatchObject({ status: "failed", diagnosis, timings: { install: 5 } });
  expect(shown.deployment?.isLive).toBe(false);
  expect(shown.endedAt).not.toBeNull();
});

test("BLD-2 PRJ-3 a build stored by another version can still be read, without its unknown values", async () => {
  const project = await seedProject(database.db, organization);
  const { build: queued } = await start(project, "a");
  const known: BuildWarning = { code: "list_failed", title: "No list", detail: "d", remedy: "r" };
  await database.db
    .update(build)
    .set({
      status: "failed",
      diagnosis: {
        ...diagnosis,
        code: "code_of_tomorrow",
        phase: "phase_of_tomorrow",
        action: { kind: "action_of_tomorrow" },
      },
      warnings: [{ ...known, code: "warning_of_tomorrow" }, known],
      manifest: { tools: "of yesterday" },
      timings: { fetch: 1, phase_of_tomorrow: 2 },
      layers: { pythonVersion: "3.12.1" },
    })
    .where(eq(build.id, queued.id));
  const shown = await getBuild({ ctx: as(organization.owner), input: { buildId: queued.id } });
  const fallback = { code: "internal_error", phase: "fetch", action: { kind: "rebuild" } };
  expect(shown.diagnosis).toEqual({ ...diagnosis, ...fallback });
  // Until 2026-11 an action was called a fix, and a failure that only the code ends had none.
  const { action: _, ...earlier } = diagnosis;
  const fix = { kind: "variables", names: ["KEY"] } as const;
  expect(readDiagnosis({ ...earlier, fix })).toEqual({ ...earlier, action: fix });
  expect(readDiagnosis(earlier)).toEqual({ ...earlier, action: { kind: "rebuild" } });
  expect(shown).toMatchObject({ warnings: [known], manifest: null, timings: { fetch: 1 }, pythonVersion: null });
});

test("RUN-8 a build whose worker has ended is queued again at once, one of another worker only without a heartbeat", async () => {
  const project = await seedProject(database.db, organization);
  const first = await start(project, "ended");
  await takeBuild({ ctx: worker(), input: { buildId: first.build.id, worker: "ended" } });
  const second = await start(await seedProject(database.db, organization), "goes on");
  await takeBuild({ ctx: worker(), input: { buildId: second.build.id, worker: "goes on" } });
  const queue = memoryQueue();
  const ctx = as({ kind: "job", job: "sweep" }, queue);
  const asked: string[] = [];
  const hasEnded = async (name: string) => {
    asked.push(name);
    return name === "ended";
  };
  const { requeued } = await requeueLostBuilds({ ctx, input: { staleMs: 20_000, hasEnded } });
  expect(requeued).toContain(first.build.id);
  expect(requeued).not.toContain(second.build.id);
  expect(asked.toSorted()).toEqual(["ended", "goes on"]);
  expect(queue.jobs.map((job) => job.key)).toContain(organization.id);
  const again = await takeBuild({ ctx: worker(), input: { buildId: first.build.id, worker: "goes on" } });
  expect(again?.attempt).toBe(2);
  const { requeued: none } = await requeueLostBuilds({ ctx, input: { staleMs: 20_000, hasEnded } });
  expect(none).not.toContain(first.build.id);
});

test("RUN-8 a build whose worker was lost is queued again with its job, at most three times", async () => {
  const project = await seedProject(database.db, organization);
  const { build: queued } = await start(project, "a");
  const input = { buildId: queued.id };
  const queue = memoryQueue();
  const ctx = as({ kind: "job", job: "sweep" }, queue);
  const grow = () =>
    database.db.execute(sql`UPDATE build SET updated_at = now() - interval '21 s' WHERE id = ${queued.id}`);
  for (let attempt = 1; attempt <= 3; attempt++) {
    expect((await takeBuild({ ctx: worker(), input }))?.attempt).toBe(attempt);
    expect((await requeueLostBuilds({ ctx, input: { staleMs: 20_000 } })).requeued).not.toContain(queued.id);
    await grow();
    if (attempt < 3) {
      expect((await requeueLostBuilds({ ctx, input: { staleMs: 20_000 } })).requeued).toContain(queued.id);
      expect(queue.jobs.map((job) => job.key)).toContain(organization.id);
    }
  }
  expect((await requeueLostBuilds({ ctx, input: { staleMs: 20_000 } })).failed).toContain(queued.id);
  const shown = await getBuild({ ctx: as(organization.owner), input });
  expect(shown).toMatchObject({ status: "failed", diagnosis: { code: "internal_error" } });
});

test("PRJ-2 builds are listed newest first, in pages, with a next page only if there are more", async () => {
  const project = await seedProject(database.db, organization);
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.unshift((await start(project, name)).build.id);
  const list = (more: { limit?: number; offset?: number } = {}) =>
    listBuilds({
      ctx: as(organization.owner),
      input: { orgSlug: organization.slug, projectName: project.name, ...more },
    });
  const all = await list();
  expect(all.data.map((each) => each.id)).toEqual(ids);
  expect(all.hasMore).toBe(false);
  expect((await list({ limit: 3 })).hasMore).toBe(false);
  const page = await list({ limit: 2 });
  expect([page.data.map((each) => each.id), page.hasMore]).toEqual([ids.slice(0, 2), true]);
  const last = await list({ limit: 2, offset: 2 });
  expect([last.data.map((each) => each.id), last.hasMore]).toEqual([ids.slice(2), false]);
  expect(await refusalCode(list({ limit: 101 }))).toBe("invalid_input");
  expect(await refusalCode(list({ offset: -1 }))).toBe("invalid_input");
  const foreign = listBuilds({
    ctx: as(others.owner),
    input: { orgSlug: organization.slug, projectName: project.name },
  });
  expect(await refusalCode(foreign)).toBe("not_found");
});

test("PRJ-3 only its organization finds a build; the error is the same as for one that does not exist", async () => {
  const project = await seedProject(database.db, organization);
  const { build: queued } = await start(project, "a");
  const viewer = await organization.join("viewer");
  expect(await getBuild({ ctx: as(viewer), input: { buildId: queued.id } })).toMatchObject({
    id: queued.id,
    commitMessage: "Commit a",
    prNumber: null,
    githubRepository: { id: project.repositoryId, defaultBranch: "main" },
    project: { authMode: "towpath-cloud", defaultBranch: "main", isPublic: false },
  });
  const foreign = await refusal(getBuild({ ctx: as(others.owner), input: { buildId: queued.id } }));
  const absent = await refusal(
    getBuild({ ctx: as(others.owner), input: { buildId: "0192a000-0000-7000-8000-0000000000ff" } }),
  );
  const noId = await refusal(getBuild({ ctx: as(others.owner), input: { buildId: "1 OR 1=1" } }));
  for (const error of [foreign, absent, noId]) {
    expect([error.code, error.message]).toEqual(["not_found", absent.message]);
  }
});

test("PRJ-13 a redeploy builds the same commit again as the newest, and goes live over a later one", async () => {
  const project = await seedProject(database.db, organization);
  const first = await start(project, "a");
  await succeedBuild(database.db, first.build.id);
  const second = await start(project, "b");
  await succeedBuild(database.db, second.build.id);
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("b"));
  const again = await redeployBuild({ ctx: as(organization.owner), input: { buildId: first.build.id } });
  expect(again).toMatchObject({ trigger: "redeploy", commitSha: shaOf("a"), status: "queued" });
  await succeedBuild(database.db, again.id);
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("a"));
  const rows = await database.db
    .select()
    .from(build)
    .where(eq(build.projectId, project.id))
    .orderBy(asc(build.sequence));
  expect(rows.map((row) => row.status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  const viewer = await organization.join("viewer");
  const input = { buildId: first.build.id };
  expect(await refusalCode(redeployBuild({ ctx: as(viewer), input }))).toBe("forbidden");
  expect(await refusalCode(redeployBuild({ ctx: as(others.owner), input }))).toBe("not_found");
});

test("users can't run verbs of the platform", async () => {
  const ctx = as(organization.owner);
  const fence = { buildId: "0192a000-0000-7000-8000-0000000000ff", attempt: 1 };
  const refused = await Promise.all(
    [
      takeBuild({ ctx, input: fence }),
      keepBuild({ ctx, input: fence }),
      releaseBuild({ ctx, input: fence }),
      failBuild({ ctx, input: { ...fence, diagnosis } }),
      requeueLostBuilds({ ctx, input: { staleMs: 1 } }),
      createDeployment({ ctx, input: sampleOutcome(fence) }),
      goLive({ ctx, input: fence }),
    ].map(refusalCode),
  );
  expect(new Set(refused)).toEqual(new Set(["forbidden"]));
});

test("PRJ-2 LOG-5 a list of builds does not read their manifests", async () => {
  const project = await seedProject(database.db, organization);
  const { build: made } = await start(project, "a");
  await succeedBuild(database.db, made.id);
  const asked: string[] = [];
  const db = drizzle(database.pool, { schema, casing: "snake_case", logger: { logQuery: (text) => asked.push(text) } });
  const ctx = testContext(db, organization.owner);
  await getBuild({ ctx, input: { buildId: made.id } });
  expect(asked.join()).toContain('"manifest"');
  asked.length = 0;
  const { data } = await listBuilds({ ctx, input: { orgSlug: organization.slug, projectName: project.name } });
  expect(data.map((each) => each.id)).toEqual([made.id]);
  expect(asked.join()).toContain('from "build"');
  expect(asked.join()).not.toContain('"manifest"');
});

test("LOG-6 no build of an organization starts while its build files are removed, and none are removed while one runs", async () => {
  const owner = await seedOrganization(database.db);
  const project = await seedProject(database.db, owner);
  const { build } = await startBuild({
    ctx: testContext(database.db, owner.owner),
    input: { orgSlug: owner.slug, projectName: project.name, commitSha: shaOf("cache") },
  });
  const input = { cacheOwnerId: owner.id };
  const [removing, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const events: string[] = [];
  const removal = unlessBuilding({ ctx: worker(), input }, async () => {
    removing.resolve();
    await removed.promise;
    events.push("removed");
    return true;
  });
  await removing.promise;
  const taking = takeBuild({ ctx: worker(), input: { buildId: build.id } }).then(() => events.push("taken"));
  const isWaiting = async () => {
    const { rows } = await database.pool.query(
      `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows.length > 0;
  };
  await expect.poll(isWaiting, { timeout: 20_000 }).toBe(true);
  removed.resolve();
  expect(await removal).toBe(true);
  await taking;
  expect(events).toEqual(["removed", "taken"]);
  expect(await unlessBuilding({ ctx: worker(), input }, async () => true)).toBeNull();
});
