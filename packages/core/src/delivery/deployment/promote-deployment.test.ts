import { auditLog, branch, build, deployment, project as projectTable } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { referencedLayers } from "../../operations/retention/index.ts";
import {
  finishBuild,
  liveCommit,
  memoryQueue,
  refusalCode,
  sampleDiagnosis,
  sampleManifest,
  sampleOutcome,
  seedOrganization,
  shaOf,
} from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { failBuild, getBuild, startBuild, takeBuild } from "../build/index.ts";
import { getSurfaceChanges } from "../surface/index.ts";
import { createDeployment, makeDeploymentLive, promoteDeployment } from "./index.ts";

const suite = openProjectSuite();
const strangers = async () => (await seedOrganization(suite.database.db)).owner;
const worker = () => suite.as({ kind: "job", job: "build.run" });
const promote = (deploymentId: string, actor: Actor = suite.organization.owner) =>
  promoteDeployment({ ctx: suite.as(actor), input: { deploymentId } });
const show = (buildId: string) => getBuild({ ctx: suite.as(suite.organization.owner), input: { buildId } });

async function start(name: string, branchName = "main") {
  const input = { ...suite.at(), branch: branchName, commitSha: shaOf(name) };
  return (await startBuild({ ctx: suite.as(suite.organization.owner), input })).build.id;
}
async function take(buildId: string) {
  const taken = await takeBuild({ ctx: worker(), input: { buildId } });
  return { buildId, attempt: taken?.attempt ?? -1, taken };
}
/** Builds and rolls out a commit, with layers of its own. */
async function deploy(name: string, branchName = "main") {
  const buildId = await start(name, branchName);
  await finishBuild(suite.database.db, await take(buildId));
  const layers = { pythonVersion: "3.12.1", dependencies: "c".repeat(64), code: shaOf(name).padEnd(64, "d") };
  await suite.database.db.update(build).set({ layers }).where(eq(build.id, buildId));
  const [row] = await suite.database.db.select().from(deployment).where(eq(deployment.buildId, buildId));
  return { buildId, layers, deploymentId: row?.id ?? "" };
}

test("PRJ-14 BLD-10 a preview is promoted: its layers, entrypoint and arguments, production's environment, live once it answers", async () => {
  const { project } = suite;
  await deploy("main");
  const preview = await deploy("better", "feature");
  await suite.database.db
    .update(projectTable)
    .set({ entrypoint: "other.py", arguments: ["--other"], requirements: "other.txt" })
    .where(eq(projectTable.id, project.id));
  // The preview's build has found what it starts (BLD-16).
  const program = { entrypoint: "found.py", arguments: ["--db", "a b"] };
  await suite.database.db.update(build).set({ entrypoint: "", program }).where(eq(build.id, preview.buildId));
  const queue = memoryQueue();
  const promoted = await promoteDeployment({
    ctx: suite.as(suite.organization.owner, { queue }),
    input: { deploymentId: preview.deploymentId },
  });
  expect(promoted).toMatchObject({
    status: "queued",
    trigger: "promote",
    branch: { name: "main" },
    commitSha: shaOf("better"),
    promotedFromBuildId: preview.buildId,
    ...program,
    requirements: null,
    startedBy: "Ada",
    findsEntrypoint: true,
  });
  expect(queue.jobs).toHaveLength(1);
  // Nothing is live that has not answered, and the layers are kept while the build waits.
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("main"));
  await suite.database.db.delete(deployment).where(eq(deployment.id, preview.deploymentId));
  expect(await referencedLayers({ ctx: worker() })).toContain(preview.layers.code);
  const { taken, ...fence } = await take(promoted.id);
  expect(taken).toMatchObject({ environment: "production", layers: preview.layers, ...program });
  expect(await finishBuild(suite.database.db, fence)).toMatchObject({ outcome: "live", label: project.name });
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("better"));
  const [entry] = await suite.database.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.projectId, project.id), eq(auditLog.action, "build.promote")));
  expect(entry).toMatchObject({
    subject: promoted.id,
    actor: `user:${(suite.organization.owner as { userId: string }).userId}`,
    detail: { of: preview.buildId, deployment: preview.deploymentId, commit: shaOf("better") },
  });
});

test("PRJ-14 BLD-2 a promotion that fails leaves production and preview as they are; a rollback follows one that didn't", async () => {
  const { project } = suite;
  const main = await deploy("main");
  const preview = await deploy("better", "feature");
  const { id: failing } = await promote(preview.deploymentId);
  await failBuild({ ctx: worker(), input: { ...(await take(failing)), diagnosis: sampleDiagnosis } });
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("main"));
  expect((await show(preview.buildId)).deployment).toMatchObject({ isLive: true, isBranch: true });
  await finishBuild(suite.database.db, await take((await promote(preview.deploymentId)).id));
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("better"));
  await makeDeploymentLive({ ctx: suite.as(suite.organization.owner), input: { deploymentId: main.deploymentId } });
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("main"));
});

test("PRJ-14 BLD-11 a later push goes live over a promotion, and a slow promotion doesn't overtake it", async () => {
  const { project } = suite;
  const preview = await deploy("better", "feature");
  const slow = await take((await promote(preview.deploymentId)).id);
  await deploy("later");
  expect(await finishBuild(suite.database.db, slow)).toEqual({ outcome: "overtaken" });
  expect(await liveCommit(suite.database.db, project.branchId)).toBe(shaOf("later"));
});

test("PRJ-14 a preview of an ended branch can be promoted, as after a merge; what can't says why", async () => {
  const production = await deploy("main");
  const preview = await deploy("merged", "gone");
  await suite.database.db.update(branch).set({ endedAt: new Date() }).where(eq(branch.name, "gone"));
  expect((await promote(preview.deploymentId)).commitSha).toBe(shaOf("merged"));
  await expect(promote(production.deploymentId)).rejects.toThrow("Make it live instead");
  const unfinished = await take(await start("unfinished", "other"));
  const made = await createDeployment({ ctx: worker(), input: sampleOutcome(unfinished) });
  await expect(promote(made?.deploymentId ?? "")).rejects.toThrow(/never live/);
});

test("PRJ-14 others and viewers can't promote: not found, and forbidden", async () => {
  const { deploymentId } = await deploy("better", "feature");
  expect(await refusalCode(promote(deploymentId, await strangers()))).toBe("not_found");
  expect(await refusalCode(promote(deploymentId, await suite.organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(promote("nonsense"))).toBe("not_found");
});

test("BLD-14 what a build changes for callers: against what is live, what it replaced, and production", async () => {
  const withTools = async (buildId: string, ...names: string[]) => {
    const [tool] = sampleManifest().tools;
    const tools = names.map((tool_name) => ({ ...tool, tool_name }));
    await suite.database.db
      .update(build)
      .set({ manifest: { ...sampleManifest(), tools } })
      .where(eq(build.id, buildId));
  };
  const changes = async (buildId: string, against?: "production") => {
    const found = await getSurfaceChanges({ ctx: suite.as(suite.organization.owner), input: { buildId, against } });
    const sign = { added: "+", removed: "-", changed: "~" };
    return found && [found.against.is, found.against.commitSha, ...found.changes.map((c) => sign[c.change] + c.name)];
  };
  const first = await deploy("first");
  await withTools(first.buildId, "one", "two");
  expect(await changes(first.buildId)).toBeNull();
  const second = await deploy("second");
  await withTools(second.buildId, "two", "three");
  expect(await changes(second.buildId)).toEqual(["before", shaOf("first"), "+three", "-one"]);
  expect(await changes(first.buildId)).toEqual(["live", shaOf("second"), "+one", "-three"]);
  const preview = await deploy("preview", "feature");
  await withTools(preview.buildId, "two", "four");
  expect(await changes(preview.buildId)).toEqual(["live", shaOf("second"), "+four", "-three"]);
  const next = await deploy("next", "feature");
  await withTools(next.buildId, "two", "four");
  expect(await changes(next.buildId)).toEqual(["before", shaOf("preview")]);
  expect(await changes(next.buildId, "production")).toEqual(["live", shaOf("second"), "+four", "-three"]);
  // A server whose lists can't be read has nothing to be compared with.
  await suite.database.db.update(build).set({ manifest: null }).where(eq(build.id, second.buildId));
  expect(await changes(first.buildId)).toBeNull();
  const read = (actor: Actor) => getSurfaceChanges({ ctx: suite.as(actor), input: { buildId: first.buildId } });
  expect(await refusalCode(read(await strangers()))).toBe("not_found");
});
