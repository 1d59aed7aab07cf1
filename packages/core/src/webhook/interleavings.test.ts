import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { takeBuild } from "../build/index.ts";
import type { Actor } from "../context/index.ts";
import {
  finishBuild,
  liveCommit,
  type SeededOrganization,
  seedOrganization,
  seedProject,
  shaOf,
  testContext,
} from "../testing/index.ts";
import { processWebhook } from "./index.ts";

let database: TestDatabase;
let team: SeededOrganization;
beforeAll(async () => {
  database = await createTestDatabase();
  team = await seedOrganization(database.db);
});
afterAll(() => database.close());

const as = (actor: Actor) => testContext(database.db, actor);

/** One branch, its pushes, and workers that do things in whatever order the numbers say. */
async function playPushes(choices: readonly number[]): Promise<void> {
  const own = await seedProject(database.db, team);
  let head = "";
  let pushed = 0;
  let open = 0;
  const waiting: string[] = [];
  const running: { buildId: string; attempt: number }[] = [];
  let liveIndex = -1;
  const indexOf = new Map<string, number>();
  const deliver = async () => {
    const { builds } = await processWebhook({
      ctx: as({ kind: "job", job: "webhook.process" }),
      input: {
        deliveryId: "not stored",
        change: {
          kind: "branch-changed",
          repositoryId: own.repositoryId,
          repositoryFullName: "acme/echo",
          branch: "main",
          pullRequest: null,
        },
        readHead: async () => ({ sha: shaOf(head), message: head, author: null }),
      },
    });
    waiting.push(...builds);
  };
  const look = async () => {
    const live = await liveCommit(database.db, own.branchId);
    if (live === null) return;
    const index = indexOf.get(live) ?? -1;
    expect(index).toBeGreaterThanOrEqual(liveIndex);
    liveIndex = index;
  };
  const push = () => {
    head = `c${pushed}`;
    indexOf.set(shaOf(head), pushed);
    pushed++;
    open++;
  };
  const takeOne = async (choice: number) => {
    const [buildId] = waiting.splice(choice % Math.max(waiting.length, 1), 1);
    const taken = buildId && (await takeBuild({ ctx: as({ kind: "job", job: "build.run" }), input: { buildId } }));
    if (taken) running.push({ buildId: taken.buildId, attempt: taken.attempt });
  };
  const finishOne = async (choice: number) => {
    const [fence] = running.splice(choice % Math.max(running.length, 1), 1);
    if (fence) await finishBuild(database.db, fence);
  };
  push();
  for (const choice of choices) {
    const action = choice % 6;
    const which = Math.floor(choice / 6);
    if (action === 0) push();
    if (action === 1 && open > 0) {
      open--;
      await deliver();
    }
    if (action === 2) await takeOne(which);
    if (action === 3) await finishOne(which);
    if (action === 4) await Promise.all([finishOne(which), finishOne(0)]);
    if (action === 5 && open > 0) {
      open--;
      const racing = [deliver(), deliver()];
      push();
      await Promise.all(racing);
    }
    await look();
  }
  for (; open > 0; open--) await deliver();
  while (waiting.length > 0) await takeOne(0);
  while (running.length > 0) await finishOne(running.length - 1);
  await look();
  expect(liveIndex).toBe(pushed - 1);
}

test("BLD-11 for every interleaving of pushes, deliveries and builds the live commit never goes back", {
  timeout: 120_000,
}, async () => {
  await fc.assert(fc.asyncProperty(fc.array(fc.nat(59), { minLength: 4, maxLength: 24 }), playPushes), {
    numRuns: 100,
  });
});
