import { receiveWebhook } from "@towpath/core/sources/webhook";
import type { GitHub } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redeliverMissed } from "./missed-deliveries.ts";
import { jobContext } from "./services.ts";
import { type Bench, openBench } from "./testing/worker-bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

const minute = 60_000;
type Delivery = Awaited<ReturnType<GitHub["webhookDeliveries"]>>["deliveries"][number];
let ids = 0;
const delivery = (guid: string, status_code: number, agoMs: number): Delivery => ({
  id: ++ids,
  guid,
  status_code,
  status: "",
  redelivery: false,
  event: "push",
  action: null,
  installation_id: 1,
  repository_id: 1,
  delivered_at: new Date(Date.now() - agoMs).toISOString(),
});

test("BLD-12 deliveries that GitHub couldn't make while this instance was unreachable are requested again, unless they arrived", async () => {
  const again = [1, 2, 3, 4, 5].map((hours) => delivery("hopeless", 500, hours * 60 * minute));
  const lost = delivery("lost", 0, 30 * minute);
  const newer = delivery("tried-twice", 502, 10 * minute);
  const pages = [
    [delivery("fresh", 0, 1000), newer, lost, ...again],
    [delivery("tried-twice", 0, 60 * minute), delivery("came-later", 200, 61 * minute)],
    [
      delivery("came-later", 500, 62 * minute),
      delivery("stored", 504, 63 * minute),
      delivery("old", 0, 4 * 24 * 60 * minute),
    ],
  ];
  const received = { deliveryId: "stored", event: "push", payload: {} };
  await receiveWebhook({ ctx: jobContext(bench.services, "webhook.process"), input: received });
  const redelivered: number[] = [];
  const github: Pick<GitHub, "webhookDeliveries" | "redeliver"> = {
    webhookDeliveries: async ({ cursor = "0" } = {}) => {
      const next = Number(cursor) + 1;
      return { deliveries: pages[Number(cursor)] ?? [], nextCursor: next < pages.length ? String(next) : null };
    },
    redeliver: async (id) => void redelivered.push(id),
  };
  expect(await redeliverMissed(bench.services, github)).toEqual({ redelivered: 2 });
  expect(redelivered.sort()).toEqual([lost.id, newer.id].sort());
});
