import { auditLog, build, buildLog } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  liveCommit,
  memoryQueue,
  refusalCode,
  type SeededOrganization,
  sampleDiagnosis,
  seedOrganization,
  seedProject,
  succeedBuild,
  testContext,
} from "../testing/index.ts";
import { failBuild, rebuildLostLayers, startBuild, takeBuild } from "./index.ts";

let database: TestDatabase;
let team: SeededOrganization;
beforeAll(async () => {
  database = await createTestDatabase();
  team = await seedOrganization(database.db);
});
afterAll(() => database.close());

const commit = "a".repeat(40);
const worker = () => testContext(database.db, { kind: "job", job: "sweep" });
const rebuild = (isStored: boolean) => rebuildLostLayers({ ctx: worker(), input: { isStored: async () => isStored } });
async function deployed() {
  const project = await seedProject(database.db, team);
  const input = { orgSlug: team.slug, projectName: project.name, commitSha: commit };
  const { build: made } = await startBuild({ ctx: testContext(database.db, team.owner), input });
  await succeedBuild(database.db, made.id);
  return { input, made };
}

test("RUN-8 a live deployment whose layers are lost is built again, once, and the log says why", async () => {
  const { made } = await deployed();
  expect(await rebuild(true)).toEqual([]);
  // Several workers at the same time.
  const queued = (await Promise.all([1, 2, 3, 4].map(() => rebuild(false)))).flat();
  expect(queued).toHaveLength(1);
  const [id = ""] = queued;
  const [row] = await database.db.select().from(build).where(eq(build.id, id));
  expect(row).toMatchObject({ status: "queued", commitSha: commit, trigger: "redeploy", sequence: 2 });
  const [line] = await database.db.select().from(buildLog).where(eq(buildLog.buildId, id));
  expect(line).toMatchObject({ kind: "warning", text: expect.stringContaining("no longer stored") });
  const [entry] = await database.db.select().from(auditLog).where(eq(auditLog.subject, id));
  expect(entry).toMatchObject({ actor: "job:sweep", detail: { of: made.id, commit } });
  // One that fails is not tried for ever.
  const ctx = worker();
  const taken = await takeBuild({ ctx, input: { buildId: id } });
  await failBuild({ ctx, input: { buildId: id, attempt: taken?.attempt ?? 0, diagnosis: sampleDiagnosis } });
  expect(await rebuild(false)).toEqual([]);
  expect(await liveCommit(database.db, row?.branchId ?? "")).toBe(commit);
});

test("RUN-8 while a build of the branch runs, no other is queued: its result replaces what is lost", async () => {
  const { input } = await deployed();
  const ctx = testContext(database.db, team.owner, { queue: memoryQueue() });
  const { build: next } = await startBuild({ ctx, input: { ...input, commitSha: "b".repeat(40) } });
  expect(await rebuild(false)).toEqual([]);
  await succeedBuild(database.db, next.id);
  expect(await rebuild(false)).toHaveLength(1);
});

test("users can't start it", async () => {
  const call = { ctx: testContext(database.db, team.owner), input: { isStored: async () => false } };
  expect(await refusalCode(rebuildLostLayers(call))).toBe("forbidden");
});
