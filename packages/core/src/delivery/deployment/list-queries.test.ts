import type { Database } from "@towpath/db";
import { branch, build, deployment } from "@towpath/db/schema";
import { createTestDatabase } from "@towpath/db/testing";
import { eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { listProjectRows, newestDeployments } from "../../projects/project/project.store.ts";
import { seedOrganization, seedProject } from "../../testing/index.ts";
import { newestBuildOf } from "../build/build.store.ts";
import { selectBuilds } from "../build/internal.ts";
import { selectBranches, selectDeployments } from "./deployment.store.ts";

// Many rows, so that a plan which reads and sorts all of a project's builds is dearer than one look into an index.
const buildsPerBranch = 4_000;
const branches = 5;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let projectId: string;
let organizationId: string;
let branchId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const organization = await seedOrganization(database.db);
  const project = await seedProject(database.db, organization);
  organizationId = organization.id;
  projectId = project.id;
  branchId = project.branchId;
  const others = Array.from({ length: branches - 1 }, (_, index) => ({ id: newId(), projectId, name: `b${index}` }));
  await database.db.insert(branch).values(others);
  for (const each of [branchId, ...others.map(({ id }) => id)]) {
    await database.db.execute(sql`INSERT INTO ${build} (id, project_id, branch_id, status, commit_sha, trigger, sequence, entrypoint, created_at)
      SELECT gen_random_uuid(), ${projectId}, ${each}, 'succeeded', 'c', 'push', n, 'echo.py', now() - n * interval '1 minute'
      FROM generate_series(1, ${buildsPerBranch}) n`);
  }
  await database.db.execute(sql`INSERT INTO ${deployment} (id, project_id, branch_id, build_id, environment, slug, created_at)
    SELECT gen_random_uuid(), project_id, branch_id, id, 'production', 'echo', created_at FROM ${build}`);
  await database.db.execute(sql`ANALYZE`);
});
afterAll(() => database.close());

/** Rows that the plan read from `build` and `deployment` altogether. */
async function rowsRead(db: Database, query: SQLWrapper): Promise<number> {
  const result = await db.execute(sql`EXPLAIN (ANALYZE, FORMAT JSON) ${query.getSQL() as SQL}`);
  const plan: unknown = Object.values(result.rows[0] ?? {})[0];
  let rows = 0;
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { "Relation Name": relation, "Actual Rows": actual, "Actual Loops": loops } = node as Record<string, unknown>;
    if (relation === "build" || relation === "deployment") rows += Number(actual) * Number(loops);
    for (const part of Object.values(node)) walk(part);
  };
  walk(plan);
  return rows;
}

test("PRJ-2 lists of builds, deployments and branches read only what they show, not a project's whole history", async () => {
  const { db } = database;
  const page = selectBuilds(db, eq(build.projectId, projectId)).limit(21);
  expect(await rowsRead(db, page)).toBeLessThan(100);
  const deployments = selectDeployments(db, eq(deployment.projectId, projectId)).limit(1);
  expect(await rowsRead(db, deployments)).toBeLessThan(20);
  expect(await rowsRead(db, newestDeployments(db, projectId, 20))).toBeLessThan(60);
  expect(await rowsRead(db, selectBranches(db, projectId))).toBeLessThan(60);
  expect(await rowsRead(db, listProjectRows(db, [organizationId], { type: "all", text: "" }))).toBeLessThan(20);
});

test("BLD-11 the newest build of a branch is the one with the highest sequence", async () => {
  expect((await newestBuildOf(database.db, branchId))?.sequence).toBe(buildsPerBranch);
  const rows = await selectBranches(database.db, projectId);
  expect(rows).toHaveLength(branches);
  expect(rows.every((row) => row.latestBuild !== null)).toBe(true);
});
