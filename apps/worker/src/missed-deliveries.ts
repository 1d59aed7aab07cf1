import { recordMissedWebhooks } from "@towpath/core/sources/github-check";
import { unknownDeliveries } from "@towpath/core/sources/webhook";
import type { GitHub, GitHubConnections } from "@towpath/github";
import { jobContext, type Services } from "./services.ts";

/** GitHub redelivers for at most three days. */
const maxAgeMs = 3 * 86_400_000;
/** Newer deliveries may still arrive, or be retried by the sender. */
const minAgeMs = 120_000;
/** A payload that is always refused is given up after this many attempts. */
const maxAttempts = 5;
const maxPages = 20;

type Deliveries = Pick<GitHub, "webhookDeliveries" | "redeliver">;

/** The same for all connections, in parallel: an unreachable one delays no other. */
export async function redeliverMissedOfAll(
  services: Services,
  connections: Pick<GitHubConnections, "all">,
  signal?: AbortSignal,
): Promise<void> {
  for (const { github, number } of await connections.all()) {
    try {
      const { redelivered } = await redeliverMissed(services, github, signal);
      const ctx = jobContext(services, "missed-deliveries");
      if (redelivered > 0) await recordMissedWebhooks({ ctx, input: { connection: number } });
    } catch (error) {
      services.log.warn({ err: error, host: github.config.url }, "asking GitHub for missed deliveries failed");
    }
  }
}

/**
 * Asks GitHub to redeliver failed webhooks, such as pushes while this instance was down, which it doesn't do by itself
 * (BLD-12). A redelivery has the same id, so a duplicate does nothing.
 */
export async function redeliverMissed(
  services: Services,
  github: Deliveries,
  signal?: AbortSignal,
): Promise<{ readonly redelivered: number }> {
  const failed = await listFailed(github, signal);
  const ctx = jobContext(services, "missed-deliveries");
  const missed = await unknownDeliveries({ ctx, input: { ids: [...failed.keys()] } });
  let redelivered = 0;
  for (const guid of missed) {
    const newest = failed.get(guid);
    if (signal?.aborted || newest === undefined) break;
    await github.redeliver(newest);
    redelivered++;
  }
  if (redelivered > 0) services.log.warn({ redelivered }, "asked GitHub for deliveries that never came");
  return { redelivered };
}

/** Delivery id → GitHub's number of the newest attempt, for deliveries without a successful attempt. */
async function listFailed(github: Deliveries, signal?: AbortSignal): Promise<ReadonlyMap<string, number>> {
  const attempts = new Map<string, { newest: number; at: number; count: number; arrived: boolean }>();
  let cursor: string | null = null;
  for (let page = 0; page < maxPages && !signal?.aborted; page++) {
    // Newest first.
    const { deliveries, nextCursor } = await github.webhookDeliveries(cursor === null ? {} : { cursor });
    for (const { guid, id, delivered_at, status_code: status } of deliveries) {
      const found = attempts.get(guid) ?? { newest: id, at: Date.parse(delivered_at), count: 0, arrived: false };
      const arrived = found.arrived || (status >= 200 && status < 300);
      attempts.set(guid, { ...found, count: found.count + 1, arrived });
    }
    const oldest = deliveries.at(-1);
    if (nextCursor === null || !oldest || Date.now() - Date.parse(oldest.delivered_at) > maxAgeMs) break;
    cursor = nextCursor;
  }
  const due = [...attempts].filter(([, { at, count, arrived }]) => {
    const age = Date.now() - at;
    return !arrived && count < maxAttempts && age > minAgeMs && age < maxAgeMs;
  });
  return new Map(due.map(([guid, { newest }]) => [guid, newest]));
}
