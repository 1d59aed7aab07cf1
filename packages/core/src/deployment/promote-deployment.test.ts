import { auditLog, branch, build, deployment, project as projectTable } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failBuild, getBuild, startBuild, takeBuild } from "../build/index.ts";
import type { Actor } from "../context/index.ts";
import { referencedLayers } from "../retention/index.ts";
import {
  finishBuild,
  liveCommit,
  memoryQueue,
  refusalCode,
  type SeededOrganization,
  sampleDiagnosis,
  sampleManifest,
  sampleOutcome,
  seedOrganization,
  seedProject,
  shaOf,
  testContext,
} from "../testing/index.ts";
import { createDeployment, getSurfaceChanges, makeDeploymentLive, promoteDeployment } from "./index.ts";

let database: TestDatabase;
let team: SeededOrganization;
let others: SeededOrganization;
beforeAll(async () => {
  database = await createTestDatabase();
  team = await seedOrganization(database.db);
  others = await seedOrganization(database.db);
});
afterAll(() => database.close());

const as = (actor: Actor) => testContext(database.db, actor);
const worker = () => as({ kind: "job", job: "build.run" });
const promote = (deploymentId: string, actor: Actor = team.owner) =>
  promoteDeployment({ ctx: as(actor), input: { deploymentId } });
const show = (buildId: string) => getBuild({ ctx: as(team.owner), input: { buildId } });

async function start(project: { readonly name: string }, name: string, branchName = "main") {
  const input = { orgSlug: team.slug, projectName: project.name, branch: branchName, commitSha: shaOf(name) };
  return (await startBuild({ ctx: as(team.owner), input })).build.id;
}
async function take(buildId: string) {
  const taken = await takeBuild({ ctx: worker(), input: { buildId } });
  return { buildId, attempt: taken?.attempt ?? -1, taken };
}
/** Builds and rolls out a commit, with layers of its own. */
async function deploy(project: { readonly name: string }, name: string, branchName = "main") {
  const buildId = await start(project, name, branchName);
  await finishBuild(database.db, await take(buildId));
  const layers = { pythonVersion: "3.12.1", dependencies: "c".repeat(64), code: shaOf(name).padEnd(64, "d") };
  await database.db.update(build).set({ layers }).where(eq(build.id, buildId));
  const [row] = await database.db.select().from(deployment).where(eq(deployment.buildId, buildId));
  return { buildId, layers, deploymentId: row?.id ?? "" };
}

test("PRJ-14 BLD-10 a preview is promoted: its layers and entrypoint, production's environment, live once it answers", async () => {
  const project = await seedProject(database.db, team);
  await deploy(project, "main");
  const preview = await deploy(project, "better", "feature");
  await database.db
    .update(projectTable)
    .set({ entrypoint: "other.py", requirements: "other.txt" })
    .where(eq(projectTable.id, project.id));
  const queue = memoryQueue();
  const promoted = await promoteDeployment({
    ctx: testContext(database.db, team.owner, { queue }),
    input: { deploymentId: preview.deploymentId },
  });
  expect(promoted).toMatchObject({
    ...{ status: "queued", trigger: "promote", branch: { name: "main" }, commitSha: shaOf("better") },
    ...{ promotedFromBuildId: preview.buildId, entrypoint: "echo.py", requirements: null, startedBy: "Ada" },
  });
  expect(queue.jobs).toHaveLength(1);
  // Nothing is live that has not answered, and the layers are kept while the build waits.
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("main"));
  await database.db.delete(deployment).where(eq(deployment.id, preview.deploymentId));
  expect(await referencedLayers({ ctx: worker() })).toContain(preview.layers.code);
  const { taken, ...fence } = await take(promoted.id);
  expect(taken).toMatchObject({ environment: "production", layers: preview.layers, entrypoint: "echo.py" });
  expect(await finishBuild(database.db, fence)).toMatchObject({ outcome: "live", label: project.name });
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("better"));
  const [entry] = await database.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.projectId, project.id), eq(auditLog.action, "build.promote")));
  expect(entry).toMatchObject({
    ...{ subject: promoted.id, actor: `user:${(team.owner as { userId: string }).userId}` },
    detail: { of: preview.buildId, deployment: preview.deploymentId, commit: shaOf("better") },
  });
});

test("PRJ-14 BLD-2 a promotion that fails leaves production and preview as they are; a rollback follows one that didn't", async () => {
  const project = await seedProject(database.db, team);
  const main = await deploy(project, "main");
  const preview = await deploy(project, "better", "feature");
  const { id: failing } = await promote(preview.deploymentId);
  await failBuild({ ctx: worker(), input: { ...(await take(failing)), diagnosis: sampleDiagnosis } });
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("main"));
  expect((await show(preview.buildId)).deployment).toMatchObject({ isLive: true, isBranch: true });
  await finishBuild(database.db, await take((await promote(preview.deploymentId)).id));
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("better"));
  await makeDeploymentLive({ ctx: as(team.owner), input: { deploymentId: main.deploymentId } });
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("main"));
});

test("PRJ-14 BLD-11 a later push goes live over a promotion, and a slow promotion doesn't overtake it", async () => {
  const project = await seedProject(database.db, team);
  const preview = await deploy(project, "better", "feature");
  const slow = await take((await promote(preview.deploymentId)).id);
  await deploy(project, "later");
  expect(await finishBuild(database.db, slow)).toEqual({ outcome: "overtaken" });
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("later"));
});

test("PRJ-14 a preview of an ended branch can be promoted, as after a merge; what can't says why", async () => {
  const project = await seedProject(database.db, team);
  const production = await deploy(project, "main");
  const preview = await deploy(project, "merged", "gone");
  await database.db.update(branch).set({ endedAt: new Date() }).where(eq(branch.name, "gone"));
  expect((await promote(preview.deploymentId)).commitSha).toBe(shaOf("merged"));
  await expect(promote(production.deploymentId)).rejects.toThrow("Make it live instead");
  const unfinished = await take(await start(project, "unfinished", "other"));
  const made = await createDeployment({ ctx: worker(), input: sampleOutcome(unfinished) });
  await expect(promote(made?.deploymentId ?? "")).rejects.toThrow(/never live/);
});

test("PRJ-14 others and viewers can't promote: not found, and forbidden", async () => {
  const project = await seedProject(database.db, team);
  const { deploymentId } = await deploy(project, "better", "feature");
  expect(await refusalCode(promote(deploymentId, others.owner))).toBe("not_found");
  expect(await refusalCode(promote(deploymentId, await team.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(promote("nonsense"))).toBe("not_found");
});

test("BLD-14 what a build changes for callers: against what is live, what it replaced, and production", async () => {
  const project = await seedProject(database.db, team);
  const withTools = async (buildId: string, ...names: string[]) => {
    const [tool] = sampleManifest().tools;
    const tools = names.map((tool_name) => ({ ...tool, tool_name }));
    await database.db
      .update(build)
      .set({ manifest: { ...sampleManifest(), tools } })
      .where(eq(build.id, buildId));
  };
  const changes = async (buildId: string, against?: "production") => {
    const found = await getSurfaceChanges({ ctx: as(team.owner), input: { buildId, against } });
    const sign = { added: "+", removed: "-", changed: "~" };
    return found && [found.against.is, found.against.commitSha, ...found.changes.map((c) => sign[c.change] + c.name)];
  };
  const first = await deploy(project, "first");
  await withTools(first.buildId, "one", "two");
  expect(await changes(first.buildId)).toBeNull();
  const second = await deploy(project, "second");
  await withTools(second.buildId, "two", "three");
  expect(await changes(second.buildId)).toEqual(["before", shaOf("first"), "+three", "-one"]);
  expect(await changes(first.buildId)).toEqual(["live", shaOf("second"), "+one", "-three"]);
  const preview = await deploy(project, "preview", "feature");
  await withTools(preview.buildId, "two", "four");
  expect(await changes(preview.buildId)).toEqual(["live", shaOf("second"), "+four", "-three"]);
  const next = await deploy(project, "next", "feature");
  await withTools(next.buildId, "two", "four");
  expect(await changes(next.buildId)).toEqual(["before", shaOf("preview")]);
  expect(await changes(next.buildId, "production")).toEqual(["live", shaOf("second"), "+four", "-three"]);
  // A server whose lists can't be read has nothing to be compared with.
  await database.db.update(build).set({ manifest: null }).where(eq(build.id, second.buildId));
  expect(await changes(first.buildId)).toBeNull();
  const read = (actor: Actor) => getSurfaceChanges({ ctx: as(actor), input: { buildId: first.buildId } });
  expect(await refusalCode(read(others.owner))).toBe("not_found");
});
