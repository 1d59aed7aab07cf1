import type { Transaction } from "@towpath/db";

/** Jobs that the worker takes from the queue. Every handler is idempotent: delivery is at least once. */
export type JobPayloads = {
  /** A stored, signature-checked webhook delivery waits to be acted on. */
  "webhook.process": { readonly deliveryId: string };
  /** GitHub said that a branch changed: ask it how the branch is now, and act on the answer. */
  "branch.sync": { readonly projectId: string; readonly branch: string };
  /** GitHub said that an installation changed: ask it whether it still exists and whether it is suspended. */
  "installation.sync": { readonly installationId: number };
  /** An organization's turn: its oldest queued build is run. */
  "build.run": { readonly organizationId: string };
};
export type JobName = keyof JobPayloads;

export type EnqueueOptions = {
  /** Makes the job unique while it waits for its first run or a retry: enqueueing it again changes nothing. */
  readonly key?: string;
  /** Whose job it is: a worker can limit how many jobs of one group it runs at a time. */
  readonly group?: string;
  /** The job appears when this transaction commits, and never when it does not. */
  readonly transaction?: Transaction;
};

/** Puts jobs into the queue; pg-boss in production. */
export type JobQueue = {
  enqueue<Name extends JobName>(name: Name, payload: JobPayloads[Name], options?: EnqueueOptions): Promise<void>;
};

export type Clock = { now(): Date };
export const systemClock: Clock = { now: () => new Date() };
