import { z } from "zod";

// Browser-safe: the errors page checks its search parameters with the same schema.

/** Open groups that a project may have; further failures are counted together. Also the most that it has in any state. */
export const maxOpenGroups = 500;
export const maxGroups = 2000;

const errorStateSchema = z.enum(["open", "resolved", "ignored"]);
export type ErrorState = z.infer<typeof errorStateSchema>;

const errorSortSchema = z.enum(["lastSeen", "firstSeen", "count"]);

/** Which groups of a project. */
export const errorListSchema = z.object({
  state: z.enum([...errorStateSchema.options, "all"]).default("open"),
  /** Exact: a tool, prompt or resource. */
  tool: z.string().max(1024).optional(),
  /** Part of the title, the tool, the file or the function, case-insensitive. */
  search: z.string().max(512).optional(),
  /** Latest, or most frequent, first. */
  sort: errorSortSchema.default("lastSeen"),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  offset: z.coerce.number().int().min(0).max(maxGroups).default(0),
});
export type ErrorListInput = z.input<typeof errorListSchema>;

/** Groups that change at once. */
const maxChanged = 200;
export const errorChangeSchema = z.object({ state: errorStateSchema });
export const errorChangesSchema = errorChangeSchema.extend({
  ids: z
    .array(z.uuid(), { error: "Give the ids of errors" })
    .min(1, "Choose at least one error")
    .max(maxChanged, `Change at most ${maxChanged} errors at once`),
});

const instant = z.iso.datetime();

/** A group in a list. */
export const errorSummarySchema = z.object({
  id: z.uuid(),
  title: z.string().describe("the exception's last line, or the message, of the newest failure"),
  exception: z.string().nullable().describe("its type; null where the server logged no traceback"),
  method: z.string().nullable(),
  target: z.string().nullable().describe("tool name, prompt name or resource URI; null: the whole server"),
  frame: z
    .object({ file: z.string(), line: z.number().int(), name: z.string() })
    .nullable()
    .describe("the innermost frame of the server's own code"),
  state: errorStateSchema,
  isBack: z.boolean().describe("it was resolved, and came back"),
  isOverflow: z.boolean().describe("counts what is beyond the number of groups that a server may have"),
  count: z.number().int(),
  firstSeen: instant,
  lastSeen: instant,
  openedAt: instant.describe("when it was new, or came back"),
  resolvedAt: instant.nullable(),
  firstDeploymentId: z.uuid().nullable().describe("the deployment that brought it"),
  lastDeploymentId: z.uuid().nullable(),
  lastDay: z.array(z.number().int()).readonly().describe("failures in each of the last 24 hours, oldest first"),
});
export type ErrorSummary = z.infer<typeof errorSummarySchema>;

const shares = z.array(z.object({ name: z.string(), count: z.number().int() })).readonly();

/** A group with all that is known of it. */
export const errorDetailSchema = errorSummarySchema.extend({
  lastMonth: z.array(z.number().int()).readonly().describe("failures in each of the last 30 days (UTC), oldest first"),
  callers: shares.describe("the most frequent, at most 30, as the request log names them"),
  hasMoreCallers: z.boolean(),
  clients: shares.describe("the most frequent, at most 30"),
  hasMoreClients: z.boolean(),
  samples: z
    .array(z.object({ id: z.uuid(), time: instant }))
    .readonly()
    .describe("rows of the request log, newest first"),
});
export type ErrorDetail = z.infer<typeof errorDetailSchema>;

/** A page of groups. */
export const errorPageSchema = z.object({
  data: z.array(errorSummarySchema).readonly(),
  total: z.number().int().describe("how many there are with these filters"),
  counts: z.object({ open: z.number().int(), resolved: z.number().int(), ignored: z.number().int() }),
  tools: z.array(z.string()).readonly().describe("that have groups, at most 100"),
});
export type ErrorPage = z.infer<typeof errorPageSchema>;
