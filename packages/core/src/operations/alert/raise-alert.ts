import type { Transaction } from "@towpath/db";
import { alertEvent } from "@towpath/db/schema";
import { and, eq, gt, like, sql } from "drizzle-orm";
import { newId } from "../../ids/index.ts";
import { storableText } from "../../input/index.ts";
import type { AlertKind } from "./alert.schema.ts";

/** What happened to a project's server. */
export type AlertEvent = { readonly projectId: string } & (
  | {
      readonly kind: "error.new" | "error.back" | "error.rate";
      /** The error. */
      readonly groupId: string;
      readonly title: string;
      /** The tool, or another target or method; null: none. */
      readonly tool: string | null;
      /** How often it has occurred; of a rate, in an hour. */
      readonly count: number;
      /** The deployment that brought it. */
      readonly deploymentId: string | null;
    }
  | {
      readonly kind: "deployment.failed" | "preview.failed";
      readonly buildId: string;
      readonly branch: string;
      /** What was built: a commit in short, or a version. */
      readonly built: string;
      readonly title: string;
      readonly remedy: string;
    }
  | { readonly kind: "server.no-place"; readonly reason: string }
  | {
      readonly kind: "sign-in.loop";
      /** What the client is called, and what distinguishes it. */
      readonly client: string;
      readonly key: string;
      readonly starts: number;
      readonly minutes: number;
      /** Why the last attempt failed; null: it just ended. */
      readonly problem: string | null;
    }
  | {
      readonly kind: "latency.band";
      /** ISO 8601 */
      readonly since: string;
      readonly p95Ms: number;
      readonly maxMs: number;
      /** The week before; null: too few calls then. */
      readonly usualMs: number | null;
      readonly calls: number;
    }
  | {
      readonly kind: "latency.normal";
      readonly since: string;
      /** Null: there are hardly any calls any more. */
      readonly p95Ms: number | null;
      readonly maxMs: number | null;
    }
);

/** The kind that a channel chooses to get such events. */
export const chosenKind = (kind: AlertEvent["kind"]): AlertKind => (kind === "latency.normal" ? "latency.band" : kind);

/** Which state of what an event is about. `againAfterMs`: the state has no end that is known, only a time without it. */
function keyOf(event: AlertEvent): { readonly key: string; readonly againAfterMs?: number } {
  switch (event.kind) {
    case "error.new":
      return { key: `${event.kind}:${event.groupId}` };
    case "error.back":
      return { key: `${event.kind}:${event.groupId}:${event.count}` };
    case "error.rate":
      return { key: `${event.kind}:${event.groupId}`, againAfterMs: hourMs };
    case "deployment.failed":
    case "preview.failed":
      return { key: `${event.kind}:${event.buildId}` };
    case "server.no-place":
      return { key: event.kind, againAfterMs: hourMs };
    case "sign-in.loop":
      return { key: `${event.kind}:${event.key}`, againAfterMs: 24 * hourMs };
    case "latency.band":
    case "latency.normal":
      return { key: `${event.kind}:${event.since}` };
  }
}

const hourMs = 3_600_000;

/**
 * Records an event for the channels that chose its kind (CAP-6). It exists if and only if the transaction commits, and
 * once for each state of what it is about, however often this is called. A worker sends it within seconds.
 *
 * @returns whether it was recorded: not for a second time
 */
export async function raiseAlert(tx: Transaction, event: AlertEvent, now = new Date()): Promise<boolean> {
  const { key, againAfterMs } = keyOf(event);
  const groupKey = againAfterMs === undefined ? key : `${key}:${now.toISOString()}`;
  if (againAfterMs !== undefined && (await isRecent(tx, event.projectId, key, new Date(now.getTime() - againAfterMs))))
    return false;
  const { projectId, kind } = event;
  const raised = await tx
    .insert(alertEvent)
    .values({ id: newId(), projectId, kind, groupKey, detail: storable(event), createdAt: now })
    .onConflictDoNothing()
    .returning({ id: alertEvent.id });
  return raised.length > 0;
}

/** Texts of tenants must not keep the transaction from being committed. */
const storable = (event: AlertEvent): AlertEvent =>
  JSON.parse(JSON.stringify(event), (_, value) => (typeof value === "string" ? storableText(value) : value));

/** One process at a time, until its transaction ends: two that look at the same time would both find none. */
async function isRecent(tx: Transaction, projectId: string, key: string, since: Date): Promise<boolean> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtext('towpath_alert'), hashtext(${`${projectId} ${key}`}))`);
  const begins = `${key.replace(/[\\%_]/g, "\\$&")}:%`;
  const same = and(eq(alertEvent.projectId, projectId), like(alertEvent.groupKey, begins));
  return (await tx.$count(alertEvent, and(same, gt(alertEvent.createdAt, since)))) > 0;
}
