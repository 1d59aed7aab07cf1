import type { Transaction } from "@towpath/db";
import {
  branch,
  errorGroup,
  errorGroupHour,
  instance,
  project,
  requestLog,
  requestLogFailure,
  serverLog,
} from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough, rounds } from "../../../../../tests/thorough.ts";
import { newId } from "../../ids/index.ts";
import { seedLiveProject, seedLiveVersion } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { raiseAlert } from "../alert/index.ts";
import { changeErrorGroups, type ErrorChange, groupFailures } from "./index.ts";

const suite = openProjectSuite();

type Row = typeof requestLog.$inferInsert;

/** A failed call of a tool, with changes. */
const failure = (projectId: string, more: Partial<Row> = {}): Row => ({
  id: newId(),
  time: new Date(),
  organizationId: suite.organization.id,
  projectId,
  deploymentId: null,
  kind: "request",
  httpMethod: "POST",
  method: "tools/call",
  target: "total",
  httpStatus: 200,
  isError: true,
  errorMessage: "no such city",
  outcome: "tool_error",
  durationMs: 1,
  serverMs: 1,
  requestBytes: 1,
  responseBytes: 1,
  clientName: "cursor",
  principal: "user:1",
  ...more,
});

const write = (...rows: Row[]) => suite.database.db.insert(requestLog).values(rows);

/** What a server printed during a call that raised. */
async function printTraceback(call: Row, exception: string, line = 7): Promise<void> {
  const lines = [
    "Traceback (most recent call last):",
    `  File "/app/src/server.py", line ${line}, in total`,
    "    x",
    exception,
  ];
  await suite.database.db.insert(serverLog).values(
    lines.map((text) => ({
      time: call.time,
      projectId: call.projectId,
      deploymentId: call.deploymentId ?? newId(),
      stream: "stderr",
      level: "error",
      requestId: call.requestId ?? call.id,
      line: text,
    })),
  );
}

/** Past the time that lines may take. */
const later = { now: () => new Date(Date.now() + 6000) };
const context = (database = suite.database.db) => ({
  ...suite.as({ kind: "job", job: "error-groups" }, { clock: later }),
  db: database,
});

async function group(
  onGroupChange: (tx: Transaction, changes: readonly ErrorChange[]) => Promise<void> = async () => {},
) {
  const changes: ErrorChange[] = [];
  const collect = async (tx: Transaction, more: readonly ErrorChange[]) => {
    await onGroupChange(tx, more);
    changes.push(...more);
  };
  while ((await groupFailures({ ctx: context(), input: { onGroupChange: collect } })) > 0);
  return changes;
}

const groups = (projectId: string) =>
  suite.database.db.select().from(errorGroup).where(eq(errorGroup.projectId, projectId)).orderBy(errorGroup.title);
const sumOf = (rows: readonly { readonly count: number }[]) => rows.reduce((sum, { count }) => sum + count, 0);

test("CAP-6 failures of one cause are one group with its figures, counted once", async () => {
  const { id } = suite.project;
  const [first, last] = [newId(), newId()];
  const at = (minutes: number) => new Date(Date.UTC(2026, 10, 20, 10, minutes));
  const calls = [
    failure(id, { time: at(59), deploymentId: last, clientName: null, principal: "anonymous", requestId: newId() }),
    failure(id, { time: at(1), deploymentId: first }),
    failure(id, { time: at(61), deploymentId: last, errorMessage: "hidden" }),
  ];
  await write(...calls, failure(id, { time: at(2), errorMessage: "Order 12 not found", target: "order" }));
  for (const [index, call] of calls.entries()) await printTraceback(call, `ValueError: ${index}`, index + 1);
  // What the server isn't to blame for.
  await write(
    failure(id, { isError: false, outcome: "ok", errorMessage: null }),
    failure(id, { outcome: "gateway_error", refusal: "unauthorized", httpStatus: 401 }),
    failure(id, { outcome: "http_error", httpStatus: 404 }),
    failure(id, { outcome: "rpc_error", errorCode: -32602 }),
    failure(id, { errorMessage: "1 validation error for call[total]" }),
  );
  const changes = await group();
  expect(changes.map(({ kind, tool, count, title }) => [kind, tool, count, title]).sort()).toEqual([
    ["error.new", "order", 1, "Order 12 not found"],
    ["error.new", "total", 3, "ValueError: 2"],
  ]);
  const found = await groups(id);
  expect(found).toHaveLength(2);
  expect(found[1]).toMatchObject({
    target: "total",
    exception: "ValueError",
    file: "server.py",
    line: 3,
    functionName: "total",
    state: "open",
    count: 3,
    firstSeen: at(1),
    lastSeen: at(61),
    firstDeploymentId: first,
    lastDeploymentId: last,
    callers: [
      { name: "user:1", count: 2 },
      { name: "anonymous", count: 1 },
    ],
    clients: [{ name: "cursor", count: 2 }],
    samples: [calls[2], calls[0], calls[1]].map((call) => ({ id: call?.id, time: call?.time.toISOString() })),
  });
  const hours = await suite.database.db
    .select()
    .from(errorGroupHour)
    .where(eq(errorGroupHour.groupId, found[1]?.id ?? ""));
  expect(hours.map(({ time, count }) => [time.getTime(), count]).sort()).toEqual([
    [at(0).getTime(), 2],
    [at(60).getTime(), 1],
  ]);
  expect(await group()).toEqual([]);
  await write(failure(id, { target: "order", errorMessage: "Order 13 not found" }));
  expect(await group()).toEqual([]);
  expect(sumOf(await groups(id))).toBe(5);
});

test("CAP-6 failures wait until their lines can have arrived; those of a deleted server are dropped", async () => {
  const { id } = suite.project;
  await write(failure(id));
  const now = { ...context(), clock: { now: () => new Date() } };
  expect(await groupFailures({ ctx: now, input: { onGroupChange: async () => {} } })).toBe(0);
  await write(failure(newId()));
  await group();
  expect(sumOf(await groups(id))).toBe(1);
  expect(await suite.database.db.$count(requestLogFailure)).toBe(0);
});

test("CAP-6 a crash names its reason from the instance that ended", async () => {
  const live = await seedLiveProject(suite.database.db, suite.organization);
  const { deploymentId } = await seedLiveVersion(suite.database.db, live, {
    label: live.name.toLowerCase(),
    sequence: 2,
  });
  const id = newId();
  const reason = "it used more than its 512 MiB of memory";
  await suite.database.db.insert(instance).values({ id, deploymentId, state: "crashed", endReason: reason });
  const crashed = {
    outcome: "gateway_error",
    refusal: "server_unreachable",
    httpStatus: 502,
    instanceId: id,
    deploymentId,
  };
  await write(failure(live.id, { ...crashed, errorMessage: "The server closed the connection" }));
  await group();
  expect(await groups(live.id)).toMatchObject([
    { title: `The server crashed: ${reason}`, target: "total", exception: null },
  ]);
});

test("CAP-6 a worker that is killed at any moment counts nothing twice, and two at once share the work", async () => {
  const { id } = suite.project;
  await write(...Array.from({ length: 1300 }, (_, at) => failure(id, { errorMessage: at % 2 ? "one" : "other" })));
  // Its connection ends after everything was written, before the commit.
  const kill = (tx: Transaction) => tx.execute(sql`SELECT pg_terminate_backend(pg_backend_pid())`).then(() => {});
  await expect(groupFailures({ ctx: context(), input: { onGroupChange: kill } })).rejects.toThrow();
  expect(await groups(id)).toEqual([]);
  const input = { onGroupChange: async () => {} };
  const work = async () => {
    for (let idle = 0; idle < 20; ) {
      const taken = await groupFailures({ ctx: context(), input });
      idle = taken > 0 ? 0 : idle + 1;
    }
  };
  await Promise.all([work(), work(), work()]);
  expect((await groups(id)).map(({ count }) => count)).toEqual([650, 650]);
  expect(await suite.database.db.$count(requestLogFailure)).toBe(0);
});

test("CAP-6 no text of a server keeps failures from being grouped and alerted: halves of characters, NUL", async () => {
  const { id: projectId } = await seedLiveProject(suite.database.db, suite.organization);
  await write(
    // Titles are shortened in the middle of the last character.
    failure(projectId, { errorMessage: `${"x".repeat(298)}\u{1f600}${"y".repeat(50)}` }),
    failure(projectId, { errorMessage: `other ${"z".repeat(192)}\u{1f600} after`, target: "b" }),
  );
  await group(async (tx, changes) => {
    for (const change of changes) await raiseAlert(tx, change);
  });
  expect(await groups(projectId)).toHaveLength(2);
  const hostile = { kind: "error.new", projectId, groupId: newId(), tool: null, count: 1, deploymentId: null } as const;
  const raised = suite.database.db.transaction((tx) => raiseAlert(tx, { ...hostile, title: "a\0b\ud83d" }));
  expect(await raised).toBe(true);
});

const flood = rounds(3_000, 10_000);

test.runIf(isThorough)(
  "CAP-6 a flood of distinct errors has a bounded number of groups, and the rest is counted in one",
  async () => {
    const { id } = suite.project;
    const other = await seedLiveProject(suite.database.db, suite.organization);
    const words = ["ada", "bob", "cas", "dan", "eve", "fay", "gus", "hal", "ivy", "joe"];
    const worded = (number: number) =>
      [...String(number).padStart(4, "0")].map((digit) => words[Number(digit)]).join(" ");
    for (let from = 0; from < flood; from += 1000)
      await write(...Array.from({ length: 1000 }, (_, at) => failure(id, { errorMessage: worded(from + at) })));
    await write(failure(other.id));
    const begun = performance.now();
    const changes = await group();
    expect(performance.now() - begun).toBeLessThan(60_000);
    const found = await groups(id);
    expect(found).toHaveLength(501);
    expect(changes).toHaveLength(502);
    expect(found.filter(({ isOverflow }) => isOverflow)).toMatchObject([
      { title: "Other errors", count: flood - 500, target: null },
    ]);
    expect(sumOf(found)).toBe(flood);
    // The server beside it has its own.
    expect(await groups(other.id)).toHaveLength(1);
    // A known error is still counted in its own group, and a new one has room once others are resolved.
    const known = found.find(({ isOverflow }) => !isOverflow);
    await write(failure(id, { errorMessage: known?.title ?? "" }), failure(id, { errorMessage: "new words entirely" }));
    await group();
    expect((await groups(id)).filter(({ count, isOverflow }) => count === 2 && !isOverflow)).toHaveLength(1);
    const ids = [known?.id ?? ""];
    const member = suite.as(await suite.organization.join("member"));
    await changeErrorGroups({ ctx: member, input: { ...suite.at(), ids, state: "resolved" } });
    await write(failure(id, { errorMessage: "new words entirely" }));
    expect(await group()).toMatchObject([{ kind: "error.new", title: "new words entirely" }]);
  },
  120_000,
);

test("CAP-6 callers and clients are the most frequent of a bounded list", async () => {
  const { id } = suite.project;
  const callers = Array.from({ length: 40 }, (_, at) => failure(id, { principal: `user:${at}` }));
  await write(...callers, failure(id, { principal: "user:39" }));
  await group();
  const [found] = await groups(id);
  expect(found?.callers).toHaveLength(30);
  expect(found?.callers[0]).toEqual({ name: "user:39", count: 2 });
  expect(found).toMatchObject({ hasMoreCallers: true, hasMoreClients: false, count: 41 });
  expect(found?.samples).toHaveLength(5);
});

test("CAP-6 a group that reaches the project's rate within an hour is reported once", async () => {
  const { id } = suite.project;
  await suite.database.db.update(project).set({ errorsPerHour: 3 }).where(eq(project.id, id));
  const time = new Date(Date.UTC(2026, 10, 20, 10));
  const kinds = async (...calls: Row[]) => {
    await write(...calls);
    return (await group()).map(({ kind, count }) => [kind, count]);
  };
  const call = () => failure(id, { time });
  expect(await kinds(call(), call())).toEqual([["error.new", 2]]);
  expect(await kinds(call(), call())).toEqual([["error.rate", 4]]);
  expect(await kinds(call())).toEqual([]);
  const next = new Date(time.getTime() + 3_600_000);
  expect(await kinds(...[1, 2, 3].map(() => failure(id, { time: next })))).toEqual([["error.rate", 3]]);
  const ids = (await groups(id)).map((each) => each.id);
  const member = suite.as(await suite.organization.join("member"));
  await changeErrorGroups({ ctx: member, input: { ...suite.at(), ids, state: "ignored" } });
  const third = new Date(next.getTime() + 3_600_000);
  expect(await kinds(...[1, 2, 3].map(() => failure(id, { time: third })))).toEqual([]);
  expect(await groups(id)).toMatchObject([{ state: "ignored", count: 11 }]);
});

test("CAP-6 a resolved error comes back with a newer deployment of production or its branch, not with an older one", async () => {
  const { db: own } = suite.database;
  const live = await seedLiveProject(own, suite.organization);
  const label = live.name.toLowerCase();
  const version = async (sequence: number, of: { id: string; branchId: string } = live) => {
    const isPreview = of !== live;
    const { deploymentId } = await seedLiveVersion(own, of, {
      label: isPreview ? `${label}-try` : label,
      sequence,
      environment: isPreview ? "preview" : "production",
    });
    await own.execute(
      sql`UPDATE deployment SET created_at = now() + ${sequence} * interval '1 second' WHERE id = ${deploymentId}`,
    );
    return deploymentId;
  };
  const [one, two, three] = [await version(11), await version(12), await version(13)];
  const preview = { id: live.id, branchId: newId() };
  await own.insert(branch).values({ id: preview.branchId, projectId: live.id, name: "try" });
  const [tried, triedAgain] = [await version(14, preview), await version(15, preview)];
  const failIn = async (deploymentId: string | null) => {
    await write(failure(live.id, { deploymentId }));
    return (await group()).map(({ kind }) => kind);
  };
  const member = suite.as(await suite.organization.join("member"));
  const change = async (state: "resolved" | "ignored" | "open") => {
    const ids = (await groups(live.id)).map(({ id }) => id);
    const input = { orgSlug: suite.organization.slug, projectName: live.name, ids, state };
    await changeErrorGroups({ ctx: member, input });
  };
  const state = async () => (await groups(live.id)).map((each) => [each.state, each.isBack]);
  expect(await failIn(two)).toEqual(["error.new"]);
  await change("resolved");
  // Calls of the version that had it may still arrive, and a rollback may bring an older one.
  expect(await failIn(two)).toEqual([]);
  expect(await failIn(one)).toEqual([]);
  // A newer preview may not have the fix, unless it was resolved on its branch.
  expect(await failIn(tried)).toEqual([]);
  expect(await state()).toEqual([["resolved", false]]);
  expect(await failIn(three)).toEqual(["error.back"]);
  expect(await state()).toEqual([["open", true]]);
  await change("ignored");
  expect(await failIn(three)).toEqual([]);
  await change("open");
  expect(await state()).toEqual([["open", true]]);
  await failIn(tried);
  await change("resolved");
  expect(await failIn(three)).toEqual([]);
  expect(await failIn(triedAgain)).toEqual(["error.back"]);
  // Without a deployment, as of an external server, any later call brings it back.
  await change("resolved");
  await own
    .update(errorGroup)
    .set({ resolvedDeploymentId: null })
    .where(and(eq(errorGroup.projectId, live.id)));
  await write(failure(live.id, { time: new Date(Date.now() - 60_000) }));
  expect(await group()).toEqual([]);
  expect(await failIn(null)).toEqual(["error.back"]);
});
