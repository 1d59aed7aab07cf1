import { z } from "zod";

// Browser-safe: the dashboard validates its search parameters with the same objects as the server (VAL-5, PRJ-5).

/** The period that a log screen shows. */
export const timeRangeSchema = z.enum(["15m", "1h", "6h", "24h", "7d", "30d"]);
export type TimeRange = z.infer<typeof timeRangeSchema>;

/**
 * The state of a call whose result may be asked for again (CAP-2): it waits, was fetched, or nobody came in time;
 * nobody saw how the call ended; the client canceled it; its result found no room.
 */
const keptStates = ["waiting", "fetched", "expired", "unknown", "canceled", "dropped"] as const;
export type KeptState = (typeof keptStates)[number];

/** Filters of request-log rows (VAL-5). `startDate` and `endDate` override `timeRange`. */
export const logQuerySchema = z.object({
  projectId: z.uuid(),
  deploymentIds: z.array(z.uuid()).max(200).optional(),
  deploymentId: z.uuid().optional(),
  startDate: z.coerce.date().optional(),
  endDate: z.coerce.date().optional(),
  timeRange: timeRangeSchema.default("24h"),
  httpMethod: z.string().max(16).optional(),
  jsonrpcMethod: z.string().max(256).optional(),
  /** `tools` or `tools/`: every method under that prefix. */
  methodPrefix: z.string().max(256).optional(),
  toolName: z.string().max(512).optional(),
  /** Exact target: prompt name or resource URI. Use it with `jsonrpcMethod`. */
  target: z.string().max(1024).optional(),
  /** Reads of resources whose URI matches this template and is none of `exceptTargets`. */
  uriTemplate: z.string().max(1024).optional(),
  exceptTargets: z.array(z.string().max(1024)).max(1000).optional(),
  /** Failed or was refused; false: succeeded. */
  hasFailed: z.boolean().optional(),
  /** As in statistics: failures, except those that the gateway refused before it called a server. */
  isError: z.boolean().optional(),
  /** Refused by the gateway before it called a server (401, 403, 404, 413, 429): `refused` in statistics. */
  isRefused: z.boolean().optional(),
  /** Leaves out successful messages of the protocol itself: handshakes, pings, lists, notifications. */
  withoutProtocol: z.boolean().optional(),
  /** Longer, or shorter, than this many milliseconds in total. */
  longerThanMs: z.coerce.number().min(0).max(86_400_000).optional(),
  shorterThanMs: z.coerce.number().min(0).max(86_400_000).optional(),
  /** Calls whose result is kept, by its state (CAP-2). */
  kept: z.enum(keptStates).optional(),
  /** The beginning of the client's name, case-insensitive. */
  clientName: z.string().max(256).optional(),
  /** A session id as logged. */
  session: z.string().max(128).optional(),
  /** The caller as logged: `user:<id>`, `key:<id>`, `admin`, `anonymous`. An empty list matches nothing. */
  principals: z.array(z.string().max(256)).max(100).optional(),
  /** Part of a method, target, error message, client name, session or principal, case-insensitive. */
  search: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  /** Rows to skip. A cursor reaches later pages faster, and doesn't shift when rows arrive. */
  offset: z.coerce.number().int().min(0).default(0),
  /** `nextCursor` of the previous page. */
  cursor: z
    .string()
    .regex(/^\d{1,15}\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, "Not a cursor of this list")
    .optional(),
});
const notInSums = (what: string) =>
  z.undefined({ error: `Statistics can't be limited to ${what}. Leave it out, or read the list.` }).optional();
/** Filters of statistics: the sums know neither callers nor all searched texts. */
export const logStatsQuerySchema = logQuerySchema.omit({ limit: true, offset: true, cursor: true }).extend({
  longerThanMs: notInSums("a duration"),
  shorterThanMs: notInSums("a duration"),
  kept: notInSums("kept results"),
  clientName: notInSums("a client"),
  session: notInSums("a session"),
  principals: notInSums("users"),
  search: notInSums("a search"),
});
export type LogStatsQueryInput = z.input<typeof logStatsQuerySchema>;

/** A parsed query, defaults filled in. */
export type LogQuery = z.infer<typeof logQuerySchema>;
/** A query as callers write it: only `projectId` is required. */
export type LogQueryInput = z.input<typeof logQuerySchema>;

/** Filters of the log screen, REST and the terminal: the search parameters of the screen (PRJ-5), without its times. */
export type LogFilters = {
  /** `error`: failed or refused; `failed`: errors as in overviews, without calls that the gateway refused. */
  status: "all" | "ok" | "error" | "failed" | "refused";
  /** `all`, `tool:{name}`, a prefix ending in `/*`, or an exact JSON-RPC method. */
  methodType: string;
  /** A prompt's name with `prompts/get`, a resource's URI with `resources/read`. */
  target?: string | undefined;
  /** `>500`, `<20ms`, `>1.5s`; milliseconds without a unit. */
  duration?: string | undefined;
  client?: string | undefined;
  kept?: KeptState | undefined;
  session?: string | undefined;
  /** An email address, the name of a person or key, or a principal as logged. */
  user?: string | undefined;
  /** A deployment's id, or the beginning of its commit. */
  deployment?: string | undefined;
  /** The name of a branch: calls of its newest 200 deployments. */
  branch?: string | undefined;
  search?: string | undefined;
};
/** Search parameters of the logs screen (PRJ-5). */
export type LogSearch = LogFilters & {
  timeRange: TimeRange;
  /** A chosen period, ISO 8601, in place of `timeRange`: both or none. */
  from?: string | undefined;
  to?: string | undefined;
  /** Whether handshakes, lists and the like are shown; absent: as last chosen. */
  protocol?: boolean | undefined;
};

/** How an exchange ended, as recorded by the gateway. */
const outcomeSchema = z.enum([
  "ok",
  "rpc_error",
  "tool_error",
  "http_error",
  "input_required",
  "canceled",
  "closed_by_client",
  "closed_by_server",
  "gateway_error",
]);
export type Outcome = z.infer<typeof outcomeSchema>;

const milliseconds = z.number().nullable();

/** What a request waited for while its server was not ready. Milliseconds; null: not needed, or unknown. */
const startAttemptSchema = z.object({
  /**
   * The runner's work for it; `ready`: none, as the server was up; `asleep`: none, as the gateway answered in its place
   * (GW-12).
   */
  outcome: z.enum(["ready", "started", "woken", "failed", "asleep"]),
  /** Waiting for a pause after crashes, and for a place on the host. */
  placeMs: milliseconds,
  /** From starting the process until it answered. */
  startMs: milliseconds,
  /** From frozen to ready. */
  wakeMs: milliseconds,
  /** The runner's error code if it failed. */
  reason: z.string().nullable(),
});
export type StartAttempt = z.infer<typeof startAttemptSchema>;

/** One row of the request log for people and programs; safe to send to members of the project. */
export const requestLogEntrySchema = z.object({
  id: z.uuid(),
  requestId: z.uuid().describe("what the client got as `towpath-request-id`; messages of one batch share it"),
  /** UTC, milliseconds. */
  time: z.iso.datetime(),
  /** Null for a request to a target that is no deployment. */
  deploymentId: z.uuid().nullable(),
  instanceId: z.string().nullable().describe("the server process that got it; null when none did"),
  kind: z.string(),
  httpMethod: z.string(),
  method: z.string().nullable(),
  /** Tool name of a `tools/call`, else null. */
  tool: z.string().nullable(),
  target: z.string().nullable().describe("tool name, prompt name or resource URI"),
  httpStatus: z.number().int(),
  isError: z.boolean().describe("failed, and was not refused"),
  /** So not the server's failure. */
  isRefused: z.boolean().describe("refused by the gateway before a server was asked"),
  errorCode: z.number().int().nullable(),
  errorMessage: z.string().nullable(),
  /** Such as `unauthorized`; null if it didn't. */
  refusal: z.string().nullable().describe("why the gateway refused it"),
  outcome: z.string(),
  durationMs: z.number(),
  heldMs: z.number().describe("part of `durationMs` spent waiting for a starting or waking server"),
  /** Null if it wasn't, or if unknown. */
  serverMs: milliseconds.describe("part of `durationMs` from when the request was sent to the server"),
  startAttempt: startAttemptSchema.nullable(),
  requestBytes: z.number().int(),
  responseBytes: z.number().int(),
  protocolVersion: z.string().nullable(),
  /** `name version` of the client, or its name alone. */
  client: z.string().nullable(),
  clientName: z.string().nullable(),
  clientVersion: z.string().nullable(),
  session: z.string().nullable(),
  principal: z.string(),
  traceId: z.string().nullable(),
  kept: z
    .enum(keptStates)
    .nullable()
    .describe("the state of the result of a call that may be asked for again; null: it may not"),
});
export type RequestLogEntry = z.infer<typeof requestLogEntrySchema>;

/** The columns of a row that lists leave out. */
export const requestLogPayloads = z.object({
  requestPayload: z.unknown().describe("null unless the server's payloads are captured"),
  responsePayload: z.unknown(),
  /** The payload was cut. */
  requestTruncated: z.boolean(),
  responseTruncated: z.boolean(),
});
export type RequestLogDetail = RequestLogEntry & z.infer<typeof requestLogPayloads>;

/** A page of the request log, newest first. `nextCursor`: where the next page begins; null if there is none. */
export type RequestLogPage = {
  data: RequestLogEntry[];
  limit: number;
  offset: number;
  hasMore: boolean;
  nextCursor: string | null;
};

/** Numbers above the request log. Facets ignore the method filter, so that the other choices stay visible. */
export type RequestLogStats = {
  total: number;
  /** Failures, except those that the gateway refused (4xx) before it called a server. */
  errors: number;
  refused: number;
  /** Refused by a limit (429), a part of `refused`. In a flood, only some have rows and are counted. */
  limited: number;
  /** Milliseconds, within 6 %; null without rows. */
  p50Ms: number | null;
  p95Ms: number | null;
  p99Ms: number | null;
  startDate: string;
  endDate: string;
  bucketMs: number;
  /** Every bucket of the range in order, including empty ones. */
  buckets: { start: string; total: number; errors: number; refused: number }[];
  methods: { method: string; total: number; errors: number }[];
  tools: { tool: string; total: number; errors: number }[];
};
