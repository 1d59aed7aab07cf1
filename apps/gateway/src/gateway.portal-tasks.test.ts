import { randomUUID } from "node:crypto";
import { CallToolResultSchema, ListTasksResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { KeptCallStore } from "./read-model/kept-calls.ts";
import { RawClient } from "./testing/counting-server.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { openRig, setLimits, until } from "./testing/rig.ts";
import { connectAnswering, createTask } from "./testing/task-client.ts";
import { askModern, deployTaskless, deployTasklessPortal } from "./testing/taskless-server.ts";

// Two servers without tasks and one with, behind one portal.

const rig = openRig();

test("CAP-2 ORG-3 a portal offers a client of 2025-11-25 tasks for all its servers: states, result, input, cancellation, list", async () => {
  const { portal, one, two, caller } = await deployTasklessPortal(rig);
  const client = await connectAnswering(portal.url, await caller());
  const { tasks } = client.experimental;
  expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
  const { tools } = await client.listTools();
  expect(tools.map(({ execution }) => execution?.taskSupport)).toEqual(Array(13).fill("optional"));

  const { task } = await createTask(client, "one_work", { ttl: 30_000 });
  expect(task).toMatchObject({ status: "working", ttl: 30_000 });
  const result = tasks.getTaskResult(task.taskId, CallToolResultSchema);
  await until(() => one.runs.length === 1);
  expect(one.runs[0]).toEqual({ name: "work", arguments: { amount: 1 } });
  one.release();
  expect(await result).toMatchObject({
    content: [{ text: "run 1" }],
    _meta: { "io.modelcontextprotocol/related-task": { taskId: task.taskId } },
  });
  expect(await tasks.getTask(task.taskId)).toMatchObject({ status: "completed" });

  const asking = await createTask(client, "two_ask");
  await expect.poll(async () => (await tasks.getTask(asking.task.taskId)).status).toBe("input_required");
  expect(await tasks.getTaskResult(asking.task.taskId, CallToolResultSchema)).toMatchObject({
    content: [{ text: `It is Ada ${asking.task.taskId.slice(0, 3)}.` }],
  });

  const canceled = await createTask(client, "two_work");
  await until(() => two.runs.length === 2);
  expect(await tasks.cancelTask(canceled.task.taskId)).toMatchObject({ status: "cancelled" });
  // The server learns of it, and is then left alone.
  await until(() => two.canceled.length === 1 && two.closed.length === 1);
  await expect(tasks.getTaskResult(canceled.task.taskId, CallToolResultSchema)).rejects.toThrow(/canceled/);

  // A server that has tasks in the other revision only: the task is the portal's.
  const own = await createTask(client, "own_work");
  await expect.poll(async () => (await tasks.getTask(own.task.taskId)).status).toBe("failed");
  const listed = await tasks.listTasks();
  const ids = [own, canceled, asking, { task }].map((each) => each.task.taskId);
  expect(listed.tasks.map(({ taskId }) => taskId)).toEqual(ids);
  await client.close();
  const calls = async () =>
    (await rig.rows(portal.projectId, 12)).map(({ tool, outcome, kept }) => [tool, outcome, kept]);
  const ends = [
    ["two_work", "canceled", "canceled"],
    ["one_work", "ok", "fetched"],
  ];
  await expect.poll(calls).toEqual(expect.arrayContaining(ends));
});

test("CAP-2 ORG-3 a portal's tasks are for their caller and for tools that the caller may call; made-up ids name none", async () => {
  const { portal, one, two, caller } = await deployTasklessPortal(rig);
  const [ada, bob] = [await caller(), await caller()];
  const [client, other] = [await connectAnswering(portal.url, ada), await connectAnswering(portal.url, bob)];
  const first = (await createTask(client, "one_quick")).task.taskId;
  const second = (await createTask(client, "two_quick")).task.taskId;
  const { tasks } = client.experimental;
  expect(await tasks.getTaskResult(first, CallToolResultSchema)).toMatchObject({ content: [{ text: "quick" }] });
  const [kind, payload, mac = ""] = first.split(".");
  const forged = `${kind}.${payload}.${mac.replace(/^./, (letter) => (letter === "a" ? "b" : "a"))}`;
  for (const id of [forged, `t1.${payload}.${mac}`, "nothing", `${first}x`])
    await expect(tasks.getTask(id)).rejects.toMatchObject({ code: -32602 });
  for (const attempt of ["getTask", "cancelTask"] as const)
    await expect(other.experimental.tasks[attempt](first)).rejects.toMatchObject({ code: -32602 });
  expect((await other.experimental.tasks.listTasks()).tasks).toEqual([]);
  // The same caller in another session, and in the other revision.
  const again = await connectAnswering(portal.url, ada);
  expect(await again.experimental.tasks.getTask(first)).toMatchObject({ status: "completed" });
  const got = await askModern(portal.url, ada, { method: "tasks/get", params: { taskId: first } });
  expect(got.result).toMatchObject({ status: "completed", result: { content: [{ text: "quick" }] } });

  const { pool } = rig.database;
  await pool.query(
    `INSERT INTO kept_call (id, project_id, arguments_hash, state, started_at, task_owner, task_keep_ms, member_id, member_tool)
     SELECT gen_random_uuid(), project_id, '', 'canceled', started_at - n * interval '1 s', task_owner, 1000, member_id, member_tool
     FROM kept_call, generate_series(1, 30) n WHERE project_id = $1`,
    [portal.projectId],
  );
  const page = await tasks.listTasks();
  const rest = await client.request(
    { method: "tasks/list", params: { cursor: page.nextCursor } },
    ListTasksResultSchema,
  );
  expect([page.tasks.length, rest.tasks.length, rest.nextCursor]).toEqual([50, 12, undefined]);

  // The portal no longer offers the second server's tool.
  await pool.query("UPDATE portal_server SET tools = '{work}' WHERE portal_id = $1 AND prefix = 'two'", [
    portal.portalId,
  ]);
  await pool.query("UPDATE portal SET revision = revision + 1 WHERE id = $1", [portal.portalId]);
  const codeOf = (id: string) =>
    tasks.getTask(id).then(
      () => 0,
      ({ code }) => code,
    );
  await expect.poll(() => codeOf(second), { timeout: 20_000 }).toBe(-32602);
  expect(await tasks.getTask(first)).toMatchObject({ status: "completed" });
  expect((await tasks.listTasks()).tasks.map(({ taskId }) => taskId)).not.toContain(second);
  expect([one.runs.length, two.runs.length]).toEqual([1, 1]);
  for (const each of [client, other, again]) await each.close();
});

test("CAP-2 ORG-3 in 2026-07-28 a portal's call that lasts becomes a task where its server has none, and a server's own task passes", async () => {
  const { portal, one, two, caller } = await deployTasklessPortal(rig);
  const who = await caller();
  const ask = (method: string, params: object = {}, extensions?: object) =>
    askModern(portal.url, who, { method, params, ...(extensions && { extensions }) });
  expect((await ask("tools/call", { name: "one_quick" })).result).toMatchObject({ resultType: "complete" });
  const plain = ask("tools/call", { name: "one_work" }, {});
  const { result: task } = await ask("tools/call", { name: "one_work" });
  const { result: own } = await ask("tools/call", { name: "own_work" });
  expect(task).toMatchObject({ resultType: "task", status: "working", ttlMs: 600_000 });
  expect(own).toMatchObject({ resultType: "task", status: "input_required", ttlMs: null });
  const get = async (taskId: string) => (await ask("tasks/get", { taskId })).result;
  expect(await get(task.taskId)).toMatchObject({ resultType: "complete", status: "working" });
  expect(await get(own.taskId)).toMatchObject({ taskId: own.taskId, status: "input_required" });
  one.release();
  expect((await plain).result).toMatchObject({
    resultType: "complete",
    content: [{ text: expect.stringMatching(/^run/) }],
  });
  await expect.poll(async () => (await get(task.taskId)).status).toBe("completed");
  await ask("tasks/update", { taskId: own.taskId, inputResponses: {} });
  expect(await get(own.taskId)).toMatchObject({ status: "completed" });
  // A server that takes a while to make a task gets none of the portal's around it.
  expect((await ask("tools/call", { name: "slow" })).result.taskId).toMatch(/^t1\./);

  const asking = (await ask("tools/call", { name: "two_ask", arguments: { a: 1 } })).result.taskId;
  await expect.poll(async () => (await get(asking)).status).toBe("input_required");
  const answer = (key: string, name: string) =>
    ask("tasks/update", { taskId: asking, inputResponses: { [key]: { action: "accept", content: { name } } } });
  await answer("name", "Ada");
  await expect.poll(async () => Object.keys((await get(asking)).inputRequests ?? {})).toEqual(["2/name"]);
  await answer("2/name", "Bob");
  await expect.poll(async () => (await get(asking)).status).toBe("completed");
  expect((await get(asking)).result).toMatchObject({ content: [{ text: "It is Bob." }] });
  expect(two.runs.map(({ requestState, arguments: given }) => [requestState, given])).toEqual([
    [undefined, { a: 1 }],
    ["first", { a: 1 }],
    ["second", { a: 1 }],
  ]);

  const canceled = (await ask("tools/call", { name: "two_work" })).result.taskId;
  expect((await ask("tasks/cancel", { taskId: canceled })).result).toEqual({ resultType: "complete" });
  await until(() => two.closed.length === 1);
  expect(await get(canceled)).toMatchObject({ status: "cancelled" });
  const lost = (await ask("tools/call", { name: "two_break" })).result.taskId;
  two.release();
  await expect.poll(async () => (await get(lost)).status).toBe("failed");
  expect(await get(lost)).toMatchObject({
    statusMessage: expect.stringMatching(/Nobody knows how the call ended/),
    error: { data: { towpath: "outcome_unknown" } },
  });
});

test("CAP-2 ORG-3 who asks a portal again gets the result of the one run: by key, by the request of a session, as a task", async () => {
  const { portal, one, server, caller } = await deployTasklessPortal(rig);
  const who = await caller();
  const params = { name: "one_work", arguments: { amount: 5 } };
  const session = await RawClient.inSession(portal.url, who);
  const keyed = await RawClient.inSession(portal.url, { ...who, "idempotency-key": "once" });
  await Promise.all([
    session.breakOff(7, params, () => until(() => one.runs.length === 2)),
    keyed.breakOff(8, params, () => until(() => one.runs.length === 2)),
  ]);
  const again = [session.result(7, params), keyed.result(9, params), keyed.result(10, params)];
  one.release();
  const texts = (await Promise.all(again)).map(({ result }) => result?.content[0]?.text);
  expect(texts[1]).toBe(texts[2]);
  expect(new Set(texts)).toEqual(new Set(["run 1", "run 2"]));
  // The key was for another tool.
  expect((await keyed.result(11, { name: "two_work", arguments: {} })).error?.data.towpath).toBe(
    "idempotency_key_refused",
  );
  const key = { ...who, "idempotency-key": "task" };
  const call = () => askModern(portal.url, key, { method: "tools/call", params: { name: "one_work" } });
  const [first, second] = [await call(), await call()];
  expect(second.result.taskId).toBe(first.result.taskId);
  expect(one.runs).toHaveLength(3);

  // A canceled one ends at its server, by a message.
  await session.breakOff(12, params, () => until(() => one.runs.length === 4));
  await session.send({ method: "notifications/cancelled", params: { requestId: 12 } });
  await until(() => one.canceled.length === 1);
  expect((await session.result(12, params)).error?.data.towpath).toBe("call_canceled");

  // What its server never got was not run, so the same key runs it later.
  await setLimits(rig.database, server.projectId, { caller: { perMinute: 60, burst: 1 } });
  const quick = (key: string) =>
    keyed.with({ "idempotency-key": key }).result(13, { name: "one_quick", arguments: {} });
  let refused = "";
  await until(async () => {
    refused = randomUUID();
    return (await quick(refused)).error?.message.includes("can't be used now") === true;
  });
  const before = one.runs.length;
  const retried = async () => {
    const { result, error } = await quick(refused);
    return result?.content[0]?.text ?? error?.message;
  };
  await expect.poll(retried, { timeout: 20_000 }).toBe("quick");
  expect(one.runs).toHaveLength(before + 1);
});

test("CAP-2 ORG-3 an end of a portal's call that nobody saw is kept as long as the server of the call keeps results", async () => {
  const { portal, server, caller } = await deployTasklessPortal(rig);
  const { pool } = rig.database;
  await pool.query("UPDATE project SET keep_results_minutes = 600 WHERE id = $1", [server.projectId]);
  const who = await caller();
  const call = () => askModern(portal.url, who, { method: "tools/call", params: { name: "one_work" } });
  await until(async () => (await call()).result.ttlMs === 36_000_000);
  const secondsKept = async () => {
    await pool.query("UPDATE kept_call SET alive_until = now() WHERE project_id = $1", [portal.projectId]);
    await new KeptCallStore(pool).sweep();
    const text = "SELECT extract(epoch FROM max(expires_at) - now())::int AS n FROM kept_call WHERE project_id = $1";
    return (await pool.query(text, [portal.projectId])).rows[0].n;
  };
  await expect.poll(secondsKept).toBeGreaterThan(35_000);
});

test("CAP-2 ORG-3 a client of 2026-07-28 gets a portal's task of a server that knows 2025-11-25 only, and cancels it", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  await storeManifest(rig, server, await caller());
  await rig.database.pool.query(
    `UPDATE build SET manifest = jsonb_set(manifest::jsonb, '{protocolVersion}', '"2025-11-25"')
     FROM deployment WHERE deployment.build_id = build.id AND deployment.project_id = $1`,
    [server.projectId],
  );
  const portal = await addPortal(rig, [{ server, prefix: "here" }], "towpath-cloud");
  const who = await caller();
  const ask = (method: string, params: object) => askModern(portal.url, who, { method, params });
  await until(async () => (await ask("tools/list", {})).result?.tools?.length === 5);
  const make = async () => (await ask("tools/call", { name: "work" })).result;
  const [done, canceled] = [await make(), await make()];
  expect([done, canceled].map(({ taskId }) => taskId.slice(0, 3))).toEqual(["k1.", "k1."]);
  await ask("tasks/cancel", { taskId: canceled.taskId });
  await until(() => taskless.canceled.length === 1);
  taskless.release();
  const status = async ({ taskId }: { taskId: string }) => (await ask("tasks/get", { taskId })).result.status;
  await expect.poll(() => status(done)).toBe("completed");
  expect(await status(canceled)).toBe("cancelled");
});
