import { auditLog, branch, githubInstallation } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { memoryQueue, openOrganization, seedProject, shaOf, succeedBuild } from "../../testing/index.ts";
import { webhookScene } from "../../testing/play-webhooks.ts";
import { listInstallations, recordInstallation } from "../installation/index.ts";
import { syncBranch } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });

const { as, on, gitHubOf, settle, settleAndBuild, sync, live } = webhookScene(() => ({
  db: database.db,
  organization,
}));

test("GH-1 an installation that was removed at GitHub is deleted, and what is live stays", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  await settleAndBuild(github);
  const installation = () => eq(githubInstallation.organizationId, organization.id);
  // The delivery alone proves nothing: GitHub still has the installation.
  github.deliveries.push({ kind: "installation", installationId: organization.installationId });
  await settle(github);
  expect(await database.db.$count(githubInstallation, installation())).toBe(1);
  github.isInstalled = false;
  github.deliveries.push({ kind: "installation", installationId: organization.installationId });
  github.deliveries.push({ kind: "repository", repositoryId: own.repositoryId });
  await settle(github);
  expect(await database.db.$count(githubInstallation, installation())).toBe(0);
  expect(await live(own, "main")).toBe(shaOf("m1"));
  const audits = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.organizationId, organization.id))
    .orderBy(auditLog.id);
  expect(audits.filter((each) => each.action === "installation.remove")).toHaveLength(1);
});

test("GH-1 a suspended installation builds nothing and is not polled; when resumed, it catches up", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  github.push("fix", "f1");
  await settleAndBuild(github);
  github.push("main", "m2");
  github.suspend(true);
  expect(await settle(github)).toEqual([]);
  // The push just before can't be checked, so its mark is removed.
  expect(await database.db.$count(branch, and(eq(branch.projectId, own.id), sql`${branch.hintedAt} IS NOT NULL`))).toBe(
    0,
  );
  const listed = await listInstallations({ ctx: as(organization.owner), input: { orgSlug: organization.slug } });
  expect(listed.map((each) => each.isSuspended)).toEqual([true]);
  const questions = github.questions;
  await syncBranch({ ctx: on(github), input: { projectId: own.id, branch: "main" } });
  expect(github.questions).toBe(questions);
  github.push("fix", "f2");
  github.suspend(false);
  expect(await settle(github)).toHaveLength(2);
  const audits = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.organizationId, organization.id))
    .orderBy(auditLog.id);
  const actions = audits.map((each) => each.action).filter((action) => action.startsWith("installation."));
  expect(actions).toEqual(["installation.suspend", "installation.resume"]);
});

test("GH-1 BLD-7 a suspension that is over before its first delivery is processed: previews pushed meanwhile are built", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  github.push("fix", "f1");
  await settleAndBuild(github);
  github.suspend(true);
  github.push("main", "m2");
  github.push("fix", "f2");
  github.suspend(false);
  await settleAndBuild(github);
  expect([await live(own, "main"), await live(own, "fix")]).toEqual([shaOf("m2"), shaOf("f2")]);
});

test("GH-1 ONB-2 a suspended installation that is recorded again has all its branches checked", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  github.push("fix", "f1");
  await settleAndBuild(github);
  github.suspend(true);
  await settle(github);
  github.push("fix", "f2");
  github.suspend(false);
  github.deliveries.length = 0;
  const queue = memoryQueue();
  const input = {
    orgSlug: organization.slug,
    installationId: organization.installationId,
    accountLogin: "acme",
    accountType: "User",
  };
  await recordInstallation({ ctx: as(organization.owner, queue), input });
  const [queued] = await sync(github, queue);
  if (queued) await succeedBuild(database.db, queued);
  expect(await live(own, "fix")).toBe(shaOf("f2"));
});
