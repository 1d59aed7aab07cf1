import { CallToolResultSchema, ListTasksResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { RawClient } from "./testing/counting-server.ts";
import { openRig, until } from "./testing/rig.ts";
import { connectAnswering, createTask } from "./testing/task-client.ts";
import { askModern, deployTaskless, tasksExtension } from "./testing/taskless-server.ts";

const rig = openRig();

test("CAP-2 a client of 2025-11-25 calls a server without tasks as a task: capability, states, result, list, cancellation", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  const client = await connectAnswering(server.url, await caller());
  expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
  const { tools } = await client.listTools();
  expect(tools.map(({ execution }) => execution?.taskSupport)).toEqual(Array(5).fill("optional"));

  const { task } = await createTask(client, "work", { ttl: 30_000 });
  expect(task).toMatchObject({ status: "working", ttl: 30_000 });
  const { experimental } = client;
  expect(await experimental.tasks.getTask(task.taskId)).toMatchObject({ taskId: task.taskId, status: "working" });
  const result = experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
  await until(() => taskless.runs.length === 1);
  expect(taskless.runs[0]).toEqual({ name: "work", arguments: { amount: 1 } });
  setTimeout(taskless.release, 1500);
  expect(await result).toMatchObject({
    content: [{ text: "run 1" }],
    _meta: { "io.modelcontextprotocol/related-task": { taskId: task.taskId } },
  });
  const ended = await experimental.tasks.getTask(task.taskId);
  expect(ended).toMatchObject({ status: "completed" });
  expect(ended.ttl).toBeGreaterThanOrEqual(30_000);
  expect(ended.ttl).toBeLessThan(60_000);

  const failed = await createTask(client, "fail");
  await until(() => taskless.runs.length === 2);
  taskless.release();
  expect(await experimental.tasks.getTaskResult(failed.task.taskId, CallToolResultSchema)).toMatchObject({
    isError: true,
  });
  expect(await experimental.tasks.getTask(failed.task.taskId)).toMatchObject({
    status: "failed",
    ttl: expect.any(Number),
  });

  const canceled = await createTask(client, "work", { amount: 3 });
  await until(() => taskless.runs.length === 3);
  expect(await experimental.tasks.cancelTask(canceled.task.taskId)).toMatchObject({ status: "cancelled" });
  await until(() => taskless.canceled.length === 1 && taskless.closed.length === 1);
  await expect(experimental.tasks.cancelTask(canceled.task.taskId)).rejects.toMatchObject({ code: -32602 });
  await expect(experimental.tasks.getTaskResult(canceled.task.taskId, CallToolResultSchema)).rejects.toThrow(
    /canceled/,
  );

  const { tasks } = await experimental.tasks.listTasks();
  const ids = [canceled, failed, { task }].map((each) => each.task.taskId);
  expect(tasks.map(({ taskId, status }) => [taskId, status])).toEqual([
    [ids[0], "cancelled"],
    [ids[1], "failed"],
    [ids[2], "completed"],
  ]);
  await expect(experimental.tasks.listTasks("nonsense")).rejects.toMatchObject({ code: -32602 });
  await client.close();
  // A call is one row, with its own end; each question about its task is one of its own.
  const rows = await rig.rows(server.projectId, 16);
  const of = (name: string) => rows.filter(({ method }) => method === name).map(({ outcome, kept }) => [outcome, kept]);
  expect(of("tools/call")).toEqual([
    ["canceled", "canceled"],
    ["tool_error", "fetched"],
    ["ok", "fetched"],
  ]);
  expect(of("tasks/result").map(([outcome]) => outcome)).toEqual(["ok", "ok", "ok"]);
  // Of a caller without a name, a task's id is all that is asked for.
  const asking = rows.filter(({ method }) => method?.startsWith("tasks/"));
  expect(new Set(asking.map(({ target }) => target))).toEqual(new Set([null]));
});

test("CAP-2 tasks are listed in pages, for nobody but their caller, and end after their time", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  const [ada, bob] = [await caller(), await caller()];
  const [one, other] = [await connectAnswering(server.url, ada), await connectAnswering(server.url, bob)];
  const { task } = await createTask(one, "quick");
  expect(await one.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema)).toMatchObject({
    content: [{ text: "quick" }],
  });
  for (const attempt of ["getTask", "cancelTask"] as const)
    await expect(other.experimental.tasks[attempt](task.taskId)).rejects.toMatchObject({ code: -32602 });
  expect((await other.experimental.tasks.listTasks()).tasks).toEqual([]);
  // The same caller in another session.
  const again = await connectAnswering(server.url, ada);
  expect(await again.experimental.tasks.getTask(task.taskId)).toMatchObject({ status: "completed" });
  const { pool } = rig.database;
  await pool.query(
    `INSERT INTO kept_call (id, project_id, arguments_hash, state, started_at, task_owner, task_keep_ms)
     SELECT gen_random_uuid(), project_id, '', 'canceled', started_at - n * interval '1 s', task_owner, 1000
     FROM kept_call, generate_series(1, 60) n WHERE project_id = $1`,
    [server.projectId],
  );
  const first = await one.experimental.tasks.listTasks();
  const second = await one.request(
    { method: "tasks/list", params: { cursor: first.nextCursor } },
    ListTasksResultSchema,
  );
  expect([first.tasks.length, second.tasks.length, second.nextCursor]).toEqual([50, 11, undefined]);
  expect(new Set([...first.tasks, ...second.tasks].map(({ taskId }) => taskId)).size).toBe(61);
  await pool.query("UPDATE kept_call SET expires_at = now() WHERE project_id = $1", [server.projectId]);
  await expect(one.experimental.tasks.getTask(task.taskId)).rejects.toMatchObject({ code: -32602 });
  expect((await one.experimental.tasks.listTasks()).tasks).toEqual([]);
  expect(taskless.runs).toHaveLength(1);
  for (const client of [one, other, again]) await client.close();
});

test("CAP-2 what a server asks during a task of 2025-11-25 comes with its result, and names the task", async () => {
  const { server, caller } = await deployTaskless(rig);
  const client = await connectAnswering(server.url, await caller());
  const { task } = await createTask(client, "ask");
  const status = async () => (await client.experimental.tasks.getTask(task.taskId)).status;
  await expect.poll(status).toBe("input_required");
  const result = await client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
  expect(result).toMatchObject({ content: [{ text: `It is Ada ${task.taskId.slice(0, 3)}.` }] });
  expect(await status()).toBe("completed");
  await client.close();
});

test("CAP-2 a question whose client left before it came is asked again, and a server that asks without end is cut off, in words", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  const who = await caller();
  const client = await connectAnswering(server.url, who);
  const { task } = await createTask(client, "ask");
  const { taskId } = task;
  const of = async (id: string) => client.experimental.tasks.getTask(id);
  await expect.poll(async () => (await of(taskId)).status).toBe("input_required");
  // The client leaves while the gateway takes the question for it.
  const locker = await rig.database.pool.connect();
  await locker.query("BEGIN");
  await locker.query("SELECT FROM kept_result WHERE project_id = $1 FOR UPDATE", [server.projectId]);
  const leaving = new AbortController();
  const raw = await RawClient.inSession(server.url, who, "2025-11-25");
  const left = raw.send({ id: 2, method: "tasks/result", params: { taskId } }, leaving.signal).catch(() => {});
  const { pool } = rig.database;
  const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const blocked = async () => (await pool.query(waits)).rowCount === 1;
  await until(blocked);
  leaving.abort();
  await left;
  await new Promise((resolve) => setTimeout(resolve, 50));
  await locker.query("COMMIT");
  locker.release();
  expect(await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject({
    content: [{ text: `It is Ada ${taskId.slice(0, 3)}.` }],
  });

  const flooded = (await createTask(client, "flood")).task.taskId;
  await expect.poll(async () => (await of(flooded)).status).toBe("failed");
  expect((await of(flooded)).statusMessage).toMatch(/Its server asked its client for more than is kept/);
  expect(taskless.closed).toHaveLength(1);
  await client.close();
});

test("CAP-2 a question is asked until it is answered: by a database that comes back, and after a client has left with it", async () => {
  const { server, caller } = await deployTaskless(rig);
  const who = await caller();
  const client = await connectAnswering(server.url, who);
  const { pool } = rig.database;
  await pool.query("ALTER TABLE kept_result RENAME TO kept_result_gone");
  const { taskId } = (await createTask(client, "twice")).task;
  await new Promise((resolve) => setTimeout(resolve, 300));
  await pool.query("ALTER TABLE kept_result_gone RENAME TO kept_result");
  const status = async () => (await client.experimental.tasks.getTask(taskId)).status;
  await expect.poll(status).toBe("input_required");

  const raw = await RawClient.inSession(server.url, who, "2025-11-25");
  /** The ids of what a request for the result brings until its client leaves. */
  const askedWithin = async (ms: number) => {
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(), ms);
    let text = "";
    try {
      const answer = await raw.send({ id: 2, method: "tasks/result", params: { taskId } }, leaving.signal);
      for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
    } catch {}
    return [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id ?? "");
  };
  // On a busy machine the client may have left before they came.
  let asked: string[] = [];
  const both = async () => {
    asked = await askedWithin(1000);
    return asked.length;
  };
  await expect.poll(both, { timeout: 15_000 }).toBe(2);
  expect(asked).toEqual([expect.any(String), `${asked[0]} 2`]);
  // Only an answer of the session that was asked counts.
  const result = { action: "accept", content: { name: "Bob" } };
  const own = new RawClient(server.url, {
    ...who,
    "mcp-protocol-version": "2025-11-25",
    "mcp-session-id": (client.transport as { sessionId?: string }).sessionId ?? "",
  });
  for (const from of [raw, own]) expect((await from.send({ id: asked[1], result })).status).toBe(202);
  await expect.poll(() => askedWithin(700), { timeout: 10_000 }).toEqual([asked[0]]);
  await expect.poll(status).toBe("input_required");
  expect(await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject({
    content: [{ text: `It is Ada ${taskId.slice(0, 3)}.` }],
  });
  await client.close();
});

test("CAP-2 a stream that its server ends early, to be resumed, is followed for a task and for a call without its client", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  const who = await caller();
  const client = await connectAnswering(server.url, who);
  const { taskId } = (await createTask(client, "resumed")).task;
  const keyed = await RawClient.inSession(server.url, { ...who, "idempotency-key": "resumed" }, "2025-11-25");
  const params = { name: "resumed", arguments: { amount: 2 } };
  await until(() => taskless.runs.length === 1);
  await keyed.breakOff(1, params, () => until(() => taskless.runs.length === 2));
  const metrics = async () => (await fetch(new URL("/-/metrics", server.url))).text();
  await until(async () => (await metrics()).includes("calls_unattended 2"));
  taskless.release();
  await until(() => taskless.resumed.length === 4);
  expect((await client.experimental.tasks.getTask(taskId)).status).toBe("working");
  taskless.release();
  expect(await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject({
    content: [{ text: "run 1" }],
  });
  expect((await keyed.result(2, params)).result?.content[0]?.text).toBe("run 2");
  await client.close();
  const kept = async () => (await rig.rows(server.projectId, 1)).filter((row) => row.kept !== null);
  const end = { outcome: "ok", kept: "fetched" };
  await expect.poll(kept, { timeout: 10_000 }).toMatchObject([end, end]);
});

test("CAP-2 a call of 2026-07-28 that lasts becomes a task for clients that declare them, and no other", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  const who = await caller();
  const ask = (method: string, params: object = {}, extensions?: object) =>
    askModern(server.url, who, { method, params, ...(extensions && { extensions }) });
  expect((await ask("server/discover", {}, {})).result.capabilities).toEqual({ tools: {} });
  expect((await ask("server/discover")).result.capabilities).toEqual({
    tools: {},
    extensions: { [tasksExtension]: {} },
  });
  expect((await ask("tools/call", { name: "quick" })).result).toMatchObject({ resultType: "complete" });
  const plain = ask("tools/call", { name: "work" }, {});
  const { result: task } = await ask("tools/call", { name: "work" });
  expect(task).toMatchObject({ resultType: "task", status: "working", ttlMs: 600_000, pollIntervalMs: 1000 });
  const { taskId } = task;
  expect((await ask("tasks/get", { taskId })).result).toMatchObject({ resultType: "complete", status: "working" });
  taskless.release();
  expect((await plain).result).toMatchObject({ resultType: "complete", content: [{ text: "run 2" }] });
  const get = async () => (await ask("tasks/get", { taskId })).result;
  await expect.poll(async () => (await get()).status).toBe("completed");
  expect(await get()).toMatchObject({ taskId, result: { content: [{ text: "run 3" }] } });

  expect(await ask("tasks/get", { taskId }, {})).toMatchObject({ status: 400, error: { code: -32021 } });
  expect((await ask("tasks/get", { taskId: "nothing" })).error.code).toBe(-32602);
  expect((await askModern(server.url, await caller(), { method: "tasks/get", params: { taskId } })).error.code).toBe(
    -32602,
  );
  const canceled = (await ask("tools/call", { name: "work" })).result.taskId;
  expect((await ask("tasks/cancel", { taskId: canceled })).result).toEqual({ resultType: "complete" });
  await until(() => taskless.closed.length === 1);
  expect((await ask("tasks/get", { taskId: canceled })).result).toMatchObject({ status: "cancelled" });

  const lost = (await ask("tools/call", { name: "break" })).result.taskId;
  taskless.release();
  await expect.poll(async () => (await ask("tasks/get", { taskId: lost })).result.status).toBe("failed");
  expect((await ask("tasks/get", { taskId: lost })).result).toMatchObject({
    statusMessage: expect.stringMatching(/Nobody knows how the call ended/),
    error: { data: { towpath: "outcome_unknown" } },
  });
  const quick = { ...who, "idempotency-key": "quick" };
  expect(
    (await askModern(server.url, quick, { method: "tools/call", params: { name: "quick" } })).result,
  ).toMatchObject({
    resultType: "complete",
  });
  // It was claimed, and never became a task.
  const listed = await RawClient.inSession(server.url, who, "2025-11-25");
  const list = async () => {
    const text = await (await listed.send({ id: 5, method: "tasks/list" })).text();
    return JSON.parse(text).result.tasks.map(({ taskId: id }: { taskId: string }) => id);
  };
  await expect.poll(list).toEqual([lost, canceled, taskId]);
  const keyed = { ...who, "idempotency-key": "once" };
  const call = () => askModern(server.url, keyed, { method: "tools/call", params: { name: "work" } });
  const [first, second] = [await call(), await call()];
  expect(second.result.taskId).toBe(first.result.taskId);
  expect(taskless.runs.filter(({ name }) => name === "work")).toHaveLength(4);
});

test("CAP-2 a task of 2026-07-28 that needs input says so, takes answers one by one, and goes on in the version that ran it", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  const who = await caller();
  const ask = (method: string, params: object = {}) => askModern(server.url, who, { method, params });
  await ask("server/discover");
  const { taskId } = (await ask("tools/call", { name: "ask", arguments: { a: 1 } })).result;
  const get = async () => (await ask("tasks/get", { taskId })).result;
  await expect.poll(async () => (await get()).status).toBe("input_required");
  expect(Object.keys((await get()).inputRequests ?? {})).toEqual(["name"]);
  const answers = (key: string, name: string) => ({
    taskId,
    inputResponses: { [key]: { action: "accept", content: { name } } },
  });
  expect((await ask("tasks/update", answers("other", "Eve"))).result).toEqual({ resultType: "complete" });
  expect((await get()).status).toBe("input_required");
  await ask("tasks/update", answers("name", "Ada"));
  // The server asks again under the same name, which is another question of the task.
  await expect.poll(async () => Object.keys((await get()).inputRequests ?? {})).toEqual(["2/name"]);
  await ask("tasks/update", answers("2/name", "Bob"));
  await expect.poll(async () => (await get()).status).toBe("completed");
  expect((await get()).result).toMatchObject({ content: [{ text: "It is Bob." }] });
  expect(taskless.runs.map(({ requestState, arguments: given }) => [requestState, given])).toEqual([
    [undefined, { a: 1 }],
    ["first", { a: 1 }],
    ["second", { a: 1 }],
  ]);
});

test.runIf(isThorough)(
  "CAP-2 a question of a task may have any name, its answers a bounded size, and it goes on once there is room for its call",
  async () => {
    const { server, taskless, caller } = await deployTaskless(rig);
    const who = await caller();
    const ask = (method: string, params: object = {}) => askModern(server.url, who, { method, params });
    const start = async (params: object) => (await ask("tools/call", params)).result.taskId;
    const statusOf = async (taskId: string) => (await ask("tasks/get", { taskId })).result.status;
    await ask("server/discover");
    // One of each object's prototype.
    const large = "x".repeat(3 * 1024 * 1024);
    const taskId = await start({ name: "ask", arguments: { key: "constructor", large } });
    await expect.poll(() => statusOf(taskId)).toBe("input_required");
    const update = (name: string, text: string) => {
      const answer = { action: "accept", content: { name: text } };
      return ask("tasks/update", { taskId, inputResponses: { [name]: answer, toString: answer } });
    };
    expect((await update("constructor", "x".repeat(1.8 * 1024 * 1024))).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("larger than 4 MiB"),
    });
    await update("constructor", "Ada");
    await expect.poll(() => statusOf(taskId)).toBe("input_required");
    expect(Object.keys(taskless.runs[1]?.inputResponses ?? {})).toEqual(["constructor"]);

    // As many calls as a project may have that run without their client.
    const others = await Promise.all(Array.from({ length: 100 }, () => start({ name: "work" })));
    expect(await statusOf(others[99] ?? "")).toBe("working");
    expect((await update("2/constructor", "Bob")).error).toMatchObject({
      message: expect.stringContaining("Send the answers again"),
      data: { towpath: "server_busy" },
    });
    expect(await statusOf(taskId)).toBe("input_required");
    taskless.release();
    await until(async () => (await update("2/constructor", "Bob")).error === undefined);
    await expect.poll(() => statusOf(taskId)).toBe("completed");
  },
);

test("CAP-2 a call whose answer has begun compressed stays a call", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  const who = await caller();
  await askModern(server.url, who, { method: "server/discover" });
  const called = askModern(server.url, who, { method: "tools/call", params: { name: "packed" } });
  await until(() => taskless.runs.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 800));
  taskless.release();
  expect((await called).result).toMatchObject({ content: [{ text: "packed" }] });
});
