import { branch, branchReport, forkPullRequest, gitSource, project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { deleteProject } from "../../projects/project/index.ts";
import { changeSource } from "../../sources/source/index.ts";
import { syncBranch } from "../../sources/webhook/index.ts";
import { deleteOrganization } from "../../tenancy/organization/index.ts";
import { GitModel } from "../../testing/git-model.ts";
import { GitHubModel } from "../../testing/github-model.ts";
import { ReportsModel } from "../../testing/github-reports.ts";
import { refusalCode, sampleOutcome, seedProject, shaOf } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { type MemoryQueue, memoryQueue } from "../../testing/seed.ts";
import { cancelBuild, startBuild, takeBuild } from "../build/index.ts";
import { createDeployment, goLive } from "../deployment/index.ts";
import { leaveRepository, reportBranch } from "./index.ts";

const gitUrl = "https://git.example/acme/echo";
const suite = openProjectSuite();
let reports: ReportsModel;
let queue: MemoryQueue;
let git: GitModel;
beforeEach(() => {
  reports = new ReportsModel();
  queue = memoryQueue({ withReports: true });
  git = new GitModel(gitUrl);
  git.heads.set("main", "u1");
});

const db = () => suite.database.db;
const as = (actor = suite.organization.owner) => suite.as(actor, { queue, gitRemotes: git.remotes });
const job = () => suite.as({ kind: "job", job: "test" }, { queue });
/** Runs the jobs that report; returns which branches were reported. */
async function report(): Promise<readonly string[]> {
  const branches: string[] = [];
  for (const { name, payload } of queue.jobs.splice(0)) {
    if (name === "repository.leave") {
      await leaveRepository({ ctx: job(), input: { leaving: payload as never, reporter: reports } });
    } else if (name === "branch.report") {
      const { branchId } = payload as { branchId: string };
      branches.push(branchId);
      await reportBranch({ ctx: job(), input: { branchId, reporter: reports, postState: async () => {} } });
    }
  }
  return branches;
}
const start = async (name: string, commit: string) =>
  (await startBuild({ ctx: as(), input: { ...suite.at(), branch: name, commitSha: shaOf(commit) } })).build.id;
/** As a worker, with its jobs. */
async function succeed(buildId: string): Promise<void> {
  const taken = await takeBuild({ ctx: job(), input: { buildId } });
  const fence = { buildId, attempt: taken?.attempt ?? 0 };
  await createDeployment({ ctx: job(), input: sampleOutcome(fence) });
  await goLive({ ctx: job(), input: fence });
}
async function deploy(name: string, commit: string): Promise<string> {
  const id = await start(name, commit);
  await succeed(id);
  await report();
  return id;
}
const own = () => `acme/${suite.project.name}`;
const leave = () => changeSource({ ctx: as(), input: { projectId: suite.project.id, gitUrl } });

test("SRC-1 BLD-8 GitHub shows what a server that left its repository serves from there, and no longer: previews at once, production when the next source's build is live", async () => {
  await deploy("main", "one");
  await deploy("topic", "two");
  const running = await start("main", "three");
  await takeBuild({ ctx: job(), input: { buildId: running } });
  const queued = await start("topic", "four");
  await report();
  const { build: next } = await leave();
  await report();
  expect(reports.stateOf).toEqual({
    [shaOf("one")]: "success",
    [shaOf("two")]: "inactive",
    [shaOf("three")]: "in_progress",
  });
  expect(reports.checkOf(shaOf("four"))).toMatchObject({
    externalId: queued,
    conclusion: "cancelled",
    repository: own(),
  });
  await cancelBuild({ ctx: as(), input: { buildId: running } });
  await succeed(next.id);
  await report();
  expect(reports.stateOf).toEqual({
    [shaOf("one")]: "inactive",
    [shaOf("two")]: "inactive",
    [shaOf("three")]: "inactive",
  });
  expect(reports.checkOf(shaOf("three"))).toMatchObject({ conclusion: "cancelled", repository: own() });
  // The next source has no reports, and the earlier one's don't begin again.
  const { calls } = reports;
  expect(reports.checkOf(shaOf("u1"))).toBeUndefined();
  const input = { ...suite.at(), branch: "main", reuse: "never" } as const;
  const { build: again } = await startBuild({ ctx: as(), input });
  await cancelBuild({ ctx: as(), input: { buildId: again.id } });
  await report();
  expect(reports.calls).toBe(calls);
});

test("BLD-8 from one repository of GitHub to another each gets reports of its own; a default branch that is replaced leaves nothing active", async () => {
  await deploy("main", "one");
  const other = { installationId: suite.organization.installationId, fullName: "acme/other" };
  const { build: next } = await changeSource({
    ctx: as(),
    input: { projectId: suite.project.id, githubRepository: other, branch: "trunk" },
  });
  await succeed(next.id);
  await report();
  const shown = [...reports.deployments.values()].map(({ repository, state }) => [repository, state]);
  expect(shown).toEqual([
    [own(), "inactive"],
    ["acme/other", "success"],
  ]);
  expect(reports.checkOf(next.commitSha)).toMatchObject({ repository: "acme/other", conclusion: "success" });

  // The same without a change of source: GitHub's default branch is another one from now on.
  const renamed = await seedProject(db(), suite.organization);
  const model = new GitHubModel({
    repositoryId: renamed.repositoryId,
    installationId: suite.organization.installationId,
  });
  model.fullName = `acme/${renamed.name}`;
  model.push("main", "m1");
  const sync = async (name: string) =>
    syncBranch({ ctx: { ...job(), repositories: model.host }, input: { projectId: renamed.id, branch: name } });
  const built = async (settled: Awaited<ReturnType<typeof sync>>) => {
    if (settled.outcome !== "build") throw new Error(settled.outcome);
    await succeed(settled.buildId);
    await report();
  };
  await built(await sync("main"));
  model.push("next", "n1");
  model.remove("main");
  model.switchDefault("next");
  await sync("main");
  await built(await sync("next"));
  expect([reports.stateOf[shaOf("m1")], reports.stateOf[shaOf("n1")]]).toEqual(["inactive", "success"]);
});

test("PRJ-11 BLD-8 a deleted server leaves no active deployment, no running check and no comment that offers it, on GitHub", async () => {
  await deploy("main", "one");
  await deploy("topic", "two");
  await db().update(branch).set({ pullRequestNumber: 7 }).where(eq(branch.name, "topic"));
  const running = await start("topic", "three");
  await takeBuild({ ctx: job(), input: { buildId: running } });
  await report();
  const fork = { id: newId(), projectId: suite.project.id, name: "pull:9", pullRequestNumber: 9 };
  await db().insert(branch).values(fork);
  const head = { commitSha: shaOf("f1"), headBranch: "x", author: "bob", title: "T", state: "waiting" };
  await db()
    .insert(forkPullRequest)
    .values({ ...head, branchId: fork.id, commitMessage: "m", waitingSince: new Date() });
  queue.jobs.push({ name: "branch.report", payload: { branchId: fork.id }, key: null });
  await report();
  expect(reports.checkOf(shaOf("f1"))).toMatchObject({ conclusion: "action_required" });
  expect(reports.checkOf(shaOf("three"))).toMatchObject({ status: "in_progress" });
  expect([...reports.comments.values()].map(({ number }) => number)).toEqual([7, 9]);

  await deleteProject({ ctx: as(), input: { ...suite.at(), confirmation: suite.project.name } });
  await report();
  expect(reports.stateOf).toEqual({
    [shaOf("one")]: "inactive",
    [shaOf("two")]: "inactive",
    [shaOf("three")]: "inactive",
  });
  for (const commit of ["three", "f1"]) {
    expect(reports.checkOf(shaOf(commit))).toMatchObject({
      status: "completed",
      conclusion: "cancelled",
      title: "Ended",
    });
  }
  for (const { body } of reports.comments.values())
    expect(body).toMatch(/\nNo server is deployed from this repository/);
  // Reported twice, it is as it was.
  expect(await db().$count(branchReport, eq(branchReport.branchId, suite.project.branchId))).toBe(0);
});

test("PRJ-11 BLD-8 the servers of a deleted organization leave GitHub too; a server beside a deleted one stays in the comment", async () => {
  const second = await seedProject(db(), suite.organization, {
    repositoryId: suite.project.repositoryId,
    repositoryFullName: own(),
    name: `${suite.project.name}-b`,
  });
  await deploy("main", "one");
  await deploy("topic", "two");
  const input = {
    orgSlug: suite.organization.slug,
    projectName: second.name,
    branch: "topic",
    commitSha: shaOf("two"),
  };
  await succeed((await startBuild({ ctx: as(), input })).build.id);
  await db().update(branch).set({ pullRequestNumber: 7 }).where(eq(branch.name, "topic"));
  for (const { id } of await db().select().from(branch).where(eq(branch.name, "topic")))
    queue.jobs.push({ name: "branch.report", payload: { branchId: id }, key: null });
  await report();
  await deleteProject({ ctx: as(), input: { ...suite.at(), confirmation: suite.project.name } });
  await report();
  const [comment] = reports.comments.values();
  expect(comment?.body).toContain(second.name);
  expect(comment?.body.split("\n").filter((line) => line.startsWith("| "))).toHaveLength(3);
  const states = () => [...reports.deployments.values()].map(({ state }) => state);
  expect(states()).toEqual(["inactive", "inactive", "success"]);
  await deleteOrganization({
    ctx: as(),
    input: { orgSlug: suite.organization.slug, confirmation: suite.organization.slug },
  });
  await report();
  expect(states()).toEqual(["inactive", "inactive", "inactive"]);
  const leaving = { installationId: 1, fullName: "a/b" } as never;
  const call = { ctx: as(), input: { leaving, reporter: reports } };
  expect(await refusalCode(leaveRepository(call))).toBe("forbidden");
});

test("BLD-8 nothing is enqueued where there is nobody to report to: packages, and Git URLs without a status hook", async () => {
  const reports = () => queue.jobs.splice(0).filter(({ name }) => name === "branch.report").length;
  const start = (projectName: string) =>
    startBuild({ ctx: as(), input: { orgSlug: suite.organization.slug, projectName, reuse: "never" } });
  await start(suite.project.name);
  expect(reports()).toBe(1);
  const without = await seedProject(db(), suite.organization);
  await changeSource({ ctx: as(), input: { projectId: without.id, gitUrl } });
  queue.jobs.splice(0);
  await start(without.name);
  expect(reports()).toBe(0);
  await db()
    .update(gitSource)
    .set({ statusKind: "gitlab", statusCiphertext: "x" })
    .where(and(eq(gitSource.projectId, without.id)));
  await start(without.name);
  expect(reports()).toBe(1);
  await db().update(project).set({ installationId: null }).where(eq(project.id, suite.project.id));
  await start(suite.project.name).catch(() => {});
  expect(reports()).toBe(0);
});
