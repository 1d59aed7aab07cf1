import { build, deployment, project, route } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createDeployment, goLive } from "../../delivery/deployment/index.ts";
import { openOrganization, sampleOutcome, seedProject, shaOf, succeedBuild } from "../../testing/index.ts";
import { webhookScene } from "../../testing/play-webhooks.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });

const { as, gitHubOf, settle, settleAndBuild, branchOf, live, routesOf } = webhookScene(() => ({
  db: database.db,
  organization,
}));

test("BLD-7 a new default branch at GitHub becomes production; the old one serves until the new build is live", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  github.push("trunk", "t1");
  await settleAndBuild(github);
  expect(await routesOf(own)).toHaveLength(2);
  github.switchDefault("trunk");
  const [buildId = ""] = await settle(github);
  const [between, ...more] = await routesOf(own);
  expect(more).toEqual([]);
  const trunk = await branchOf(own, "trunk");
  expect(between).toMatchObject({ label: own.name, branchId: trunk?.id });
  expect(await live(own, "trunk")).toBe(shaOf("m1"));
  await succeedBuild(database.db, buildId);
  expect(await live(own, "trunk")).toBe(shaOf("t1"));
  const [served] = await database.db
    .select({ environment: deployment.environment, defaultBranch: project.defaultBranch })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(project, eq(project.id, route.projectId))
    .where(eq(route.label, own.name));
  expect(served).toEqual({ environment: "production", defaultBranch: "trunk" });
  // The old one is a branch like others now: a preview with its next push, and its end.
  github.push("main", "m2");
  await settleAndBuild(github);
  expect((await routesOf(own)).map((row) => row.label).toSorted()).toEqual([own.name, `${own.name}-main`]);
  github.remove("main");
  await settle(github);
  expect(await routesOf(own)).toHaveLength(1);
});

test("KEY-1 BLD-7 a preview whose branch became the default one during the build never serves production", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  await settleAndBuild(github);
  github.push("trunk", "t1");
  const [preview = ""] = await settle(github);
  await database.db.update(build).set({ status: "building", attempt: 1 }).where(eq(build.id, preview));
  const fence = { buildId: preview, attempt: 1 };
  await createDeployment({ ctx: as(), input: sampleOutcome(fence) });
  github.switchDefault("trunk");
  const [production = ""] = await settle(github);
  expect(await goLive({ ctx: as(), input: fence })).toEqual({ outcome: "overtaken" });
  expect(await live(own, "trunk")).toBe(shaOf("m1"));
  expect(await succeedBuild(database.db, production)).toMatchObject({ outcome: "live", label: own.name });
});
