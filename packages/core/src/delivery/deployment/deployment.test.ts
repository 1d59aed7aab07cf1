import { auditLog, branch, build, deployment, recordedAnswers, route } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { Actor } from "../../context/index.ts";
import { lockLabels } from "../../projects/label/index.ts";
import {
  finishBuild,
  liveCommit,
  openOrganization,
  refusalCode,
  sampleDiagnosis,
  sampleOutcome,
  seedExternalRoute,
  seedProject,
  shaOf,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import { failBuild, startBuild, takeBuild } from "../build/index.ts";
import {
  createDeployment,
  getBuildByDeployment,
  getDeployment,
  getLastSuccessfulBuild,
  getLastSuccessfulBuildByBranch,
  getMostRecentDeployment,
  listBranchesWithDeployments,
  withdrawDeployment,
} from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);
const others = openOrganization(database);

const as = (actor: Actor) => testContext(database.db, actor);
const worker = () => as({ kind: "job", job: "build.run" });
async function start(project: { name: string }, name: string, branchName = "main") {
  const input = { orgSlug: organization.slug, projectName: project.name, branch: branchName, commitSha: shaOf(name) };
  return (await startBuild({ ctx: as(organization.owner), input })).build.id;
}
async function take(buildId: string) {
  const taken = await takeBuild({ ctx: worker(), input: { buildId } });
  return { buildId, attempt: taken?.attempt ?? -1 };
}
const routes = (projectId: string) => database.db.select().from(route).where(eq(route.projectId, projectId));

test("BLD-10 a deployment whose build goes on without it is gone, unless another worker has the build or it is live", async () => {
  const project = await seedProject(database.db, organization);
  const fence = await take(await start(project, "withdrawn"));
  const deployments = () => database.db.select().from(deployment).where(eq(deployment.projectId, project.id));
  await createDeployment({ ctx: worker(), input: sampleOutcome(fence) });
  const withdraw = (of = fence) => withdrawDeployment({ ctx: worker(), input: of });
  // Its server is another worker's.
  expect(await withdraw({ ...fence, attempt: fence.attempt + 1 })).toBe(false);
  expect(await deployments()).toHaveLength(1);
  expect(await withdraw()).toBe(true);
  expect(await deployments()).toEqual([]);
  const [left] = await database.db.select().from(build).where(eq(build.id, fence.buildId));
  expect(left).toMatchObject({ status: "building", layers: null, program: null });
  expect(await finishBuild(database.db, fence)).toMatchObject({ outcome: "live" });
  expect(await withdraw()).toBe(false);
  expect(await deployments()).toHaveLength(1);
  const canceled = await take(await start(project, "canceled"));
  await createDeployment({ ctx: worker(), input: sampleOutcome(canceled) });
  await database.db.update(build).set({ status: "canceled" }).where(eq(build.id, canceled.buildId));
  expect(await withdraw(canceled)).toBe(true);
  expect(await refusalCode(withdrawDeployment({ ctx: as(organization.owner), input: fence }))).toBe("forbidden");
});

test("BLD-11 a slower older build never overtakes a newer one", async () => {
  const project = await seedProject(database.db, organization);
  const older = await take(await start(project, "old"));
  const newer = await take(await start(project, "new"));
  expect(await finishBuild(database.db, newer)).toMatchObject({
    outcome: "live",
    url: `http://localhost:8080/${project.name}/mcp`,
  });
  expect(await finishBuild(database.db, older)).toEqual({ outcome: "overtaken" });
  expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("new"));
  const audits = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.projectId, project.id))
    .orderBy(auditLog.id);
  const live = audits.filter((row) => row.action === "deployment.go-live");
  expect(live).toHaveLength(1);
  expect(live[0]).toMatchObject({ actor: "job:build.run", detail: { commit: shaOf("new"), branch: "main" } });
});

test.runIf(isThorough)(
  "BLD-11 of two builds that end at the same time the newer one is live, in either order",
  async () => {
    for (let round = 0; round < 10; round++) {
      const project = await seedProject(database.db, organization);
      const older = await take(await start(project, "old"));
      const newer = await take(await start(project, "new"));
      const pair = round % 2 ? [older, newer] : [newer, older];
      await Promise.all(pair.map((fence) => finishBuild(database.db, fence)));
      expect(await liveCommit(database.db, project.branchId)).toBe(shaOf("new"));
      expect(await routes(project.id)).toHaveLength(1);
    }
  },
);

test("BLD-7 GW-1 production has the project's name as label, previews have name and branch", async () => {
  const project = await seedProject(database.db, organization, { name: "Weather-One" });
  await succeedBuild(database.db, await start(project, "a"));
  await succeedBuild(database.db, await start(project, "b", "fix-typo"));
  expect((await routes(project.id)).map((row) => row.label).toSorted()).toEqual([
    "weather-one",
    "weather-one-fix-typo",
  ]);
  const rows = await database.db.select().from(deployment).where(eq(deployment.projectId, project.id));
  expect(rows.map((row) => [row.environment, row.slug]).toSorted()).toEqual([
    ["preview", "weather-one-fix-typo"],
    ["production", "weather-one"],
  ]);
});

test("VAL-1 a preview whose label is another project's name gets one with a hash", async () => {
  const project = await seedProject(database.db, organization, { name: "river-boat" });
  await seedProject(database.db, others, { name: "River-Boat-Next" });
  const live = await succeedBuild(database.db, await start(project, "a", "next"));
  expect(live).toMatchObject({ outcome: "live", label: expect.stringMatching(/^river-boat-next-[0-9a-z]{6}$/) });
  // The other one takes its name, as if nothing was there.
  const again = await succeedBuild(database.db, await start(project, "b", "next"));
  expect(again).toMatchObject({ outcome: "live", label: live.outcome === "live" ? live.label : "" });
});

test("VAL-1 a preview whose label leads to an external server gets one with a hash", async () => {
  const project = await seedProject(database.db, organization, { name: "delta-mill" });
  const external = await seedProject(database.db, others);
  await seedExternalRoute(database.db, external.id, "delta-mill-east");
  const live = await finishBuild(database.db, await take(await start(project, "taken", "east")));
  expect(live).toMatchObject({ outcome: "live", label: expect.stringMatching(/^delta-mill-east-[0-9a-z]{6}$/) });
});

test("VAL-1 a preview whose label was taken during the build gets one with a hash", async () => {
  const project = await seedProject(database.db, organization, { name: "canal-lock" });
  const fence = await take(await start(project, "a", "west"));
  await seedProject(database.db, others, { name: "canal-lock-west" });
  const live = await finishBuild(database.db, fence);
  expect(live).toMatchObject({ outcome: "live", label: expect.stringMatching(/^canal-lock-west-[0-9a-z]{6}$/) });
  const [row] = await database.db.select().from(deployment).where(eq(deployment.projectId, project.id));
  expect(row?.slug).toBe(live.outcome === "live" ? live.label : "");
});

test("BLD-10 a build's result is stored without waiting for the lock on all labels", async () => {
  const project = await seedProject(database.db, organization);
  const fence = await take(await start(project, "a"));
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: hold } = Promise.withResolvers<void>();
  const holder = database.db.transaction(async (tx) => {
    await lockLabels(tx);
    hold();
    await released;
  });
  await locked;
  const created = createDeployment({ ctx: worker(), input: sampleOutcome(fence) });
  const manifestOf = async () =>
    (await database.db.select({ manifest: build.manifest }).from(build).where(eq(build.id, fence.buildId)))[0]
      ?.manifest;
  await expect.poll(manifestOf, { timeout: 10_000 }).toMatchObject({ server: { name: "echo" } });
  expect(await database.db.$count(deployment, eq(deployment.buildId, fence.buildId))).toBe(0);
  release();
  await holder;
  expect(await created).toMatchObject({ label: project.name });
});

test("GW-12 what a build has recorded for gateways is stored with it, once, and not for an attempt that was lost", async () => {
  const project = await seedProject(database.db, organization);
  const fence = await take(await start(project, "a"));
  const recording = { answers: { texts: ['"result":{}'], conversations: [] }, variesBy: "tools/list" };
  const stored = () => database.db.select().from(recordedAnswers).where(eq(recordedAnswers.buildId, fence.buildId));
  const create = (attempt: number) =>
    createDeployment({ ctx: worker(), input: { ...sampleOutcome({ ...fence, attempt }), recording } });
  expect(await create(fence.attempt + 1)).toBeNull();
  expect(await stored()).toEqual([]);
  await create(fence.attempt);
  await create(fence.attempt);
  const [row, ...others] = await stored();
  expect(others).toEqual([]);
  expect(JSON.parse(row?.answers ?? "")).toEqual(recording.answers);
  expect(row).toMatchObject({ bytes: row?.answers.length, variesBy: "tools/list" });
});

test("BLD-7 a build that ends after its branch does not go live", async () => {
  const project = await seedProject(database.db, organization);
  const fence = await take(await start(project, "a", "gone"));
  await database.db.update(branch).set({ endedAt: new Date() }).where(eq(branch.name, "gone"));
  expect(await finishBuild(database.db, fence)).toEqual({ outcome: "branch-ended" });
  expect(await routes(project.id)).toEqual([]);
});

test("PRJ-13 PRJ-2 deployments and builds by branch, by deployment, and the newest", async () => {
  const project = await seedProject(database.db, organization);
  const name = { orgSlug: organization.slug, projectName: project.name };
  const ctx = as(await organization.join("viewer"));
  expect(await getMostRecentDeployment({ ctx, input: name })).toBeNull();
  expect(await getLastSuccessfulBuild({ ctx, input: name })).toBeNull();
  const preview = await start(project, "p", "fix");
  await succeedBuild(database.db, preview);
  expect(await getLastSuccessfulBuild({ ctx, input: name })).toMatchObject({ id: preview });
  const first = await start(project, "a");
  await succeedBuild(database.db, first);
  const second = await start(project, "b");
  await succeedBuild(database.db, second);
  const failed = await take(await start(project, "c"));
  await failBuild({ ctx: worker(), input: { ...failed, diagnosis: sampleDiagnosis } });

  const last = await getLastSuccessfulBuild({ ctx, input: name });
  expect(last).toMatchObject({ id: second, deployment: { isLive: true, isProd: true, isBranch: false } });
  expect(last?.manifest).toMatchObject({ server: { name: "echo" } });
  expect(last?.pythonVersion).toBe("3.12.1");
  const branches = await listBranchesWithDeployments({ ctx, input: name });
  expect(branches).toMatchObject([
    {
      name: "main",
      isDefault: true,
      latestBuild: { id: failed.buildId, status: "failed" },
      deployment: { isLive: true, url: `http://localhost:8080/${project.name}/mcp` },
    },
    { name: "fix", isDefault: false, latestBuild: { id: preview }, deployment: { slug: `${project.name}-fix` } },
  ]);
  const branchId = branches[1]?.id ?? "";
  expect(await getLastSuccessfulBuildByBranch({ ctx, input: { ...name, branchId } })).toMatchObject({ id: preview });
  expect(await getLastSuccessfulBuildByBranch({ ctx, input: { ...name, branchId: "x" } })).toBeNull();

  const recent = await getMostRecentDeployment({ ctx, input: name });
  expect(recent).toMatchObject({ buildId: second, isLive: true, environment: "production", branch: { name: "main" } });
  const [old] = await database.db.select().from(deployment).where(eq(deployment.buildId, first));
  const deploymentId = old?.id ?? "";
  expect(await getDeployment({ ctx, input: { deploymentId } })).toMatchObject({ isLive: false, buildId: first });
  expect(await getBuildByDeployment({ ctx, input: { deploymentId } })).toMatchObject({ id: first });

  const theirs = as(others.owner);
  const refused = await Promise.all(
    [
      listBranchesWithDeployments({ ctx: theirs, input: name }),
      getMostRecentDeployment({ ctx: theirs, input: name }),
      getLastSuccessfulBuild({ ctx: theirs, input: name }),
      getLastSuccessfulBuildByBranch({ ctx: theirs, input: { ...name, branchId } }),
      getDeployment({ ctx: theirs, input: { deploymentId } }),
      getBuildByDeployment({ ctx: theirs, input: { deploymentId } }),
      getDeployment({ ctx: theirs, input: { deploymentId: "x" } }),
    ].map(refusalCode),
  );
  expect(new Set(refused)).toEqual(new Set(["not_found"]));
  const foreignBranch = await seedProject(database.db, others);
  const crossed = { ...name, branchId: foreignBranch.branchId };
  expect(await getLastSuccessfulBuildByBranch({ ctx, input: crossed })).toBeNull();
});
