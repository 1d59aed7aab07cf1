import { z } from "zod";
import { timeRangeSchema } from "../log-query.schema.ts";

// Browser-safe.

/** The first entry of the next page: milliseconds since 1970, a dot, the row's key. */
const cursorSchema = z
  .string()
  .regex(/^\d{1,15}\.-?\d{1,19}$/, "Not a cursor of this list")
  .refine((cursor) => isBigint(cursor.split(".")[1] ?? ""), "Not a cursor of this list");

/** Whether the number fits PostgreSQL's bigint. */
export const isBigint = (digits: string) => BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);

/** A page of sessions or users (LOG-1). */
export const activityListSchema = z.object({
  projectId: z.uuid(),
  timeRange: timeRangeSchema.default("24h"),
  /** `nextCursor` of the previous page. */
  cursor: cursorSchema.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(100),
});
/** Only sessions of one principal, if named. */
export const sessionListSchema = activityListSchema.extend({ principal: z.string().max(256).optional() });
export type SessionListInput = z.input<typeof sessionListSchema>;
export type ActivityListInput = z.input<typeof activityListSchema>;

export const timeseriesSchema = z.object({ projectId: z.uuid(), timeRange: timeRangeSchema.default("7d") });
export const activityStatsSchema = z.object({ projectId: z.uuid(), timeRange: timeRangeSchema.default("24h") });

export type SessionEntry = {
  /** For a legacy session the id in the log; for a formed one `~key~time`, which stays valid when it grows. */
  id: string;
  /** The session id in the log; null when the session was formed by principal, client and idle gap (LOG-2). */
  session: string | null;
  principal: string;
  clientName: string | null;
  clientVersion: string | null;
  protocolVersion: string | null;
  /** Of the latest call; null for a target that is no deployment. */
  deploymentId: string | null;
  /** ISO 8601, UTC. */
  firstSeen: string;
  lastSeen: string;
  /** Without those that the gateway refused. */
  calls: number;
  errors: number;
};

export type UserEntry = {
  principal: string;
  firstSeen: string;
  lastSeen: string;
  /** The client of the latest call. */
  clientName: string | null;
  clientVersion: string | null;
  /** In the time range, by whole hours, without those that the gateway refused. */
  calls: number;
  errors: number;
  /** Calls over the range, oldest first, by steps of an hour or longer. */
  course: readonly number[];
};

/** A page, most recently active first. `nextCursor` is null unless the page was full. */
export type ActivityPage<Entry> = { data: Entry[]; nextCursor: string | null };

/** A called item and its results. Durations in milliseconds. */
export type UsageItem = {
  method: string | null;
  target: string | null;
  calls: number;
  errors: number;
  p50Ms: number;
  p95Ms: number;
};

export type Usage = {
  /** Most frequent first. */
  data: UsageItem[];
  /** Number of calls that `data` covers: the latest ones. */
  counted: number;
};

/** `counts`: sessions that began, or users that called, in each period; all periods of the range, in order. */
export type ActivityTimeseries = { bucketMs: number; data: { start: string; count: number }[] };

export type SessionStats = {
  /** Sessions that were active in the range. */
  sessions: number;
  /** Averages of these; null without any. */
  callsPerSession: number | null;
  durationMs: number | null;
};

export type UserStats = { users: number; newUsers: number };
