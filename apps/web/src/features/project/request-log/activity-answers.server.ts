import { serverLogEntrySchema } from "@towpath/logs";
import { requestLogEntrySchema, requestLogPayloads } from "@towpath/logs/schema";
import { sessionEntrySchema, userEntrySchema } from "@towpath/logs/sessions";
import { attemptFaultSchema, signInAttemptSchema } from "@towpath/logs/sign-ins";
import { z } from "zod";
import { listOf, named } from "~/http/rest/answer-names.ts";

// REST answers about the use of servers: request log, server log, sign-ins, sessions, users.

const logEntry = named(
  "RequestLogEntry",
  requestLogEntrySchema.extend({
    principalName: z.string().nullable().describe("who `principal` is; null for a former member"),
  }),
);

const serverLine = named("ServerLogLine", serverLogEntrySchema);

const signInAttempt = named(
  "SignInAttempt",
  signInAttemptSchema.omit({ userId: true, keyId: true }).extend({
    person: z.string().nullable().describe("email address of the member who signed in"),
    key: z.string().nullable().describe("name of the API key"),
    explanation: z.object({ title: z.string(), text: z.string() }).nullable(),
    faults: listOf(attemptFaultSchema.extend({ title: z.string(), text: z.string() })).describe(
      "what the client did wrong although it got on, and what was done about it",
    ),
  }),
);

const nextCursor = z.string().nullable().describe("pass it as `cursor`; null on the last page");

/** By the operation's id. */
export const activityAnswers = {
  queryLogs: z.object({
    data: z.array(logEntry),
    limit: z.number().int(),
    offset: z.number().int(),
    hasMore: z.boolean(),
    nextCursor,
  }),
  readLogEntry: logEntry.extend({
    ...requestLogPayloads.shape,
    lines: listOf(serverLine.extend({ deploymentId: z.uuid() })),
    hasMoreLines: z.boolean(),
  }),
  readServerLog: z.object({ deploymentId: z.uuid().nullable(), data: z.array(serverLine) }),
  listSignIns: z.object({
    attempts: listOf(signInAttempt),
    leftOut: z.number().int().describe("steps that were left out, because there were too many at a time"),
  }),
  listSessions: z.object({ data: z.array(named("Session", sessionEntrySchema)), nextCursor }),
  listUsers: z.object({ data: z.array(named("User", userEntrySchema)), nextCursor }),
};
