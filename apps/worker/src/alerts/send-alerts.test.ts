import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createAlertChannel, raiseAlert } from "@towpath/core/operations/alert";
import { seedOrganization, seedProject, testContext } from "@towpath/core/testing";
import { alertDelivery } from "@towpath/db/schema";
import { createAddressPolicy, createWebhookPoster } from "@towpath/egress";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { type LocalInstance, openLocalInstance } from "../testing/local-instance.ts";

let instance: LocalInstance;
beforeAll(async () => {
  instance = await openLocalInstance();
});
afterAll(() => instance.close());

/** A receiver of webhooks; `ids`: of the messages that it got. */
async function receiver(listener: RequestListener) {
  const ids: string[] = [];
  const server = createServer((request, response) => {
    ids.push(String(request.headers["webhook-id"]));
    listener(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { ids, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** An organization with a server. */
async function openPlace() {
  const { db } = instance.database;
  const organization = await seedOrganization(db);
  const { id: projectId } = await seedProject(db, organization);
  const ctx = testContext(db, organization.owner, {
    secrets: createSecretBox({ current: instance.rootSecret, previous: [] }),
    webhooks: createWebhookPoster(createAddressPolicy(["127.0.0.0/8"])),
  });
  return {
    async addChannel(url: string): Promise<string> {
      const input = { orgSlug: organization.slug, name: "A", format: "standard", url } as const;
      return (await createAlertChannel({ ctx, input: { ...input, events: ["error.new"] } })).channel.id;
    },
    async raise(count: number): Promise<void> {
      for (let at = 0; at < count; at++) {
        const error = { kind: "error.new", groupId: crypto.randomUUID(), title: "KeyError", tool: null } as const;
        await db.transaction((tx) => raiseAlert(tx, { ...error, projectId, count: 1, deploymentId: null }));
      }
    },
  };
}
const statusesOf = async (channelId: string) => {
  const { status } = alertDelivery;
  const rows = await instance.database.db
    .select({ status })
    .from(alertDelivery)
    .where(eq(alertDelivery.channelId, channelId));
  return rows.map((row) => row.status);
};

test.runIf(isThorough)(
  "CAP-6 receivers that never answer hold no other: sixty of them, and other messages arrive within seconds",
  async () => {
    const silent = await receiver(() => {});
    const quick = await receiver((_, response) => response.writeHead(204).end());
    // An organization has at most thirty channels.
    for (let organization = 0; organization < 3; organization++) {
      const theirs = await openPlace();
      for (let count = 0; count < 20; count++) await theirs.addChannel(silent.url);
      await theirs.raise(3);
    }
    await instance.start("worker");
    await expect.poll(() => silent.ids.length, { timeout: 20_000 }).toBeGreaterThan(40);
    const ours = await openPlace();
    const channelId = await ours.addChannel(quick.url);
    const begun = performance.now();
    await ours.raise(3);
    await expect.poll(() => quick.ids.length, { timeout: 30_000, interval: 100 }).toBe(3);
    // The first attempts take all places, for as long as one takes at most.
    expect(performance.now() - begun).toBeLessThan(20_000);
    await expect.poll(() => statusesOf(channelId)).toEqual(["sent", "sent", "sent"]);
    await instance.kill("worker");
  },
  90_000,
);

test.runIf(isThorough)(
  "CAP-6 a worker that is killed while it sends loses nothing: the same id is sent once more, and each other once",
  async () => {
    let isFirst = true;
    let inside = () => {};
    const arrived = new Promise<void>((done) => {
      inside = done;
    });
    const target = await receiver((_, response) => {
      // It has the message, and the worker never learns that.
      if (isFirst) inside();
      else response.writeHead(200).end();
      isFirst = false;
    });
    const { addChannel, raise } = await openPlace();
    const channelId = await addChannel(target.url);
    await instance.start("worker");
    await raise(5);
    await arrived;
    await instance.kill("worker");
    expect((await statusesOf(channelId)).filter((status) => status === "sent")).toEqual([]);
    await instance.start("worker");
    await expect.poll(() => statusesOf(channelId), { timeout: 60_000, interval: 200 }).toEqual(Array(5).fill("sent"));
    const times = Map.groupBy(target.ids, (id) => id);
    expect([...times.values()].map(({ length }) => length).toSorted()).toEqual([1, 1, 1, 1, 2]);
    expect(times.get(target.ids[0] ?? "")).toHaveLength(2);
    await instance.stop("worker");
  },
  120_000,
);
