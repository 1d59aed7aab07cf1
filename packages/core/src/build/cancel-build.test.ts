import { auditLog, build, buildLog } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Actor } from "../context/index.ts";
import { newId } from "../ids/index.ts";
import {
  finishBuild,
  liveCommit,
  refusal,
  refusalCode,
  type SeededOrganization,
  seedOrganization,
  seedProject,
  shaOf,
  succeedBuild,
  testContext,
} from "../testing/index.ts";
import { cancelBuild, keepBuild, listBuilds, startBuild, takeBuild } from "./index.ts";

let database: TestDatabase;
let team: SeededOrganization;
let others: SeededOrganization;
beforeAll(async () => {
  database = await createTestDatabase();
  team = await seedOrganization(database.db);
  others = await seedOrganization(database.db);
});
afterAll(() => database.close());

const as = (actor: Actor) => testContext(database.db, actor);
const worker = () => as({ kind: "job", job: "build.run" });
const cancel = (buildId: string, actor: Actor = team.owner) => cancelBuild({ ctx: as(actor), input: { buildId } });
type Project = { readonly name: string };

async function start(project: Project, name: string, branch = "main") {
  const input = { orgSlug: team.slug, projectName: project.name, branch, commitSha: shaOf(name) };
  return (await startBuild({ ctx: as(team.owner), input })).build.id;
}

test("BLD-13 a person cancels a build that waits, and one that runs: its worker can change nothing any more", async () => {
  const project = await seedProject(database.db, team);
  const waiting = await start(project, "waiting");
  expect(await cancel(waiting)).toMatchObject({ status: "canceled", endedAt: expect.any(String) });
  expect(await takeBuild({ ctx: worker(), input: { buildId: waiting } })).toBeNull();

  const running = await start(project, "running");
  const taken = await takeBuild({ ctx: worker(), input: { buildId: running } });
  const fence = { buildId: running, attempt: taken?.attempt ?? 0 };
  const line = { time: new Date(), phase: "install", kind: "step", text: "Versions: resolving." };
  await database.db.insert(buildLog).values({ buildId: running, line: 1, ...line });
  await cancel(running);
  expect(await keepBuild({ ctx: worker(), input: fence })).toBe(false);
  expect(await finishBuild(database.db, fence)).toEqual({ outcome: "lost" });
  expect(await liveCommit(database.db, project.branchId)).toBeNull();
  const log = await database.db
    .select()
    .from(buildLog)
    .where(eq(buildLog.buildId, running))
    .orderBy(asc(buildLog.line));
  expect(log.at(-1)).toMatchObject({ phase: "install", kind: "warning", text: "Canceled by a team member." });
  const audits = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.action, "build.cancel"))
    .orderBy(auditLog.id);
  expect(audits.map(({ subject }) => subject)).toEqual([waiting, running]);
});

test("BLD-13 a build that has ended can't be canceled; others get not found, viewers forbidden", async () => {
  const project = await seedProject(database.db, team);
  const done = await start(project, "done");
  await succeedBuild(database.db, done);
  expect(await refusal(cancel(done))).toMatchObject({ code: "conflict", message: "This build has ended already." });
  const next = await start(project, "next");
  expect(await refusalCode(cancel(next, others.owner))).toBe("not_found");
  expect(await refusalCode(cancel(next, await team.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(cancel("nonsense"))).toBe("not_found");
  const [row] = await database.db.select().from(build).where(eq(build.id, next));
  expect(row?.status).toBe("queued");
});

test("PRJ-2 builds by keyset, of one branch, or with a deployment: none twice when one is pushed between two pages", async () => {
  const project = await seedProject(database.db, team);
  for (const name of ["a", "b", "c"]) await succeedBuild(database.db, await start(project, name));
  await start(project, "d", "feature");
  const list = async (input: Partial<Parameters<typeof listBuilds>[0]["input"]>, actor: Actor = team.owner) => {
    const key = { orgSlug: team.slug, projectName: project.name };
    const { data, hasMore } = await listBuilds({ ctx: as(actor), input: { ...key, ...input } });
    return { commits: data.map(({ commitSha }) => commitSha), last: data.at(-1)?.id, hasMore };
  };
  const shas = (...names: string[]) => names.map(shaOf);
  const first = await list({ limit: 2 });
  expect(first).toMatchObject({ commits: shas("d", "c"), hasMore: true });
  await start(project, "e");
  expect(await list({ limit: 2, after: first.last })).toMatchObject({ commits: shas("b", "a"), hasMore: false });
  expect(await list({ limit: 2, after: newId() })).toMatchObject({ commits: [], hasMore: false });
  expect((await list({ branch: "feature" })).commits).toEqual(shas("d"));
  expect((await list({ deployed: true })).commits).toEqual(shas("c", "b", "a"));
  expect(await refusal(list({ branch: "nowhere" }))).toMatchObject({
    code: "not_found",
    message: expect.stringContaining("branch"),
  });
});
