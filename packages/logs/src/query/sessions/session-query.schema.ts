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

const text = z.string().nullable();
/** Calls without those that the gateway refused. */
const seen = {
  firstSeen: z.iso.datetime(),
  lastSeen: z.iso.datetime(),
  calls: z.number().int(),
  errors: z.number().int(),
};

export const sessionEntrySchema = z.object({
  /** For a legacy session the id in the log; for a formed one `~key~time`, which stays valid when it grows. */
  id: z.string(),
  /** LOG-2. */
  session: text.describe("its id in the request log; null: formed by principal, client and idle gap"),
  principal: z.string(),
  clientName: text,
  clientVersion: text,
  protocolVersion: text,
  /** Null for a target that is no deployment. */
  deploymentId: z.uuid().nullable().describe("that of the newest call"),
  ...seen,
});
export type SessionEntry = z.infer<typeof sessionEntrySchema>;

/** The client is that of the latest call; calls are those of the time range, by whole hours. */
export const userEntrySchema = z.object({
  principal: z.string(),
  clientName: text,
  clientVersion: text,
  ...seen,
  /** By steps of an hour or longer. */
  course: z.array(z.number()).readonly().describe("calls over the time range, oldest first"),
});
export type UserEntry = z.infer<typeof userEntrySchema>;

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
