import { type SeededOrganization, seedOrganization, seedProject } from "@towpath/core/testing";
import { build } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { sweep } from "../sweep.ts";
import { type Bench, type Builds, buildsOf, goodBuild, openBuilds, until } from "../testing/worker-bench.ts";

let bench: Bench;
let organization: SeededOrganization;
let builds: Builds;
beforeEach(async () => {
  ({ bench, organization, builds } = await openBuilds());
});
afterEach(() => bench.close());

test.runIf(isThorough)("BLD-13 builds run two at a time, those of a lone organization too", async () => {
  const projects = await Promise.all(Array.from({ length: 5 }, () => seedProject(bench.database.db, organization)));
  let running = 0;
  let most = 0;
  const two = Promise.withResolvers<void>();
  bench.build = async () => {
    most = Math.max(most, ++running);
    if (running === 2) two.resolve();
    await two.promise;
    // A third would begin meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 100));
    running--;
    return goodBuild;
  };
  const ids = await Promise.all(projects.map((project) => builds.start(project, "a")));
  await bench.work(2);
  for (const buildId of ids) await builds.ended(buildId);
  expect(most).toBe(2);
});

test("BLD-13 an organization with many slow builds leaves a place for others, which take turns", async () => {
  const organizations = await Promise.all([1, 2, 3].map(() => seedOrganization(bench.database.db)));
  const [slow, ...quick] = organizations as [SeededOrganization, ...SeededOrganization[]];
  const release = Promise.withResolvers<void>();
  const begun: string[] = [];
  bench.build = async (request) => {
    begun.push(request.organizationId);
    if (request.organizationId === slow.id) await release.promise;
    return goodBuild;
  };
  const startFor = async (of: SeededOrganization) =>
    buildsOf(bench, of).start(await seedProject(bench.database.db, of), "a");
  const hasEnded = async (buildId: string) => {
    const [found] = await bench.database.db.select({ status: build.status }).from(build).where(eq(build.id, buildId));
    return found?.status === "succeeded" || found?.status === "failed";
  };
  const sleeping: string[] = [];
  for (let index = 0; index < 6; index++) sleeping.push(await startFor(slow));
  await bench.work(3, 2);
  await until(() => begun.length === 2);
  const others: string[] = [];
  for (const each of [...quick, ...quick]) others.push(await startFor(each));
  for (const buildId of others) await until(() => hasEnded(buildId));
  expect(begun.filter((id) => id === slow.id)).toHaveLength(2);
  // The organizations take turns.
  const [first, second] = quick.map(({ id }) => id);
  expect(begun.slice(2)).toEqual([first, second, first, second]);
  release.resolve();
  for (const buildId of sleeping) await until(() => hasEnded(buildId), 30_000);
});

test("LOG-6 BLD-13 while the disk is nearly full a build waits and says so, and starts when there is room", async () => {
  const project = await seedProject(bench.database.db, organization);
  bench.diskIsLow = true;
  await bench.work();
  const buildId = await builds.start(project, "a");
  await until(async () => (await builds.logOf(buildId)).includes("Waiting: this instance's disk is almost full"));
  expect((await builds.show(buildId)).status).toBe("queued");
  bench.diskIsLow = false;
  await sweep(bench.services);
  await builds.ended(buildId);
  expect((await builds.show(buildId)).status).toBe("succeeded");
  expect((await builds.logOf(buildId)).match(/Waiting: this/g)).toHaveLength(1);
});
