import { z } from "zod";

const count = z.number().int();
const latencySchema = z.object({ median: z.number(), slowest: z.number() });
const kindSchema = z.enum(["lost", "added", "type", "value", "error", "slower", "no-answer"]);
export const verdictSchema = z.enum(["same", "different", "inconclusive"]);

const differenceSchema = z.object({
  kind: kindSchema,
  path: z.string().describe("where in the answer; empty: all of it"),
  was: z.string().nullable(),
  is: z.string().nullable(),
  calls: count.describe("calls that show it"),
  counts: z.boolean().describe("false: shown only, as callers can't depend on it"),
  text: z.string().describe("for people"),
});

const toolSchema = z.object({
  tool: z.string(),
  replayed: count,
  different: count,
  differences: z.array(differenceSchema).readonly(),
  moreDifferences: count,
  latency: z.object({ production: latencySchema, preview: latencySchema }).nullable().describe("milliseconds"),
  examples: z
    .array(
      z.object({
        callId: z.string(),
        arguments: z.string(),
        production: z.string(),
        preview: z.string(),
        differences: z
          .array(differenceSchema.pick({ kind: true, path: true, was: true, is: true, counts: true }))
          .readonly(),
      }),
    )
    .readonly()
    .describe("calls with both answers, cut"),
});

/** `ReplayReport` of packages/replay. */
const replayReportSchema = z.object({
  verdict: verdictSchema,
  seconds: z.number(),
  requests: count,
  tools: z.array(toolSchema).readonly(),
  notCompared: z
    .array(
      z.object({
        tool: z.string(),
        calls: count,
        reason: z.enum(["calls", "seconds", "ended", "flaky", "report"]),
        text: z.string(),
      }),
    )
    .readonly(),
});

const choiceSchema = z.object({
  tool: z.string().nullable().describe("null: it called none"),
  arguments: z.string().nullable().describe("JSON, cut"),
});

/** `ChoiceReport` of packages/replay. */
const questionReportSchema = z.object({
  verdict: verdictSchema,
  model: z.string().nullable().describe("null: no model was asked"),
  seconds: z.number(),
  calls: count.describe("of the model"),
  tokens: count.describe("of input and output"),
  questions: z
    .array(
      z.object({
        question: z.string(),
        state: z
          .enum(["same", "other-tool", "other-arguments", "unstable", "failed", "not-asked"])
          .describe("`unstable`: it chooses in different ways with the same tools, so nothing follows"),
        production: choiceSchema.nullable(),
        preview: choiceSchema.nullable(),
        text: z.string().describe("for people"),
      }),
    )
    .readonly(),
});
export type QuestionReport = z.output<typeof questionReportSchema>;

const versionSchema = z.object({ buildId: z.string(), commitSha: z.string() });

/** What is stored of a replay that has ended. */
export const replayDocumentSchema = z.object({
  /** What was live in production; null: nothing. */
  production: versionSchema.nullable(),
  /** Why nothing was replayed, or what may explain differences; sentences for people. */
  remarks: z.array(z.string()).readonly(),
  /** Whether the settings asked for calls. Documents of earlier releases lack it. */
  isReplayed: z.boolean().default(true),
  /** Null: nothing was replayed. */
  report: replayReportSchema.nullable(),
  /** Null: the settings ask none. Documents of earlier releases lack it. */
  questions: questionReportSchema.nullable().default(null),
});
export type ReplayDocument = z.output<typeof replayDocumentSchema>;

export const replayViewSchema = z.object({
  state: z
    .enum(["off", "fork", "production", "none", "waiting", "running", "done", "replaced"])
    .describe(
      "`off`: the setting is; `fork`, `production`: nothing of these is replayed; `none`: not yet; `replaced`: by a newer commit's",
    ),
  /** What the state or the verdict means. */
  text: z.string().describe("for people"),
  verdict: verdictSchema
    .nullable()
    .describe("of calls and questions together; `report` and `questions` have their own"),
  calls: count.describe("that were compared"),
  different: count.describe("of these"),
  tools: count.describe("that they called"),
  isRequired: z.boolean().describe("whether the check fails where answers or choices are different"),
  mayReplay: z.boolean().describe("whether you may have calls replayed on it now"),
  requestedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  production: versionSchema.nullable(),
  remarks: z.array(z.string()).readonly(),
  report: replayReportSchema.nullable(),
  questions: questionReportSchema
    .nullable()
    .describe("which tools a model chose for the saved questions; null: none are asked"),
});
export type ReplayView = z.output<typeof replayViewSchema>;
