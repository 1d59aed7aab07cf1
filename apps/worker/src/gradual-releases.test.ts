import { getGradualRelease, saveReleasePolicy } from "@towpath/core/delivery/gradual-release";
import { liveCommit, type SeededOrganization, seedProject, shaOf, testContext } from "@towpath/core/testing";
import { gradualRelease } from "@towpath/db/schema";
import { writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RecurringParts, roundsOf } from "./recurring.ts";
import { type Bench, type Builds, openBuilds } from "./testing/worker-bench.ts";

let bench: Bench;
let organization: SeededOrganization;
let builds: Builds;
beforeEach(async () => {
  ({ bench, organization, builds } = await openBuilds());
});
afterEach(() => bench.close());

/** The worker's round, as it runs every few seconds. */
function judge(): Promise<unknown> {
  const parts = { services: bench.services, layers: { missing: async () => new Set() } } as unknown as RecurringParts;
  const round = roundsOf(parts).find(({ name }) => name === "judging gradual releases");
  return Promise.resolve(round?.run(new AbortController().signal) ?? expect.fail("no such round"));
}

/** The check is due, and the step began so many minutes ago. */
const lasts = (minutes: number) => {
  const [began, now] = [new Date(Date.now() - minutes * 60_000), new Date()];
  return bench.database.db.update(gradualRelease).set({ stepStartedAt: began, nextCheckAt: now });
};

test("CAP-8 a worker releases a push gradually, goes on while its calls succeed, and back once they fail", async () => {
  const { db, pool } = bench.database;
  const project = await seedProject(db, organization);
  const at = { orgSlug: organization.slug, projectName: project.name };
  const ctx = testContext(db, organization.owner);
  await saveReleasePolicy({ ctx, input: { ...at, isGradual: true } });
  await bench.work();
  for (const commit of ["first", "second"]) await builds.ended(await builds.start(project, commit));
  const shown = () => getGradualRelease({ ctx, input: at });
  const { stable, candidate } = (await shown()) ?? expect.fail("no release");
  expect([stable.commitSha, candidate.commitSha]).toEqual([shaOf("first"), shaOf("second")]);
  const call = (deploymentId: string, count: number, more: object = {}) =>
    writeRequestLogs(
      pool,
      Array.from({ length: count }, () => requestLogRow({ projectId: project.id, deploymentId, ...more })),
    );
  await call(stable.deploymentId, 100);
  await call(candidate.deploymentId, 19);
  await lasts(16);
  await judge();
  expect(await shown()).toMatchObject({ state: "running", share: 5 });
  await call(candidate.deploymentId, 1);
  await lasts(16);
  // Two workers at once.
  await Promise.all([judge(), judge()]);
  expect(await shown()).toMatchObject({ state: "running", share: 25, revision: 2 });
  const failed = { isError: true, outcome: "tool_error" };
  await call(candidate.deploymentId, 20, failed);
  await lasts(1);
  await judge();
  expect(await shown()).toMatchObject({
    state: "went-back",
    share: 0,
    reason: expect.stringContaining("calls failed"),
  });
  expect(await liveCommit(db, project.branchId)).toBe(shaOf("first"));
});
