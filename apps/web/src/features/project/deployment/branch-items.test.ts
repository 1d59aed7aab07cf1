import { failBuild, startBuild, takeBuild } from "@towpath/core/delivery/build";
import {
  refusalCode,
  sampleDiagnosis,
  seedOrganization,
  seedProject,
  shaOf,
  succeedBuild,
  testContext,
} from "@towpath/core/testing";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { branchItems } from "~/features/project/delivery/branch-items.server.ts";

const database = openTestDatabase();

const pageNeeds = { withManifests: false };

test("PRJ-2 production shows its live build beside a newer one that failed", async () => {
  const { db } = database;
  const organization = await seedOrganization(db);
  const project = await seedProject(db, organization);
  const ctx = testContext(db, organization.owner);
  const key = { orgSlug: organization.slug, projectName: project.name };
  expect(await branchItems(ctx, key, pageNeeds)).toMatchObject([
    { isDefault: true, liveBuild: null, latestBuild: null },
  ]);

  const good = await startBuild({ ctx, input: { ...key, commitSha: shaOf("a") } });
  await succeedBuild(db, good.build.id);
  const bad = await startBuild({ ctx, input: { ...key, commitSha: shaOf("b") } });
  const worker = testContext(db, { kind: "job", job: "build.run" });
  const taken = await takeBuild({ ctx: worker, input: { buildId: bad.build.id } });
  const fence = { buildId: bad.build.id, attempt: taken?.attempt ?? 0 };
  await failBuild({ ctx: worker, input: { ...fence, diagnosis: sampleDiagnosis } });

  const [main] = await branchItems(ctx, key, pageNeeds);
  expect(main?.liveBuild).toMatchObject({ id: good.build.id, counts: { tools: 0, prompts: 0 } });
  expect(main?.latestBuild).toMatchObject({ id: bad.build.id, status: "failed" });
  expect(main?.liveBuild).toMatchObject({ commitSha: shaOf("a"), liveSince: expect.any(String), commitAuthor: "Ada" });
  expect(main?.latestBuild).not.toHaveProperty("manifest");
  expect(main?.deployment?.isLive).toBe(true);
});

test("PRJ-2 a preview shows the commit that its URL serves, not the newest build's", async () => {
  const { db } = database;
  const organization = await seedOrganization(db);
  const project = await seedProject(db, organization);
  const ctx = testContext(db, organization.owner);
  const key = { orgSlug: organization.slug, projectName: project.name };
  const live = await startBuild({ ctx, input: { ...key, branch: "feature", commitSha: shaOf("a") } });
  await succeedBuild(db, live.build.id);
  const waiting = await startBuild({ ctx, input: { ...key, branch: "feature", commitSha: shaOf("b") } });
  expect((await branchItems(ctx, key, pageNeeds)).find(({ name }) => name === "feature")).toMatchObject({
    liveBuild: { id: live.build.id, commitSha: shaOf("a"), counts: null, warnings: [] },
    latestBuild: { id: waiting.build.id, commitSha: shaOf("b") },
  });
});

test("PRJ-1 branches of another organization's project are not found", async () => {
  const owner = await seedOrganization(database.db);
  const project = await seedProject(database.db, owner);
  const stranger = await seedOrganization(database.db);
  const key = { orgSlug: owner.slug, projectName: project.name };
  expect(await refusalCode(branchItems(testContext(database.db, stranger.owner), key, pageNeeds))).toBe("not_found");
});
