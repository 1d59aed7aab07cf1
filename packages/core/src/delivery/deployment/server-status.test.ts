import { branch, build, deployment, instance } from "@towpath/db/schema";
import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { listProjects } from "../../projects/project/index.ts";
import {
  refusalCode,
  sampleDiagnosis,
  seedOrganization,
  seedProject,
  seedUser,
  shaOf,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { failBuild, startBuild, takeBuild } from "../build/index.ts";
import { findDeployedCommit, findDeployments, getServerStatus, listRecentDeployments } from "./index.ts";

const suite = openProjectSuite();

const ctx = () => testContext(suite.database.db, suite.organization.owner);
const keyOf = (project: { name: string }) => ({ orgSlug: suite.organization.slug, projectName: project.name });
const statusOf = (project: { name: string }, branchId?: string) =>
  getServerStatus({ ctx: ctx(), input: { ...keyOf(project), branchId } });
const listed = async (project: { name: string }) =>
  (await listProjects({ ctx: ctx(), input: { orgSlug: suite.organization.slug } })).find(
    ({ name }) => name === project.name,
  );

async function live(project: { id: string; name: string }, name: string, branchName = "main"): Promise<string> {
  const input = { ...keyOf(project), branch: branchName, commitSha: shaOf(name) };
  const { id } = (await startBuild({ ctx: ctx(), input })).build;
  await succeedBuild(suite.database.db, id);
  return id;
}
const deploymentOf = async (buildId: string) =>
  (await suite.database.db.select().from(deployment).where(eq(deployment.buildId, buildId)))[0]?.id ?? "";

test("PRJ-19 a manifest of an earlier version that has what the database can't look into doesn't end the list", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const buildId = await live(project, "nul");
  const hostile = String.raw`a\u0000b\ud800c\\u0000d\ud83d\ude00`;
  const manifest = `{"tools": [{"${hostile}": "${hostile}"}, {"tool_name": "\\u001b"}, {}]}`;
  await suite.database.db.execute(sql`UPDATE build SET manifest = ${manifest}::json WHERE id = ${buildId}`);
  expect((await statusOf(project)).live?.tools).toBe(3);
  expect(await listed(project)).toMatchObject({ isLive: true });
});

test("PRJ-19 a project that was never deployed, one whose first build failed, and one that is live", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  expect(await statusOf(project)).toMatchObject({
    branch: { name: "main", isDefault: true },
    live: null,
    latestBuild: null,
    instance: null,
    deployments: [],
  });
  const { build: first } = await startBuild({ ctx: ctx(), input: { ...keyOf(project), commitSha: shaOf("a") } });
  const worker = testContext(suite.database.db, { kind: "job", job: "build.run" });
  const taken = await takeBuild({ ctx: worker, input: { buildId: first.id } });
  const fence = { buildId: first.id, attempt: taken?.attempt ?? 0 };
  await failBuild({ ctx: worker, input: { ...fence, diagnosis: sampleDiagnosis } });
  expect(await statusOf(project)).toMatchObject({
    live: null,
    latestBuild: { id: first.id, status: "failed", problem: sampleDiagnosis.title },
  });

  const buildId = await live(project, "b");
  await suite.database.db
    .update(build)
    .set({ commitAuthor: "Ada", manifest: { tools: [{}, {}] } })
    .where(eq(build.id, buildId));
  const status = await statusOf(project);
  expect(status).toMatchObject({
    live: { buildId, commitSha: shaOf("b"), commitAuthor: "Ada", tools: 2, url: expect.stringContaining(project.name) },
    latestBuild: { id: buildId, status: "succeeded", problem: null },
    deployments: [{ buildId, branch: "main", commitSha: shaOf("b") }],
  });
  expect(await listed(project)).toMatchObject({ live: { buildId, tools: 2 }, instanceState: null });
});

test("PRJ-19 ORG-2 awake, asleep, stopped or crashed, with memory and last start: as the newest instance of what is live", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const deploymentId = await deploymentOf(await live(project, "a"));
  const row = { deploymentId, startedAt: new Date(Date.now() - 60_000), memoryBytes: 40_000_000 };
  const older = { ...row, id: newId(), startedAt: new Date(Date.now() - 3_600_000), state: "crashed" };
  const newest = { ...row, id: newId(), state: "ready" };
  await suite.database.db.insert(instance).values([older, newest]);
  for (const [stored, state] of [
    ["starting", "starting"],
    ["ready", "awake"],
    ["frozen", "asleep"],
    ["stopping", "stopped"],
    ["of a later version", "stopped"],
  ]) {
    await suite.database.db
      .update(instance)
      .set({ state: stored ?? "" })
      .where(eq(instance.id, newest.id));
    expect([stored, (await statusOf(project)).instance?.state]).toEqual([stored, state]);
    expect([stored, (await listed(project))?.instanceState]).toEqual([stored, state]);
  }
  expect((await statusOf(project)).instance).toMatchObject({ memoryBytes: 40_000_000, endedAt: null });
  const ended = { state: "crashed", endedAt: new Date(), endReason: "It ran out of memory." };
  await suite.database.db.update(instance).set(ended).where(eq(instance.id, newest.id));
  expect((await statusOf(project)).instance).toMatchObject({
    state: "crashed",
    endReason: "It ran out of memory.",
    memoryBytes: null,
    startedAt: newest.startedAt.toISOString(),
  });
});

test("PRJ-19 a preview's status is of its branch; an unknown branch is not found, nor one of another project", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  await live(project, "a");
  const previewBuild = await live(project, "p", "feature");
  const [preview] = await suite.database.db.select().from(branch).where(eq(branch.name, "feature"));
  expect(await statusOf(project, preview?.id)).toMatchObject({
    branch: { name: "feature", isDefault: false },
    live: { buildId: previewBuild },
    deployments: [{ buildId: previewBuild }],
  });
  expect((await statusOf(project)).deployments).toHaveLength(2);
  const other = await seedProject(suite.database.db, suite.organization);
  for (const branchId of [other.branchId, newId(), "nonsense"])
    expect(await refusalCode(statusOf(project, branchId))).toBe("not_found");
});

test("PRJ-1 PRJ-19 the status of another organization's project is not found", async () => {
  const stranger = await seedOrganization(suite.database.db);
  const project = await seedProject(suite.database.db, suite.organization);
  const asStranger = testContext(suite.database.db, stranger.owner);
  expect(await refusalCode(getServerStatus({ ctx: asStranger, input: keyOf(project) }))).toBe("not_found");
});

test("PRJ-5 PRJ-20 deployments are found by their commit or id, in their own project alone", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const other = await seedProject(suite.database.db, suite.organization);
  const first = await deploymentOf(await live(project, "a"));
  const second = await deploymentOf(await live(project, "b", "topic"));
  const foreign = await deploymentOf(await live(other, "a"));
  const input = keyOf(project);
  const find = (text: string) => findDeployments({ ctx: ctx(), input: { ...input, text } });
  const listed = await listRecentDeployments({ ctx: ctx(), input });
  expect(listed.map(({ id, branch: name }) => [id, name])).toEqual([
    [second, "topic"],
    [first, "main"],
  ]);
  const commit = listed[1]?.commitSha ?? "";
  expect(await find(commit.slice(0, 7).toUpperCase())).toEqual([first]);
  expect(await find(second)).toEqual([second]);
  for (const text of [foreign, "ffff", "abc", "%", ""])
    await expect(find(text)).rejects.toThrow("This server has no deployment");
  const ofId = (deploymentId: string) => findDeployedCommit({ ctx: ctx(), input: { ...input, deploymentId } });
  expect(await ofId(first)).toEqual(listed[1]);
  expect([await ofId(foreign), await ofId("x")]).toEqual([null, null]);
  const stranger = testContext(suite.database.db, (await seedOrganization(suite.database.db)).owner);
  expect(await refusalCode(findDeployments({ ctx: stranger, input: { ...input, text: first } }))).toBe("not_found");
  expect(await refusalCode(listRecentDeployments({ ctx: stranger, input }))).toBe("not_found");
});

test("CAP-1 RUN-6 the crash of a caller's own instance is shown as that person's, and the server's state stays", async () => {
  const project = await seedProject(suite.database.db, suite.organization);
  const deploymentId = await deploymentOf(await live(project, "a"));
  const [{ id: ada }, { id: bob }] = [await seedUser(suite.database.db), await seedUser(suite.database.db)];
  const begun = Date.now() - 60_000;
  const at = (seconds: number) => new Date(begun + seconds * 1000);
  const add = (callerId: string | null, state: string, seconds: number) => {
    const ended = state === "crashed" ? { endedAt: at(seconds + 1), endReason: "it exited with status 3" } : {};
    const row = { id: newId(), deploymentId, callerId, state, startedAt: at(seconds), ...ended };
    return suite.database.db.insert(instance).values(row);
  };
  await add(null, "stopped", 0);
  expect((await statusOf(project)).callers).toBeNull();
  await add(ada, "crashed", 1);
  expect(await statusOf(project)).toMatchObject({
    instance: { state: "stopped" },
    callers: { running: 0, crashed: [{ caller: "Ada Example", endReason: "it exited with status 3" }] },
  });
  expect(await listed(project)).toMatchObject({ instanceState: "stopped" });
  await add(bob, "ready", 2);
  await add(ada, "crashed", 3);
  expect(await statusOf(project)).toMatchObject({
    instance: { state: "awake" },
    callers: { running: 1, crashed: [{ caller: "Ada Example", endedAt: at(4).toISOString() }] },
  });
  await add(ada, "frozen", 4);
  expect((await statusOf(project)).callers).toEqual({ running: 2, crashed: [] });
});
