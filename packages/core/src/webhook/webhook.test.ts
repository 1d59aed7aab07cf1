import { auditLog, branch, build, githubInstallation, project, route, webhookDelivery } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { and, eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redeployBuild } from "../build/index.ts";
import type { Actor } from "../context/index.ts";
import {
  liveCommit,
  memoryQueue,
  refusalCode,
  type SeededOrganization,
  seedOrganization,
  seedProject,
  shaOf,
  succeedBuild,
  testContext,
} from "../testing/index.ts";
import {
  getWebhookDelivery,
  processWebhook,
  receiveWebhook,
  requeueLostDeliveries,
  type WebhookChange,
} from "./index.ts";

let database: TestDatabase;
let team: SeededOrganization;
beforeAll(async () => {
  database = await createTestDatabase();
  team = await seedOrganization(database.db);
});
afterAll(() => database.close());

const job: Actor = { kind: "job", job: "webhook.process" };
const as = (actor: Actor = job, queue = memoryQueue()) => testContext(database.db, actor, { queue });
let deliveries = 0;

/** GitHub as far as it matters here: where each branch stands. */
function fakeGitHub() {
  const heads = new Map<string, string>();
  return {
    heads,
    readHead: async (_project: unknown, name: string) => {
      const head = heads.get(name);
      return head === undefined ? null : { sha: shaOf(head), message: head, author: "Ada" };
    },
  };
}

const changed = (repositoryId: number, name: string, pullRequest: { number: number; url: string } | null = null) =>
  ({
    kind: "branch-changed",
    repositoryId,
    repositoryFullName: "acme/echo",
    branch: name,
    pullRequest,
  }) satisfies WebhookChange;

const process = (change: WebhookChange, github: ReturnType<typeof fakeGitHub>, queue = memoryQueue()) =>
  processWebhook({
    ctx: as(job, queue),
    input: { deliveryId: `none-${++deliveries}`, change, readHead: github.readHead },
  });

test("BLD-12 a delivery is stored and enqueued once, however often it comes", async () => {
  const queue = memoryQueue();
  const input = { deliveryId: "d-1", event: "push", payload: { ref: "refs/heads/main" } };
  expect(await receiveWebhook({ ctx: as(job, queue), input })).toEqual({ duplicate: false });
  expect(await receiveWebhook({ ctx: as(job, queue), input })).toEqual({ duplicate: true });
  expect(queue.jobs).toEqual([{ name: "webhook.process", payload: { deliveryId: "d-1" }, key: "d-1" }]);
  expect(await getWebhookDelivery({ ctx: as(), input })).toEqual({
    event: "push",
    payload: input.payload,
    processed: false,
  });
  const change = { kind: "ignored" } as const;
  await processWebhook({ ctx: as(), input: { deliveryId: "d-1", change, readHead: async () => null } });
  expect((await getWebhookDelivery({ ctx: as(), input }))?.processed).toBe(true);
  const after = memoryQueue();
  await receiveWebhook({ ctx: as(job, after), input });
  expect(after.jobs).toEqual([]);
  const user = receiveWebhook({ ctx: as(team.owner), input });
  expect(await refusalCode(user)).toBe("forbidden");
  const wrong = receiveWebhook({ ctx: as(), input: { ...input, deliveryId: "x y" } });
  expect(await refusalCode(wrong)).toBe("invalid_input");
});

test("BLD-12 deliveries that nobody processed are found and enqueued again", async () => {
  const input = { deliveryId: "lost-1", event: "push", payload: {} };
  await receiveWebhook({ ctx: as(), input });
  const queue = memoryQueue();
  const sweep = () => requeueLostDeliveries({ ctx: as(job, queue), input: { olderThanMs: 60_000 } });
  expect((await sweep()).requeued).not.toContain("lost-1");
  await database.db
    .update(webhookDelivery)
    .set({ receivedAt: sql`now() - interval '2 minutes'` })
    .where(eq(webhookDelivery.id, "lost-1"));
  expect((await sweep()).requeued).toContain("lost-1");
  expect(queue.jobs.map((each) => each.key)).toContain("lost-1");
});

test("BLD-7 a push to the default branch builds production, another branch a preview, in every project of it", async () => {
  const one = await seedProject(database.db, team);
  const two = await seedProject(database.db, team, { repositoryId: one.repositoryId });
  const github = fakeGitHub();
  github.heads.set("main", "m1").set("feature/x", "x1");
  const queue = memoryQueue();
  const main = await process(changed(one.repositoryId, "main"), github, queue);
  expect(main.builds).toHaveLength(2);
  expect(queue.jobs.map((each) => each.payload)).toEqual(main.builds.map((buildId) => ({ buildId })));
  const preview = await process(changed(one.repositoryId, "feature/x"), github);
  for (const buildId of [...main.builds, ...preview.builds]) await succeedBuild(database.db, buildId);
  const labels = await database.db.select().from(route).where(eq(route.projectId, two.id));
  expect(labels.map((row) => row.label).toSorted()[0]).toBe(two.name);
  expect(labels.map((row) => row.label).toSorted()[1]).toMatch(new RegExp(`^${two.name}-feature-x-[0-9a-z]{6}$`));
  const [made] = await database.db
    .select()
    .from(build)
    .where(and(eq(build.projectId, one.id), eq(build.branchId, one.branchId)));
  expect(made).toMatchObject({ trigger: "push", commitMessage: "m1", commitAuthor: "Ada" });
  const [renamed] = await database.db.select().from(project).where(eq(project.id, one.id));
  expect(renamed?.repositoryFullName).toBe("acme/echo");
});

test("BLD-12 one push, told several times or by several events, makes one build", async () => {
  const own = await seedProject(database.db, team);
  const github = fakeGitHub();
  github.heads.set("main", "m1");
  const results = await Promise.all(
    Array.from({ length: 6 }, () => process(changed(own.repositoryId, "main"), github)),
  );
  expect(results.flatMap((each) => each.builds)).toHaveLength(1);
  // Back to an earlier commit is a change of its own.
  github.heads.set("main", "m0");
  expect((await process(changed(own.repositoryId, "main"), github)).builds).toHaveLength(1);
  github.heads.set("main", "m1");
  expect((await process(changed(own.repositoryId, "main"), github)).builds).toHaveLength(1);
});

test("BLD-12 a redeploy of an old commit does not hide that the head has its build", async () => {
  const own = await seedProject(database.db, team);
  const github = fakeGitHub();
  github.heads.set("main", "m1");
  const [first] = (await process(changed(own.repositoryId, "main"), github)).builds;
  await succeedBuild(database.db, first ?? "");
  github.heads.set("main", "m2");
  await process(changed(own.repositoryId, "main"), github);
  await redeployBuild({ ctx: as({ kind: "operator", ipAddress: null }), input: { buildId: first ?? "" } });
  expect((await process(changed(own.repositoryId, "main"), github)).builds).toEqual([]);
});

test("BLD-12 when GitHub cannot be asked nothing is built and the delivery stays open", async () => {
  const own = await seedProject(database.db, team);
  const input = { deliveryId: "away-1", event: "push", payload: {} };
  await receiveWebhook({ ctx: as(), input });
  const failing = processWebhook({
    ctx: as(),
    input: {
      deliveryId: "away-1",
      change: changed(own.repositoryId, "main"),
      readHead: () => Promise.reject(new Error("away")),
    },
  });
  await expect(failing).rejects.toThrow("away");
  expect(await database.db.$count(build, eq(build.projectId, own.id))).toBe(0);
  expect((await getWebhookDelivery({ ctx: as(), input }))?.processed).toBe(false);
});

test("BLD-7 deleting a branch or closing its pull request ends the preview; a new push brings it back", async () => {
  const own = await seedProject(database.db, team);
  const github = fakeGitHub();
  github.heads.set("fix", "f1");
  const pull = { number: 7, url: "http://localhost:8090/acme/echo/pull/7" };
  const opened = await process(changed(own.repositoryId, "fix", pull), github);
  const [shown] = await database.db.select().from(build).where(eq(build.projectId, own.id));
  expect(shown).toMatchObject({ pullRequestNumber: 7, pullRequestUrl: pull.url });
  await succeedBuild(database.db, opened.builds[0] ?? "");
  const [row] = await database.db
    .select()
    .from(branch)
    .where(and(eq(branch.projectId, own.id), eq(branch.name, "fix")));
  const branchId = row?.id ?? "";
  expect(await liveCommit(database.db, branchId)).toBe(shaOf("f1"));

  github.heads.set("fix", "f2");
  const waiting = (await process(changed(own.repositoryId, "fix"), github)).builds[0] ?? "";
  const closed = { kind: "pull-request-closed", repositoryId: own.repositoryId, branch: "fix", number: 7 } as const;
  expect((await process(closed, github)).ended).toBe(1);
  expect((await process(closed, github)).ended).toBe(0);
  expect(await liveCommit(database.db, branchId)).toBeNull();
  const [canceled] = await database.db.select().from(build).where(eq(build.id, waiting));
  expect(canceled?.status).toBe("canceled");

  const again = (await process(changed(own.repositoryId, "fix"), github)).builds[0] ?? "";
  await succeedBuild(database.db, again);
  expect(await liveCommit(database.db, branchId)).toBe(shaOf("f2"));
  const deleted = { kind: "branch-deleted", repositoryId: own.repositoryId, branch: "fix" } as const;
  github.heads.delete("fix");
  expect((await process(deleted, github)).ended).toBe(1);
  expect((await process(changed(own.repositoryId, "fix"), github)).builds).toEqual([]);
  const audits = await database.db.select().from(auditLog).where(eq(auditLog.projectId, own.id));
  expect(audits.filter((each) => each.action === "branch.end")).toHaveLength(2);
});

test("BLD-7 production outlives the deletion of its branch", async () => {
  const own = await seedProject(database.db, team);
  const github = fakeGitHub();
  github.heads.set("main", "m1");
  await succeedBuild(database.db, (await process(changed(own.repositoryId, "main"), github)).builds[0] ?? "");
  const deleted = { kind: "branch-deleted", repositoryId: own.repositoryId, branch: "main" } as const;
  expect((await process(deleted, github)).ended).toBe(0);
  expect(await liveCommit(database.db, own.branchId)).toBe(shaOf("m1"));
});

test("GH-1 an installation that was removed at GitHub is forgotten, and what is live stays", async () => {
  const own = await seedOrganization(database.db);
  const change = { kind: "installation-removed", installationId: own.installationId } as const;
  await process(change, fakeGitHub());
  const left = await database.db.$count(githubInstallation, eq(githubInstallation.organizationId, own.id));
  expect(left).toBe(0);
  expect(await database.db.$count(auditLog, eq(auditLog.organizationId, own.id))).toBe(1);
});
