import type { Transaction } from "@towpath/db";

/** Jobs that the worker takes from the queue. Every handler is idempotent: delivery is at least once. */
export type JobPayloads = {
  /** A stored, signature-checked webhook delivery waits to be acted on. */
  "webhook.process": { readonly deliveryId: string };
  /** A queued build waits to be run. */
  "build.run": { readonly buildId: string };
};
export type JobName = keyof JobPayloads;

export type EnqueueOptions = {
  /** Makes the job unique while it waits: a second enqueue with the same key changes nothing. */
  readonly key?: string;
  /** The job appears when this transaction commits, and never when it does not. */
  readonly transaction?: Transaction;
};

/** Puts jobs into the queue; pg-boss in production. */
export type JobQueue = {
  enqueue<Name extends JobName>(name: Name, payload: JobPayloads[Name], options?: EnqueueOptions): Promise<void>;
};

export type Clock = { now(): Date };
export const systemClock: Clock = { now: () => new Date() };
