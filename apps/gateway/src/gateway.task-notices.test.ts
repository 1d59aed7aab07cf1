import { CallToolResultSchema, TaskStatusNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { openRig, until } from "./testing/rig.ts";
import { connectAnswering, createTask, listenForTasks } from "./testing/task-client.ts";
import { askModern, deployTaskless, deployTasklessPortal } from "./testing/taskless-server.ts";

const rig = openRig();

const deployServer = async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  return { url: server.url, taskless, caller, prefix: "" };
};
const deployPortal = async () => {
  const { portal, one, caller } = await deployTasklessPortal(rig);
  return { url: portal.url, taskless: one, caller, prefix: "one_" };
};
const places = [
  ["server", deployServer],
  ["portal", deployPortal],
] as const;

/** A client that keeps the notifications of tasks, once its stream is open. */
async function connectListening(url: URL, who: Record<string, string>, quick: string) {
  const client = await connectAnswering(url, who);
  const notified: [string, string][] = [];
  client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
    notified.push([params.taskId, params.status]);
  });
  await until(async () => {
    await createTask(client, quick);
    return notified.length > 0;
  });
  const of = (taskId: string) => notified.flatMap(([id, status]) => (id === taskId ? [status] : []));
  return { client, of };
}

test.each(places)(
  "CAP-2 a client of 2025-11-25 with an open stream at a %s is notified of how its tasks change, and of no others",
  async (_, deploy) => {
    const { url, taskless, caller, prefix } = await deploy();
    const { client, of } = await connectListening(url, await caller(), `${prefix}quick`);
    const other = await connectListening(url, await caller(), `${prefix}quick`);
    const { task } = await createTask(client, `${prefix}ask`);
    await expect.poll(() => of(task.taskId)).toEqual(["input_required"]);
    await client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
    await expect.poll(() => of(task.taskId)).toEqual(["input_required", "working", "completed"]);
    const canceled = (await createTask(client, `${prefix}work`)).task.taskId;
    await client.experimental.tasks.cancelTask(canceled);
    await expect.poll(() => of(canceled)).toEqual(["cancelled"]);
    const failed = (await createTask(client, `${prefix}fail`)).task.taskId;
    await until(() => taskless.runs.at(-1)?.name === "fail");
    taskless.release();
    await expect.poll(() => of(failed)).toEqual(["failed"]);
    for (const id of [task.taskId, canceled, failed]) expect(other.of(id)).toEqual([]);
    await Promise.all([client.close(), other.client.close()]);
  },
);

test.each(places)(
  "CAP-2 a client of 2026-07-28 that subscribes to a task at a %s gets its state, then each change with what tasks/get shows",
  async (_, deploy) => {
    const { url, taskless, caller, prefix } = await deploy();
    const who = await caller();
    const call = async (name: string) =>
      (await askModern(url, who, { method: "tools/call", params: { name: `${prefix}${name}` } })).result.taskId;
    const [work, ask] = await Promise.all([call("work"), call("ask")]);
    const others = await askModern(url, await caller(), { method: "tools/call", params: { name: `${prefix}work` } });
    const stream = await listenForTasks(url, who, [work, ask, others.result.taskId, "made-up"]);
    const _meta = { "io.modelcontextprotocol/subscriptionId": 3 };
    const acknowledged = {
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [work, ask] }, _meta },
    };
    expect(await stream.next()).toEqual({ jsonrpc: "2.0", ...acknowledged });
    const next = async (taskId: string, status: string, more: object = {}) => {
      for (;;) {
        const message = (await stream.next()) as { method: string; params: { taskId: string; status: string } };
        expect(message.method).toBe("notifications/tasks");
        expect(message.params).toMatchObject({ taskId: expect.stringMatching(/^k1\./), _meta });
        if (message.params.taskId !== taskId || message.params.status !== status) continue;
        return expect(message.params).toMatchObject(more);
      }
    };
    await next(work, "working");
    await next(ask, "input_required", { inputRequests: { name: { method: "elicitation/create" } } });
    taskless.release();
    await next(work, "completed", { result: { content: [{ text: expect.stringMatching(/^run/) }] } });
    await askModern(url, who, { method: "tasks/cancel", params: { taskId: ask } });
    await next(ask, "cancelled");
    await stream.close();
  },
);

test("CAP-2 notifications of tasks come between two events of the server's own stream", async () => {
  const { url, taskless, caller } = await deployServer();
  const { client, of } = await connectListening(url, await caller(), "quick");
  const logged: unknown[] = [];
  const { LoggingMessageNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    logged.push(params.data);
  });
  const [stream] = taskless.streams;
  const text = `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "whole" } })}\n\n`;
  stream?.write(text.slice(0, 60));
  const { task } = await createTask(client, "quick");
  await expect.poll(async () => (await client.experimental.tasks.getTask(task.taskId)).status).toBe("completed");
  expect(of(task.taskId)).toEqual([]);
  stream?.write(text.slice(60));
  await expect.poll(() => of(task.taskId)).toEqual(["completed"]);
  expect(logged).toEqual(["whole"]);
  await client.close();
});
