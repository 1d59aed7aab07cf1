import type { Transaction } from "@towpath/db";

/**
 * What happened to a group: it is new, it came back after it was resolved, or it had as many failures in an hour as its
 * project named.
 */
export type ErrorChange = {
  readonly kind: "error.new" | "error.back" | "error.rate";
  readonly projectId: string;
  readonly groupId: string;
  readonly title: string;
  /** The tool, prompt or resource; else the method; null for what concerns the whole server. */
  readonly tool: string | null;
  /** Failures so far; for `error.rate`, in the hour. */
  readonly count: number;
  readonly deploymentId: string | null;
};

/** Called in the transaction that stores the changes, so that neither exists without the other. */
export type OnGroupChange = (tx: Transaction, changes: readonly ErrorChange[]) => Promise<void>;
