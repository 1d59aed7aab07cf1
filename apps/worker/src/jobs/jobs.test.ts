import { processWebhook } from "@towpath/core/sources/webhook";
import { seedOrganization, seedProject, testContext } from "@towpath/core/testing";
import { createTestDatabase } from "@towpath/db/testing";
import { openWorkerQueue } from "@towpath/queue";
import { expect, onTestFinished, test, vi } from "vitest";
import { jobConcurrency } from "./jobs.ts";

test("BLD-7 an organization with many branches to look at does not hold up another one's push", async () => {
  const database = await createTestDatabase();
  const problems: unknown[] = [];
  const workers = await openWorkerQueue({ databaseUrl: database.url, onProblem: (each) => problems.push(each) });
  const { promise: github, resolve: answer } = Promise.withResolvers<void>();
  onTestFinished(async () => {
    answer();
    await workers.stop(5000);
    await database.close();
  });
  const push = async (project: { repositoryId: number }, branch: string) => {
    const hint = { kind: "branch", repositoryId: project.repositoryId, branch, mayBeNew: true } as const;
    const ctx = testContext(database.db, { kind: "job", job: "webhook.process" }, { queue: workers.queue });
    await processWebhook({ ctx, input: { deliveryId: "none", hint } });
  };
  const busy = await seedProject(database.db, await seedOrganization(database.db));
  const quiet = await seedProject(database.db, await seedOrganization(database.db));
  for (let at = 0; at < 8; at++) await push(busy, `branch-${at}`);
  await push(quiet, "main");
  const done: string[] = [];
  await workers.work({
    ...jobConcurrency({ maxBuilds: 2, maxBuildsPerOrganization: 1 }),
    handlers: {
      "webhook.process": async () => {},
      "installation.sync": async () => {},
      "source.check": async () => {},
      "branch.report": async () => {},
      "repository.leave": async () => {},
      "calls.replay": async () => {},
      "build.run": async () => {},
      "mail.send": async () => {},
      // GitHub is slow for one project.
      async "branch.sync"({ projectId }) {
        if (projectId === busy.id) await github;
        done.push(projectId);
      },
    },
  });
  await vi.waitFor(() => expect(done).toEqual([quiet.id]), 10_000);
  answer();
  await vi.waitFor(() => expect(done).toHaveLength(9), 20_000);
  expect(problems).toEqual([]);
});
