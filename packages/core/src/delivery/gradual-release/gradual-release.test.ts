import {
  alertEvent,
  auditLog,
  build,
  buildLog,
  deployment,
  gradualRelease,
  project as projectTable,
  route,
} from "@towpath/db/schema";
import { and, asc, eq, like } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { removeSuperseded } from "../../operations/retention/remove-superseded.ts";
import { finishBuild, liveCommit, refusal, shaOf } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { badFigures, figuresOf, goodFigures, releaseSteps } from "../../testing/release-steps.ts";
import { makeDeploymentLive } from "../deployment/index.ts";
import { getGradualRelease, saveReleasePolicy } from "./index.ts";
import { moveRelease } from "./move-release.ts";

const suite = openProjectSuite();
const steps = releaseSteps(suite);
const ctx = () => suite.as(suite.organization.owner);
const db = () => suite.database.db;
const minute = 60_000;

const shown = () => getGradualRelease({ ctx: ctx(), input: suite.at() });
const live = () => liveCommit(db(), suite.project.branchId);
const makeLive = (deploymentId: string, gradually = false) =>
  makeDeploymentLive({ ctx: ctx(), input: { deploymentId, gradually } });
const events = async () => {
  const ofReleases = and(eq(auditLog.projectId, suite.project.id), like(auditLog.action, "release.%"));
  const rows = await db().select().from(auditLog).where(ofReleases).orderBy(asc(auditLog.createdAt), asc(auditLog.id));
  return rows.map(({ action, detail }) => [action, (detail as { share: number }).share]);
};

beforeEach(async () => {
  await saveReleasePolicy({ ctx: ctx(), input: { ...suite.at(), isGradual: true } });
});

test("CAP-8 a push gets 5 % of new sessions beside the live version, goes on by itself, and is live at the end", async () => {
  // Nothing is live before the first push, which therefore is at once.
  expect(await steps.push("first")).toMatchObject({ outcome: "live" });
  expect(await steps.push("second")).toMatchObject({ outcome: "releasing", share: 5 });
  expect(await live()).toBe(shaOf("first"));
  expect(await shown()).toMatchObject({
    state: "running",
    share: 5,
    step: 0,
    stable: { commitSha: shaOf("first") },
    candidate: { commitSha: shaOf("second") },
  });
  // Checked a few seconds later, and long before the step's end.
  expect(await steps.judge(11_000, goodFigures)).toBe(1);
  expect(await shown()).toMatchObject({ share: 5, revision: 1 });
  for (const [after, share] of [
    [16, 25],
    [32, 50],
  ] as const) {
    await steps.judge(after * minute, goodFigures);
    expect(await shown()).toMatchObject({ state: "running", share });
    // A second round at the same time: the new step has only begun.
    await steps.judge((after + 1) * minute, goodFigures);
    expect(await shown()).toMatchObject({ share });
  }
  await steps.judge(48 * minute, goodFigures);
  expect(await shown()).toMatchObject({ state: "finished", share: 100, reason: null });
  expect(await live()).toBe(shaOf("second"));
  expect(await events()).toEqual([
    ["release.start", 5],
    ["release.step", 25],
    ["release.step", 50],
    ["release.finish", 100],
  ]);
});

test("CAP-8 a version outside the band goes back with the reason, in the audit log and in its build's log", async () => {
  await steps.push("first");
  await steps.push("second");
  await steps.judge(11_000, badFigures);
  const reason = "50 % of its 50 calls failed, 0 % of the live version's; 2 points more would be allowed.";
  expect(await shown()).toMatchObject({ state: "went-back", share: 0, reason });
  expect(await live()).toBe(shaOf("first"));
  expect((await events()).at(-1)).toEqual(["release.go-back", 0]);
  const raised = await db().select().from(alertEvent).where(eq(alertEvent.projectId, suite.project.id));
  expect(raised.map(({ kind, detail }) => [kind, detail])).toMatchObject([["deployment.failed", { remedy: reason }]]);
  const lines = await db()
    .select({ text: buildLog.text })
    .from(buildLog)
    .innerJoin(build, eq(build.id, buildLog.buildId))
    .where(and(eq(build.projectId, suite.project.id), eq(build.commitSha, shaOf("second"))));
  expect(lines.map(({ text }) => text)).toContain(`Went back: ${reason} The version before serves all sessions.`);
  // It is over: nothing is due, and the next push begins a release of its own.
  expect(await steps.judge(60 * minute, goodFigures)).toBe(0);
  expect(await steps.push("third")).toMatchObject({ outcome: "releasing", share: 5 });
});

test("CAP-8 once another version is live, the release of two earlier ones is not current any more", async () => {
  await steps.push("first");
  await steps.push("second");
  await steps.judge(11_000, badFigures);
  expect(await shown()).toMatchObject({ state: "went-back", isCurrent: true });
  await saveReleasePolicy({ ctx: ctx(), input: { ...suite.at(), isGradual: false } });
  expect(await steps.push("third")).toMatchObject({ outcome: "live" });
  expect(await shown()).toMatchObject({ state: "went-back", isCurrent: false });
});

test("CAP-8 a version with few callers waits at its step, however long", async () => {
  await steps.push("first");
  await steps.push("second");
  await steps.judge(600 * minute, { stable: figuresOf(500), candidate: figuresOf(19, 0) });
  expect(await shown()).toMatchObject({ state: "running", share: 5, revision: 1 });
});

test("CAP-8 several workers at once make one change, and one that has read a former state makes none", async () => {
  await steps.push("first");
  await steps.push("second");
  await Promise.all(Array.from({ length: 5 }, () => steps.judge(16 * minute, goodFigures)));
  expect(await shown()).toMatchObject({ share: 25, revision: 2 });
  const [seen] = await db().select().from(gradualRelease).where(eq(gradualRelease.projectId, suite.project.id));
  if (!seen) throw new Error("no release");
  // Each has judged the same step, as when a worker was killed and its claim taken over.
  const moves = await Promise.all(
    (["advance", "advance", "finish"] as const).map((kind) =>
      db().transaction((tx) => moveRelease(tx, ctx(), seen, { kind })),
    ),
  );
  expect(moves.filter((moved) => moved !== null)).toHaveLength(1);
  expect((await shown())?.revision).toBe(3);
});

test("CAP-8 BLD-11 a push meanwhile takes the place of the version that is released, and begins at the first step", async () => {
  await steps.push("first");
  const slow = await steps.take("slow");
  await steps.push("second");
  await steps.judge(16 * minute, goodFigures);
  expect(await shown()).toMatchObject({ share: 25 });
  expect(await steps.push("third")).toMatchObject({ outcome: "releasing", share: 5 });
  expect(await shown()).toMatchObject({ state: "running", share: 5, candidate: { commitSha: shaOf("third") } });
  expect(await live()).toBe(shaOf("first"));
  // One that began before is too late.
  expect(await finishBuild(db(), slow)).toEqual({ outcome: "overtaken" });
  const rows = await db().select().from(gradualRelease).where(eq(gradualRelease.projectId, suite.project.id));
  expect(rows.map(({ state }) => state).sort()).toEqual(["running", "stopped"]);
});

test("CAP-8 PRJ-14 making a version live ends the release: another's stops it, its own finishes it", async () => {
  await steps.push("first");
  await saveReleasePolicy({ ctx: ctx(), input: { ...suite.at(), isGradual: false } });
  await steps.push("second");
  await makeLive(await steps.deploymentOf("first"), true);
  expect(await shown()).toMatchObject({ state: "running", stable: { commitSha: shaOf("second") } });
  await makeLive(await steps.deploymentOf("first"));
  expect(await shown()).toMatchObject({ state: "finished", share: 100 });
  expect(await live()).toBe(shaOf("first"));
  await steps.push("third");
  await makeLive(await steps.deploymentOf("second"), true);
  await makeLive(await steps.deploymentOf("first"));
  expect(await shown()).toMatchObject({ state: "stopped", reason: "Somebody made another version live." });
  expect(await live()).toBe(shaOf("first"));
});

test("CAP-8 a route that was moved past the release stops it at the next round", async () => {
  await steps.push("first");
  await steps.push("second");
  await steps.push("third");
  const second = await steps.deploymentOf("second");
  await db().update(route).set({ deploymentId: second }).where(eq(route.projectId, suite.project.id));
  await steps.judge(16 * minute, goodFigures);
  expect(await shown()).toMatchObject({ state: "stopped", reason: "Another version went live meanwhile." });
  expect(await live()).toBe(shaOf("second"));
});

test("CAP-8 a server whose versions can't run beside each other is released at once, and its build's log says why", async () => {
  await steps.push("first");
  await db().update(projectTable).set({ keepsData: true }).where(eq(projectTable.id, suite.project.id));
  expect(await steps.push("second")).toMatchObject({ outcome: "live" });
  expect((await refusal(makeLive(await steps.deploymentOf("first"), true))).message).toBe(
    "This version can't be released gradually. The server keeps data in /data, which only one version may change. Make it live instead.",
  );
  await db()
    .update(projectTable)
    .set({ keepsData: false, authMode: "passthrough" })
    .where(eq(projectTable.id, suite.project.id));
  const signsIn = eq(build.projectId, suite.project.id);
  await db().update(build).set({ ownSignIn: true }).where(signsIn);
  expect(await steps.push("third")).toMatchObject({ outcome: "live" });
  const warnings = await db().select({ text: buildLog.text }).from(buildLog).where(eq(buildLog.kind, "warning"));
  const reasons = ["which only one version may change", "a sign-in of its own"];
  for (const reason of reasons) expect(warnings.some(({ text }) => text.includes(reason))).toBe(true);
});

test("CAP-8 LOG-6 retention keeps the version that is being released, however many are newer", async () => {
  await steps.push("old");
  await steps.push("first");
  await makeLive(await steps.deploymentOf("first"));
  await saveReleasePolicy({ ctx: ctx(), input: { ...suite.at(), isGradual: false } });
  await steps.push("second");
  await makeLive(await steps.deploymentOf("old"), true);
  const days = { requestLogDays: 30, serverLogDays: 30, buildLogDays: 30, auditDays: 30, endedBranchDays: 7 };
  const policy = { ...days, buildsPerBranch: 50, deploymentsPerBranch: 1 };
  const job = suite.as({ kind: "job", job: "retention" });
  await removeSuperseded({ ctx: job, input: { now: new Date(), policy } });
  const kept = await db().select().from(deployment).where(eq(deployment.projectId, suite.project.id));
  expect(kept.map(({ id }) => id).sort()).toEqual(
    [await steps.deploymentOf("old"), await steps.deploymentOf("second")].sort(),
  );
});
