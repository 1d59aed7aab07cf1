import { auditLog, build, buildLog } from "@towpath/db/schema";
import { and, asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import {
  finishBuild,
  liveCommit,
  refusal,
  refusalCode,
  seedOrganization,
  shaOf,
  succeedBuild,
} from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { cancelBuild, keepBuild, listBuilds, startBuild, takeBuild } from "./index.ts";

const suite = openProjectSuite();
const strangers = async () => (await seedOrganization(suite.database.db)).owner;
const worker = () => suite.as({ kind: "job", job: "build.run" });
const cancel = (buildId: string, actor: Actor = suite.organization.owner) =>
  cancelBuild({ ctx: suite.as(actor), input: { buildId } });
async function start(name: string, branch = "main") {
  const input = { ...suite.at(), branch, commitSha: shaOf(name) };
  return (await startBuild({ ctx: suite.as(suite.organization.owner), input })).build.id;
}

test("BLD-13 a person cancels a build that waits, and one that runs: its worker can change nothing any more", async () => {
  const { project } = suite;
  const waiting = await start("waiting");
  expect(await cancel(waiting)).toMatchObject({ status: "canceled", endedAt: expect.any(String) });
  expect(await takeBuild({ ctx: worker(), input: { buildId: waiting } })).toBeNull();

  const running = await start("running");
  const taken = await takeBuild({ ctx: worker(), input: { buildId: running } });
  const fence = { buildId: running, attempt: taken?.attempt ?? 0 };
  const line = { time: new Date(), phase: "install", kind: "step", text: "Versions: resolving." };
  await suite.database.db.insert(buildLog).values({ buildId: running, line: 1, ...line });
  await cancel(running);
  expect(await keepBuild({ ctx: worker(), input: fence })).toBe(false);
  expect(await finishBuild(suite.database.db, fence)).toEqual({ outcome: "lost" });
  expect(await liveCommit(suite.database.db, project.branchId)).toBeNull();
  const log = await suite.database.db
    .select()
    .from(buildLog)
    .where(eq(buildLog.buildId, running))
    .orderBy(asc(buildLog.line));
  expect(log.at(-1)).toMatchObject({ phase: "install", kind: "warning", text: "Canceled by an organization member." });
  const audits = await suite.database.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.organizationId, suite.organization.id), eq(auditLog.action, "build.cancel")))
    .orderBy(auditLog.id);
  expect(audits.map(({ subject }) => subject)).toEqual([waiting, running]);
});

test("BLD-13 a build that has ended can't be canceled; others get not found, viewers forbidden", async () => {
  const done = await start("done");
  await succeedBuild(suite.database.db, done);
  expect(await refusal(cancel(done))).toMatchObject({ code: "conflict", message: "This build has already ended." });
  const next = await start("next");
  expect(await refusalCode(cancel(next, await strangers()))).toBe("not_found");
  expect(await refusalCode(cancel(next, await suite.organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(cancel("nonsense"))).toBe("not_found");
  const [row] = await suite.database.db.select().from(build).where(eq(build.id, next));
  expect(row?.status).toBe("queued");
});

test("PRJ-2 builds by keyset, of one branch, or with a deployment: none twice when one is pushed between two pages", async () => {
  for (const name of ["a", "b", "c"]) await succeedBuild(suite.database.db, await start(name));
  await start("d", "feature");
  const list = async (
    input: Partial<Parameters<typeof listBuilds>[0]["input"]>,
    actor: Actor = suite.organization.owner,
  ) => {
    const { data, hasMore } = await listBuilds({ ctx: suite.as(actor), input: { ...suite.at(), ...input } });
    return { commits: data.map(({ commitSha }) => commitSha), last: data.at(-1)?.id, hasMore };
  };
  const shas = (...names: string[]) => names.map(shaOf);
  const first = await list({ limit: 2 });
  expect(first).toMatchObject({ commits: shas("d", "c"), hasMore: true });
  await start("e");
  expect(await list({ limit: 2, after: first.last })).toMatchObject({ commits: shas("b", "a"), hasMore: false });
  expect(await list({ limit: 2, after: newId() })).toMatchObject({ commits: [], hasMore: false });
  expect((await list({ branch: "feature" })).commits).toEqual(shas("d"));
  expect((await list({ deployed: true })).commits).toEqual(shas("c", "b", "a"));
  expect(await refusal(list({ branch: "nowhere" }))).toMatchObject({
    code: "not_found",
    message: expect.stringContaining("branch"),
  });
});
