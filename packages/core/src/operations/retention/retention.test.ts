import {
  auditLog,
  branch,
  build,
  deployment,
  erasure,
  instance,
  type RetentionPolicy,
  retentionRules,
  route,
  session,
  webhookDelivery,
} from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq, inArray, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { startBuild } from "../../delivery/build/index.ts";
import { newId } from "../../ids/index.ts";
import { deleteProject } from "../../projects/project/index.ts";
import {
  processWebhook,
  receiveWebhook,
  requeueLostDeliveries,
  requeueLostHints,
} from "../../sources/webhook/index.ts";
import {
  openOrganization,
  refusalCode,
  seedProject,
  seedUser,
  shaOf,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import { logReferences } from "./erase-logs.ts";
import { sweepRows } from "./index.ts";

const policy: RetentionPolicy = {
  requestLogDays: 30,
  serverLogDays: 14,
  buildLogDays: 30,
  auditDays: 365,
  endedBranchDays: 14,
  buildsPerBranch: 5,
  deploymentsPerBranch: 2,
};
const day = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * day);

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });

const job = () => testContext(database.db, { kind: "job", job: "sweep" });
async function sweep(now = new Date()): Promise<Readonly<Record<string, number>>> {
  const swept = await sweepRows({ ctx: job(), input: { now, policy } });
  expect(swept?.problems).toEqual([]);
  return swept?.removed ?? {};
}
const count = async (query: ReturnType<typeof sql>) =>
  Number((await database.db.execute<{ n: string }>(sql`SELECT count(*) AS n FROM ${query}`)).rows[0]?.n);

test("LOG-6 every table has a retention rule, and every rule a table", async () => {
  const { rows } = await database.db.execute<{ name: string }>(
    sql`SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
      AND NOT relispartition ORDER BY 1`,
  );
  expect(rows.map((row) => row.name)).toEqual(Object.keys(retentionRules).toSorted());
  for (const [table, rule] of Object.entries(retentionRules)) {
    if (rule.until !== "owner") continue;
    const owners = await count(
      sql`pg_constraint WHERE conrelid = ${table}::regclass AND contype = 'f' AND confdeltype = 'c'`,
    );
    expect(owners, `${table} has an owner`).toBeGreaterThan(0);
  }
});

test("LOG-6 rows that refer to a deleted row without a foreign key are erased", async () => {
  const { rows } = await database.db.execute<{ table: string; column: string }>(
    sql`SELECT c.table_name AS table, c.column_name AS column FROM information_schema.columns c
      JOIN pg_class t ON t.relname = c.table_name AND t.relnamespace = 'public'::regnamespace AND NOT t.relispartition
      WHERE c.table_schema = 'public' AND c.column_name IN ('project_id', 'deployment_id', 'build_id')
        AND NOT EXISTS (SELECT 1 FROM pg_constraint f JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey)
          WHERE f.conrelid = t.oid AND f.contype = 'f' AND a.attname = c.column_name)`,
  );
  const tables = new Set(rows.map((row) => row.table));
  // Audit entries and what a chat used of a model outlive what they tell of; chats outlive deployments.
  for (const table of ["audit_log", "chat_usage", "chat_turn"]) tables.delete(table);
  // Its `deployment_id` is GitHub's.
  tables.delete("build_report");
  expect([...tables].toSorted()).toEqual([...new Set(logReferences.map(({ table }) => table))].toSorted());
});

test("LOG-6 expired rows are removed in batches, others stay", async () => {
  const user = await seedUser(database.db);
  const rowsOf = (days: number, many: number) =>
    Array.from({ length: many }, () => ({ id: newId(), userId: user.id, token: newId(), expiresAt: ago(days) }));
  await database.db.insert(session).values([...rowsOf(2, 2500), ...rowsOf(-2, 3), ...rowsOf(0.5, 1)]);
  await database.db.insert(auditLog).values([
    { id: newId(), organizationId: organization.id, actor: "operator", action: "old", createdAt: ago(366) },
    { id: newId(), organizationId: organization.id, actor: "operator", action: "new", createdAt: ago(364) },
  ]);
  const removed = await sweep();
  expect(removed).toMatchObject({ session: 2500, audit_log: 1 });
  expect(await database.db.$count(session, eq(session.userId, user.id))).toBe(4);
  expect(await sweep()).toMatchObject({ session: 0, audit_log: 0 });
});

test("LOG-6 a delivery loses its payload when processed, and is removed when GitHub can no longer redeliver it", async () => {
  const input = { deliveryId: newId(), event: "push", payload: { ref: "refs/heads/main" } };
  await receiveWebhook({ ctx: job(), input });
  await processWebhook({ ctx: job(), input: { deliveryId: input.deliveryId, hint: { kind: "ignored" } } });
  const [kept] = await database.db.select().from(webhookDelivery).where(eq(webhookDelivery.id, input.deliveryId));
  expect(kept?.payload).toBeNull();
  await sweep(new Date(Date.now() + 3 * day));
  expect(await receiveWebhook({ ctx: job(), input })).toEqual({ duplicate: true });
  await sweep(new Date(Date.now() + 8 * day));
  expect(await database.db.$count(webhookDelivery, eq(webhookDelivery.id, input.deliveryId))).toBe(0);
});

test("LOG-3 daily partitions of the logs are dropped, and old rows of the default partition removed", async () => {
  const partition = (table: string, date: Date) => `${table}_${date.toISOString().slice(0, 10).replaceAll("-", "")}`;
  for (const days of [40, 20]) {
    await database.db.execute(sql`SELECT towpath_ensure_log_partitions(${ago(days).toISOString().slice(0, 10)}::date)`);
  }
  const write = (date: Date) =>
    database.db.execute(sql`INSERT INTO server_log (time, project_id, deployment_id, stream, level, line)
      VALUES (${date.toISOString()}::timestamptz, ${newId()}::uuid, ${newId()}::uuid, 'stdout', 'info', 'x')`);
  for (const days of [60, 40, 20, 0]) await write(ago(days));
  expect(await count(sql`server_log_default`)).toBe(1);
  await sweep();
  const exists = async (name: string) => (await count(sql`pg_class WHERE relname = ${name}`)) === 1;
  expect(await exists(partition("request_log", ago(40)))).toBe(false);
  expect(await exists(partition("request_log", ago(20)))).toBe(true);
  expect(await exists(partition("server_log", ago(20)))).toBe(false);
  expect(await count(sql`server_log_default`)).toBe(0);
  expect(await count(sql`server_log`)).toBe(1);
});

test("LOG-3 a partition that a long query reads is dropped later, and no query waits for it", async () => {
  const date = ago(50).toISOString().slice(0, 10);
  await database.db.execute(sql`SELECT towpath_ensure_log_partitions(${date}::date)`);
  const name = `request_log_${date.replaceAll("-", "")}`;
  const reader = await database.pool.connect();
  try {
    await reader.query(`BEGIN; SELECT count(*) FROM ${name}`);
    const swept = await sweepRows({ ctx: job(), input: { now: new Date(), policy } });
    expect(swept?.problems.map((each) => each.name)).toEqual(["request_log"]);
    expect(swept?.removed).toHaveProperty("server_log");
  } finally {
    await reader.query("ROLLBACK");
    reader.release();
  }
  await sweep();
  expect(await count(sql`pg_class WHERE relname = ${name}`)).toBe(0);
});

async function push(project: { name: string }, commit: string, name = "main"): Promise<string> {
  const ctx = testContext(database.db, organization.owner);
  const input = { orgSlug: organization.slug, projectName: project.name, branch: name, commitSha: shaOf(commit) };
  const { build: started } = await startBuild({ ctx, input });
  await succeedBuild(database.db, started.id);
  await database.db.execute(
    sql`INSERT INTO build_log (build_id, line, time, phase, kind, text) VALUES (${started.id}::uuid, 100, now(), 'plan', 'step', 'x')`,
  );
  return started.id;
}

test("LOG-6 of each branch the latest builds and deployments stay, and what is live at any age", async () => {
  const project = await seedProject(database.db, organization);
  const first = await push(project, "c0");
  const [live] = await database.db.select().from(route).where(eq(route.projectId, project.id));
  for (let at = 1; at < 8; at++) await push(project, `c${at}`);
  // As after a roll-back.
  await database.db
    .update(route)
    .set({ deploymentId: live?.deploymentId ?? "" })
    .where(eq(route.projectId, project.id));
  const other = await seedProject(database.db, organization);
  await push(other, "d0");
  expect(await sweep()).toMatchObject({ deployment: 5, build: 2 });
  const builds = await database.db.select().from(build).where(eq(build.projectId, project.id));
  expect(builds).toHaveLength(6);
  expect(builds.map((each) => each.id)).toContain(first);
  expect(await database.db.$count(deployment, eq(deployment.projectId, project.id))).toBe(3);
  expect(await database.db.$count(route, eq(route.projectId, project.id))).toBe(1);
  expect(await database.db.$count(deployment, eq(deployment.projectId, other.id))).toBe(1);
  // The next sweep erases the logs of the builds that are gone.
  await sweep();
  expect(await count(sql`build_log WHERE NOT EXISTS (SELECT 1 FROM build WHERE id = build_id)`)).toBe(0);
});

test.runIf(isThorough)(
  "LOG-6 RUN-8 a superseded deployment stays while its server runs, whose sessions would end with it",
  async () => {
    const project = await seedProject(database.db, organization);
    for (let at = 0; at < 6; at++) await push(project, `s${at}`);
    const made = await database.db
      .select({ id: deployment.id })
      .from(deployment)
      .innerJoin(build, eq(build.id, deployment.buildId))
      .where(eq(deployment.projectId, project.id))
      .orderBy(build.sequence);
    const [awake = "", asleep = "", stopped = "", lost = ""] = made.map(({ id }) => id);
    const start = { id: newId(), startedAt: new Date() };
    await database.db.insert(instance).values([
      { ...start, deploymentId: awake, state: "ready" },
      { ...start, id: newId(), deploymentId: asleep, state: "frozen" },
      { ...start, id: newId(), deploymentId: stopped, state: "stopped", endedAt: new Date() },
      // Its host is gone.
      { id: newId(), startedAt: new Date(Date.now() - 8 * 86_400_000), deploymentId: lost, state: "ready" },
    ]);
    await sweep();
    const left = async () =>
      (await database.db.select().from(deployment).where(eq(deployment.projectId, project.id))).map(({ id }) => id);
    expect((await left()).toSorted()).toEqual([awake, asleep, ...made.slice(-2).map(({ id }) => id)].toSorted());
    await database.db
      .update(instance)
      .set({ state: "stopped" })
      .where(inArray(instance.deploymentId, [awake, asleep]));
    await sweep();
    expect(await left()).toHaveLength(2);
  },
);

test("LOG-6 an ended preview is removed with its builds after a while, unless a push has reopened it", async () => {
  const project = await seedProject(database.db, organization);
  const gone = await push(project, "a", "gone");
  const revived = await push(project, "b", "revived");
  const fresh = await push(project, "c", "fresh");
  const end = (name: string, days: number) =>
    database.db
      .update(branch)
      .set({ endedAt: ago(days) })
      .where(eq(branch.name, name));
  await end("gone", 15);
  await end("fresh", 3);
  await database.db
    .update(branch)
    .set({ endedAt: ago(15), hintedAt: new Date() })
    .where(eq(branch.name, "revived"));
  expect(await sweep()).toMatchObject({ branch: 1 });
  const left = await database.db
    .select()
    .from(build)
    .where(inArray(build.id, [gone, revived, fresh]));
  expect(left.map((each) => each.id).toSorted()).toEqual([revived, fresh].toSorted());
});

test("LOG-6 SRC-1 the branch of what is live stays, though it has ended: nothing has replaced it in production yet", async () => {
  const project = await seedProject(database.db, organization);
  const live = await push(project, "a");
  const ofProject = eq(branch.projectId, project.id);
  // As after a change of the source or the default branch, whose first build failed.
  await database.db
    .update(branch)
    .set({ isDefault: false, endedAt: ago(15) })
    .where(ofProject);
  const next = newId();
  await database.db.insert(branch).values({ id: next, projectId: project.id, name: "next", isDefault: true });
  await database.db.update(route).set({ branchId: next, sequence: 0 }).where(eq(route.projectId, project.id));
  await sweep();
  expect(await database.db.$count(build, eq(build.id, live))).toBe(1);
  expect(await database.db.$count(route, eq(route.projectId, project.id))).toBe(1);
  await database.db.delete(route).where(eq(route.projectId, project.id));
  expect(await sweep()).toMatchObject({ branch: 1 });
});

test("LOG-6 a build's log is removed by age, the build stays", async () => {
  const project = await seedProject(database.db, organization);
  const [old, recent] = [await push(project, "a"), await push(project, "b")];
  await database.db
    .update(build)
    .set({ endedAt: ago(31) })
    .where(eq(build.id, old));
  await sweep();
  expect(await count(sql`build_log WHERE build_id = ${old}`)).toBe(0);
  expect(await count(sql`build_log WHERE build_id = ${recent}`)).toBeGreaterThan(0);
  expect(await database.db.$count(build, eq(build.id, old))).toBe(1);
});

test("LOG-6 logs of a deleted project are erased, including late rows", async () => {
  const project = await seedProject(database.db, organization);
  const buildId = await push(project, "a");
  const [made] = await database.db.select().from(deployment).where(eq(deployment.buildId, buildId));
  const deploymentId = made?.id ?? "";
  const write = async () => {
    await database.db.execute(sql`INSERT INTO request_log (id, time, organization_id, project_id, deployment_id, kind,
        http_method, http_status, is_error, outcome, duration_ms, request_bytes, response_bytes, principal)
      VALUES (${newId()}::uuid, now(), ${organization.id}::uuid, ${project.id}::uuid, ${deploymentId}::uuid, 'request',
        'POST', 200, false, 'ok', 1, 1, 1, 'anonymous')`);
    await database.db.execute(sql`INSERT INTO server_log (time, project_id, deployment_id, stream, level, line)
      VALUES (now(), ${project.id}::uuid, ${deploymentId}::uuid, 'stdout', 'info', 'x')`);
  };
  const left = async () =>
    (await count(sql`request_log WHERE project_id = ${project.id}`)) +
    (await count(sql`request_log_delta WHERE project_id = ${project.id}`)) +
    (await count(sql`server_log WHERE project_id = ${project.id}`)) +
    (await count(sql`build_log WHERE build_id = ${buildId}`));
  await write();
  await deleteProject({
    ctx: testContext(database.db, organization.owner),
    input: { orgSlug: organization.slug, projectName: project.name, confirmation: project.name },
  });
  await sweep();
  expect(await left()).toBe(0);
  await write();
  await sweep(new Date(Date.now() + 2 * 3_600_000));
  expect(await left()).toBe(0);
  await sweep(new Date(Date.now() + 2 * day));
  expect(await database.db.$count(erasure, inArray(erasure.subjectId, [project.id, deploymentId, buildId]))).toBe(0);
});

test("LOG-6 one sweep runs at a time, and only the platform can run it", async () => {
  const holder = await database.pool.connect();
  await holder.query("BEGIN; SELECT pg_advisory_xact_lock(hashtext('towpath_retention'))");
  expect(await sweepRows({ ctx: job(), input: { now: new Date(), policy } })).toBeNull();
  await holder.query("ROLLBACK");
  holder.release();
  expect(await sweepRows({ ctx: job(), input: { now: new Date(), policy } })).not.toBeNull();
  const user = sweepRows({ ctx: testContext(database.db, organization.owner), input: { now: new Date(), policy } });
  expect(await refusalCode(user)).toBe("forbidden");
});

test("LOG-6 after a failure of one part of a sweep the others still run", async () => {
  const user = await seedUser(database.db);
  await database.db.insert(session).values({ id: newId(), userId: user.id, token: newId(), expiresAt: ago(2) });
  await database.db.execute(sql`ALTER TABLE invitation RENAME TO invitation_renamed`);
  try {
    const swept = await sweepRows({ ctx: job(), input: { now: new Date(), policy } });
    expect(swept?.problems.map((each) => each.name)).toEqual(["invitation"]);
    expect(swept?.removed).toMatchObject({ session: 1 });
  } finally {
    await database.db.execute(sql`ALTER TABLE invitation_renamed RENAME TO invitation`);
  }
});

test("BLD-12 a hundred branches and deliveries that always fail don't keep others from being retried", async () => {
  const project = await seedProject(database.db, organization);
  const names = Array.from({ length: 150 }, (_, at) => `lost-${at}`);
  const earlier = new Date(Date.now() - 3_600_000);
  await database.db
    .insert(branch)
    .values(names.map((name) => ({ id: newId(), projectId: project.id, name, hintedAt: earlier })));
  await database.db
    .insert(webhookDelivery)
    .values(names.map((id) => ({ id, event: "push", payload: {}, receivedAt: earlier })));
  const tried = { branches: new Set<string>(), deliveries: new Set<string>() };
  // Nobody works on them, so every sweep finds all of them again.
  for (let round = 0; round < 60; round++) {
    const input = { olderThanMs: 60_000 };
    for (const id of (await requeueLostHints({ ctx: job(), input })).requeued) tried.branches.add(id);
    for (const id of (await requeueLostDeliveries({ ctx: job(), input })).requeued) tried.deliveries.add(id);
  }
  expect(tried.branches.size).toBe(150);
  expect(tried.deliveries.size).toBe(150);
});
