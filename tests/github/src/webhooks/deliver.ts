import { signWebhook } from "@towpath/github";
import type { Database } from "../state/database.ts";
import { type Delivery, nextDue, nextDueAt, recordAttempt } from "../state/deliveries.ts";

export type Deliverer = {
  /** Checks for due deliveries. Call it after storing new ones. */
  wake(): void;
  /** Aborts the current attempt, which doesn't count. */
  stop(): Promise<void>;
};

export type DelivererOptions = {
  readonly database: Database;
  /** Where to, and the secret that signs; an empty address sends nothing. */
  readonly target: () => { readonly url: string; readonly secret: string };
  /** Pauses after the first, second, … failure; after the last one the delivery counts as failed. */
  readonly pausesMs?: readonly number[];
};

/** About five minutes in total: long enough for a restart of the receiver; after that, it can be redelivered. */
const defaultPausesMs = [500, 1000, 2000, 5000, 15_000, 60_000, 240_000];
/** As long as GitHub waits. */
const timeoutMs = 10_000;

type Outcome = { status: string; statusCode: number; verdict: "delivered" | "retry" | "failed" };

async function send(delivery: Delivery, options: DelivererOptions, stopping: AbortSignal): Promise<Outcome> {
  const { url, secret } = options.target();
  if (url === "") return { status: "no webhook", statusCode: 0, verdict: "failed" };
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "towpath-forge",
        "x-github-event": delivery.event,
        "x-github-delivery": delivery.guid,
        "x-hub-signature-256": signWebhook(secret, delivery.body),
      },
      body: delivery.body,
      redirect: "manual",
      signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    const { status: statusCode, ok } = response;
    // A 4xx is permanent; an overloaded or failing receiver may recover.
    const mayRetry = statusCode >= 500 || statusCode === 429;
    return {
      status: response.statusText || String(statusCode),
      statusCode,
      verdict: ok ? "delivered" : mayRetry ? "retry" : "failed",
    };
  } catch {
    stopping.throwIfAborted();
    return { status: "no answer", statusCode: 0, verdict: "retry" };
  }
}

/**
 * Sends the deliveries in the table, oldest first, one at a time. The table is authoritative: deliveries that were
 * pending when the forge stopped are sent after the next start.
 */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const { database } = options;
  const pausesMs = options.pausesMs ?? defaultPausesMs;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function attempt(delivery: Delivery): Promise<void> {
    const outcome = await send(delivery, options, stopping.signal);
    const pause = pausesMs[delivery.attempts];
    const retries = outcome.verdict === "retry" && pause !== undefined;
    const state = outcome.verdict === "delivered" ? "delivered" : retries ? "pending" : "failed";
    recordAttempt(database, delivery.id, { ...outcome, state, nextAttemptAtMs: Date.now() + (pause ?? 0) });
  }

  async function drain(): Promise<void> {
    for (
      let due = nextDue(database, Date.now());
      due && !stopping.signal.aborted;
      due = nextDue(database, Date.now())
    ) {
      await attempt(due);
    }
  }

  function schedule(): void {
    const at = nextDueAt(database);
    if (at !== null) timer = setTimeout(wake, Math.max(0, at - Date.now()));
  }

  function wake(): void {
    if (running !== null || stopping.signal.aborted) return;
    clearTimeout(timer);
    running = drain()
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) throw error;
      })
      .finally(() => {
        running = null;
        if (!stopping.signal.aborted) schedule();
      });
  }

  return {
    wake,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
