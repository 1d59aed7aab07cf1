import { auditLog, branch, build, project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { redeployBuild } from "../../delivery/build/index.ts";
import { listBranchesWithDeployments } from "../../delivery/deployment/index.ts";
import { GitHubModel } from "../../testing/github-model.ts";
import {
  memoryQueue,
  openOrganization,
  seedOrganization,
  seedProject,
  shaOf,
  succeedBuild,
} from "../../testing/index.ts";
import { webhookScene } from "../../testing/play-webhooks.ts";
import { recordInstallation } from "../installation/index.ts";
import { processWebhook, requeueLostHints, syncBranch } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });

const { as, on, gitHubOf, settle, sync, settleAndBuild, live, routesOf } = webhookScene(() => ({
  db: database.db,
  organization,
}));

test("BLD-7 a push to the default branch builds production, another branch a preview, in every project of it", async () => {
  const one = await seedProject(database.db, organization);
  const two = await seedProject(database.db, organization, { repositoryId: one.repositoryId });
  const github = gitHubOf(one);
  github.push("main", "m1");
  github.push("feature/x", "x1");
  const builds = await settle(github);
  expect(builds).toHaveLength(4);
  for (const buildId of builds) await succeedBuild(database.db, buildId);
  const labels = (await routesOf(two)).map((row) => row.label).toSorted();
  expect(labels[0]).toBe(two.name);
  expect(labels[1]).toMatch(new RegExp(`^${two.name}-feature-x-[0-9a-z]{6}$`));
  const [made] = await database.db
    .select()
    .from(build)
    .where(and(eq(build.projectId, one.id), eq(build.branchId, one.branchId)));
  expect(made).toMatchObject({ trigger: "push", commitMessage: "m1", commitAuthor: "Ada" });
});

test("BLD-12 one push, delivered several times or as several events, makes one build", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  const contenders = 6;
  const inStep = barrier(contenders);
  const sync = async () => {
    // Each round of questions is answered to all at once: one of them decides, and the others ask again.
    const branchInStep: typeof github.ask = async (question) => {
      await inStep.arrive();
      return github.ask(question);
    };
    const ctx = { ...as(), repositories: { ...github.host, branch: branchInStep } };
    return syncBranch({ ctx, input: { projectId: own.id, branch: "main" } }).finally(inStep.leave);
  };
  const results = await Promise.allSettled(Array.from({ length: contenders }, sync));
  const outcomes = results.map((each) => (each.status === "fulfilled" ? each.value.outcome : each.reason.code));
  // Whoever loses every round gives its job back to the queue, which finds nothing left to do.
  expect(outcomes.toSorted()).toEqual(["build", "conflict", "unchanged", "unchanged", "unchanged", "unchanged"]);
  const again = await syncBranch({ ctx: on(github), input: { projectId: own.id, branch: "main" } });
  expect(again).toEqual({ outcome: "unchanged" });
  expect(await database.db.$count(build, eq(build.projectId, own.id))).toBe(1);
  // Back to an earlier commit is a change of its own.
  github.push("main", "m0");
  expect(await settle(github)).toHaveLength(1);
  github.push("main", "m1");
  expect(await settle(github)).toHaveLength(1);
});

/** Holds all that have not left until each of them has arrived. */
function barrier(count: number) {
  let present = count;
  let waiting: (() => void)[] = [];
  const openWhenFull = () => {
    if (waiting.length < present) return;
    for (const go of waiting.splice(0)) go();
  };
  return {
    arrive: () =>
      new Promise<void>((resolve) => {
        waiting = [...waiting, resolve];
        openWhenFull();
      }),
    leave: () => {
      present--;
      openWhenFull();
    },
  };
}

test("BLD-12 PRJ-14 after a redeploy of an old commit, or a promotion, the head is not built again", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  const [first = ""] = await settle(github);
  await succeedBuild(database.db, first);
  github.push("main", "m2");
  await settle(github);
  await redeployBuild({ ctx: as({ kind: "operator", ipAddress: null }), input: { buildId: first } });
  github.openPull("main");
  expect(await settle(github)).toEqual([]);
  // Nor after another branch's commit was promoted to it.
  const promotion = { trigger: "promote", commitSha: shaOf("other"), sequence: 9, entrypoint: "echo.py" };
  await database.db
    .insert(build)
    .values({ ...promotion, id: crypto.randomUUID(), projectId: own.id, branchId: own.branchId });
  expect(await settle(github)).toEqual([]);
});

test("BLD-12 while GitHub is unavailable nothing changes, and the sweep finds the branch later", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  github.isUnreachable = true;
  await expect(settle(github)).rejects.toThrow("unreachable");
  expect(await database.db.$count(build, eq(build.projectId, own.id))).toBe(0);
  const queue = memoryQueue();
  const sweep = () => requeueLostHints({ ctx: as(undefined, queue), input: { olderThanMs: 60_000 } });
  expect((await sweep()).requeued).toEqual([]);
  const longAgo = { hintedAt: sql`now() - interval '2 minutes'` };
  await database.db.update(branch).set(longAgo).where(eq(branch.id, own.branchId));
  expect((await sweep()).requeued).toEqual([own.branchId]);
  expect((await sweep()).requeued).toEqual([own.branchId]);
  expect(queue.jobs).toHaveLength(1);
  github.isUnreachable = false;
  expect(await sync(github, queue)).toHaveLength(1);
  await database.db.update(branch).set({ endedAt: null }).where(eq(branch.id, own.branchId));
  expect((await sweep()).requeued).toEqual([]);
});

test("BLD-11 requests to GitHub hold no lock on the branch, and are repeated when their response is outdated", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  let asked = 0;
  const slowly: typeof github.ask = async (question) => {
    const answer = await github.ask(question);
    if (++asked === 1) {
      // Nothing waits for the one that asks: a later push is decided meanwhile.
      github.push("main", "m2");
      const [buildId = ""] = await settle(github);
      await succeedBuild(database.db, buildId);
    }
    return answer;
  };
  const ctx = { ...as(), repositories: { ...github.host, branch: slowly } };
  expect(await syncBranch({ ctx, input: { projectId: own.id, branch: "main" } })).toEqual({ outcome: "unchanged" });
  expect(asked).toBe(2);
  const builds = await database.db.select().from(build).where(eq(build.projectId, own.id));
  expect(builds.map((each) => each.commitSha)).toEqual([shaOf("m2")]);
  expect(await live(own, "main")).toBe(shaOf("m2"));
});

test("BLD-7 deleting a branch or closing its pull request ends the preview; a new push brings it back", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("fix", "f1");
  github.openPull("fix");
  await settleAndBuild(github);
  const [shown] = await database.db.select().from(build).where(eq(build.projectId, own.id));
  expect(shown).toMatchObject({ pullRequestNumber: 1, pullRequestUrl: "http://localhost:8090/acme/echo/pull/1" });
  expect(await live(own, "fix")).toBe(shaOf("f1"));

  github.push("fix", "f2");
  const [waiting = ""] = await settle(github);
  github.closePull("fix");
  await settle(github);
  expect(await live(own, "fix")).toBeNull();
  const [canceled] = await database.db.select().from(build).where(eq(build.id, waiting));
  expect(canceled?.status).toBe("canceled");

  github.push("fix", "f3");
  await settleAndBuild(github);
  expect(await live(own, "fix")).toBe(shaOf("f3"));
  github.remove("fix");
  await settle(github);
  expect(await live(own, "fix")).toBeNull();
  expect(await settle(github)).toEqual([]);
  const audits = await database.db.select().from(auditLog).where(eq(auditLog.projectId, own.id)).orderBy(auditLog.id);
  expect(audits.filter((each) => each.action === "branch.end")).toHaveLength(2);
});

test("BLD-7 a late delivery of a deletion or a closed pull request does not end a preview that was reopened", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("fix", "f1");
  github.openPull("fix");
  await settleAndBuild(github);
  github.remove("fix");
  const deleted = github.deliveries.splice(0);
  github.push("fix", "f2");
  github.openPull("fix");
  await settleAndBuild(github);
  github.closePull("fix");
  const closed = github.deliveries.splice(0);
  github.openPull("fix");
  await settleAndBuild(github);
  expect(await live(own, "fix")).toBe(shaOf("f2"));
  github.deliveries.push(...deleted, ...closed);
  expect(await settle(github)).toEqual([]);
  expect(await live(own, "fix")).toBe(shaOf("f2"));
});

test("BLD-7 production stays after the deletion of its branch, and after pull requests from it", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.push("main", "m1");
  await settleAndBuild(github);
  github.openPull("main");
  github.closePull("main");
  await settle(github);
  github.remove("main");
  await settle(github);
  expect(await live(own, "main")).toBe(shaOf("m1"));
});

test("BLD-7 a renamed repository is found by its id, its new name is stored, and the push is built", async () => {
  const own = await seedProject(database.db, organization);
  const github = gitHubOf(own);
  github.fullName = "acme-inc/echo-two";
  github.push("main", "m1");
  expect(await settle(github)).toHaveLength(1);
  const stored = async () => (await database.db.select().from(project).where(eq(project.id, own.id)))[0];
  expect((await stored())?.repositoryFullName).toBe("acme-inc/echo-two");
  github.rename("acme-inc/echo-three");
  expect(await settle(github)).toEqual([]);
  expect((await stored())?.repositoryFullName).toBe("acme-inc/echo-three");
});

test("BLD-7 a transferred repository is read through another installation of the organization", async () => {
  const own = await seedProject(database.db, organization);
  const github = new GitHubModel({ ...own, installationId: 4242 });
  const account = { installationId: 4242, accountLogin: "acme-inc", accountType: "Organization" };
  const queue = memoryQueue();
  github.push("main", "m1");
  expect(await settle(github)).toEqual([]);
  await recordInstallation({ ctx: as(organization.owner, queue), input: { orgSlug: organization.slug, ...account } });
  expect(await sync(github, queue)).toHaveLength(1);
  const [stored] = await database.db.select().from(project).where(eq(project.id, own.id));
  expect(stored?.installationId).toBe(4242);
});

test("BLD-7 with two organizations on one repository a failure of one does not affect the other", async () => {
  const others = await seedOrganization(database.db);
  const one = await seedProject(database.db, organization);
  const two = await seedProject(database.db, others, { repositoryId: one.repositoryId });
  const github = gitHubOf(one);
  const theirs = new GitHubModel({ ...two, installationId: others.installationId });
  github.push("main", "m1");
  theirs.push("main", "m1");
  const queue = memoryQueue();
  const [hint = { kind: "ignored" as const }] = github.deliveries;
  await processWebhook({ ctx: as(undefined, queue), input: { deliveryId: "none", hint } });
  const payloads = queue.jobs.map((each) => each.payload);
  expect(payloads).toEqual([one, two].map(({ id }) => ({ projectId: id, branch: "main" })));
  github.isUnreachable = true;
  const failing = syncBranch({ ctx: on(github), input: { projectId: one.id, branch: "main" } });
  await expect(failing).rejects.toThrow("unreachable");
  const settled = await syncBranch({ ctx: on(theirs), input: { projectId: two.id, branch: "main" } });
  expect(settled.outcome).toBe("build");
});

test.runIf(isThorough)(
  "BLD-15 a push that changes no watched path builds nothing and says so; the next that does builds",
  async () => {
    const watching = await seedProject(database.db, organization, { watchPaths: ["server", "!**/*.md"] });
    const github = gitHubOf(watching);
    const input = { orgSlug: organization.slug, projectName: watching.name };
    const skipped = async () =>
      (await listBranchesWithDeployments({ ctx: as(organization.owner), input }))[0]?.skipped ?? null;
    const push = async (commit: string, changes: readonly string[]) => {
      github.changes.set(commit, changes);
      github.push("main", commit);
      return settle(github);
    };
    const settleBuilt = async (builds: readonly string[]) => {
      for (const id of builds) await succeedBuild(database.db, id);
      return builds.length;
    };
    // Nothing to compare with.
    expect(await settleBuilt(await push("m1", ["README.md"]))).toBe(1);
    expect(await push("m2", ["README.md", "server/README.md"])).toEqual([]);
    expect(await skipped()).toMatchObject({ commitSha: shaOf("m2"), commitMessage: "m2" });
    expect(await live(watching, "main")).toBe(shaOf("m1"));
    // Reported twice.
    github.push("main", "m2");
    expect(await settle(github)).toEqual([]);
    const entries = await database.db
      .select()
      .from(auditLog)
      .where(eq(auditLog.projectId, watching.id))
      .orderBy(auditLog.id);
    expect(entries.filter(({ action }) => action === "build.skip")).toMatchObject([{ subject: "main" }]);
    expect(await settleBuilt(await push("m3", ["README.md", "server/main.py"]))).toBe(1);
    expect([await skipped(), await live(watching, "main")]).toEqual([null, shaOf("m3")]);
    // In doubt it is built: GitHub can't compare.
    github.push("main", "m4");
    expect(await settleBuilt(await settle(github))).toBe(1);
    await database.db.update(project).set({ watchPaths: [] }).where(eq(project.id, watching.id));
    expect(await settleBuilt(await push("m5", ["README.md"]))).toBe(1);
  },
);
