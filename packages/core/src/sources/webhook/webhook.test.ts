import { project, webhookDelivery } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq, inArray, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor, Context } from "../../context/index.ts";
import type { JobQueue } from "../../ports/index.ts";
import { memoryQueue, openOrganization, refusalCode, seedProject, testContext } from "../../testing/index.ts";
import { getWebhookDelivery, processWebhook, receiveWebhook, requeueLostDeliveries } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);

const job: Actor = { kind: "job", job: "webhook.process" };
const as = (actor: Actor = job, queue = memoryQueue()) => testContext(database.db, actor, { queue });

test("BLD-12 a delivery is stored and enqueued once, however often it is received", async () => {
  const queue = memoryQueue();
  const input = { deliveryId: "d-1", event: "push", payload: { ref: "refs/heads/main" } };
  expect(await receiveWebhook({ ctx: as(job, queue), input })).toEqual({ duplicate: false });
  expect(await receiveWebhook({ ctx: as(job, queue), input })).toEqual({ duplicate: true });
  expect(queue.jobs).toEqual([{ name: "webhook.process", payload: { deliveryId: "d-1" }, key: "d-1" }]);
  expect(await getWebhookDelivery({ ctx: as(), input })).toEqual({
    connection: 0,
    event: "push",
    payload: input.payload,
    processed: false,
  });
  await processWebhook({ ctx: as(), input: { deliveryId: "d-1", hint: { kind: "ignored" } } });
  expect((await getWebhookDelivery({ ctx: as(), input }))?.processed).toBe(true);
  const after = memoryQueue();
  await receiveWebhook({ ctx: as(job, after), input });
  expect(after.jobs).toEqual([]);
  const user = receiveWebhook({ ctx: as(organization.owner), input });
  expect(await refusalCode(user)).toBe("forbidden");
  const wrong = receiveWebhook({ ctx: as(), input: { ...input, deliveryId: "x y" } });
  expect(await refusalCode(wrong)).toBe("invalid_input");
});

test("BLD-12 unprocessed deliveries are found and enqueued again", async () => {
  const input = { deliveryId: "lost-1", event: "push", payload: {} };
  await receiveWebhook({ ctx: as(), input });
  const queue = memoryQueue();
  const sweep = () => requeueLostDeliveries({ ctx: as(job, queue), input: { olderThanMs: 60_000 } });
  expect((await sweep()).requeued).not.toContain("lost-1");
  await database.db
    .update(webhookDelivery)
    .set({ receivedAt: sql`now() - interval '2 minutes'` })
    .where(eq(webhookDelivery.id, "lost-1"));
  expect((await sweep()).requeued).toContain("lost-1");
  expect(queue.jobs.map((each) => each.key)).toContain("lost-1");
});

test("BLD-12 a project that cannot be marked does not affect others, and the delivery is retried", async () => {
  const [first, second] = [await seedProject(database.db, organization), await seedProject(database.db, organization)];
  await database.db
    .update(project)
    .set({ repositoryId: 4242 })
    .where(inArray(project.id, [first.id, second.id]));
  const input = { deliveryId: "shared-1", event: "push", payload: {} };
  await receiveWebhook({ ctx: as(), input });
  const queue = memoryQueue();
  const failing: JobQueue = {
    enqueue: (name, payload, options) =>
      "projectId" in payload && payload.projectId === first.id
        ? Promise.reject(new Error("no place in the queue"))
        : queue.enqueue(name, payload, options),
  };
  const hint = { kind: "branch", repositoryId: 4242, branch: "main", mayBeNew: true } as const;
  const process = (ctx: Context) => processWebhook({ ctx, input: { deliveryId: "shared-1", hint } });
  await expect(process({ ...as(), queue: failing })).rejects.toThrow("1 of 2 projects could not be marked");
  expect(queue.jobs.map(({ payload }) => payload)).toEqual([{ projectId: second.id, branch: "main" }]);
  expect((await getWebhookDelivery({ ctx: as(), input }))?.processed).toBe(false);
  expect(await process(as(job, queue))).toEqual({ hinted: 2 });
  expect(queue.jobs).toHaveLength(2);
  expect((await getWebhookDelivery({ ctx: as(), input }))?.processed).toBe(true);
});
