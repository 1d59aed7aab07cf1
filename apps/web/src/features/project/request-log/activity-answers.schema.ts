import { signInProblems, signInStepKinds } from "@towpath/core/calling/oauth/sign-in-step";
import { z } from "zod";
import { listOf, named, time } from "~/http/rest/answer-names.ts";

// REST answers about the use of servers: request log, server log, sign-ins, sessions, users.

const text = z.string().nullable();
const milliseconds = z.number().nullable();

const logEntry = named(
  "RequestLogEntry",
  z.object({
    id: z.uuid(),
    requestId: z.uuid().describe("what the client got as `towpath-request-id`; messages of one batch share it"),
    time,
    deploymentId: z.uuid().nullable(),
    instanceId: text.describe("the server process that got it; null when none did"),
    kind: z.string(),
    httpMethod: z.string(),
    method: text,
    tool: text,
    target: text.describe("tool name, prompt name or resource URI"),
    httpStatus: z.number().int(),
    isError: z.boolean().describe("failed, and was not refused"),
    isRefused: z.boolean().describe("refused by the gateway before a server was asked"),
    errorCode: z.number().int().nullable(),
    errorMessage: text,
    refusal: text.describe("why the gateway refused it"),
    outcome: z.string(),
    durationMs: z.number(),
    heldMs: z.number().describe("part of `durationMs` spent waiting for a starting or waking server"),
    serverMs: milliseconds.describe("part of `durationMs` from when the request was sent to the server"),
    startAttempt: z
      .object({
        outcome: z.enum(["ready", "started", "woken", "failed", "asleep"]),
        placeMs: milliseconds,
        startMs: milliseconds,
        wakeMs: milliseconds,
        reason: text,
      })
      .nullable(),
    requestBytes: z.number().int(),
    responseBytes: z.number().int(),
    protocolVersion: text,
    client: text,
    clientName: text,
    clientVersion: text,
    session: text,
    principal: z.string(),
    principalName: text.describe("who `principal` is; null for a former member"),
    traceId: text,
  }),
);

const serverLine = named(
  "ServerLogLine",
  z.object({
    id: z.number().int(),
    time,
    instanceId: text,
    stream: z.enum(["stdout", "stderr", "platform"]),
    level: z.enum(["debug", "info", "warning", "error"]),
    requestId: z.uuid().nullable().describe("the request during which it was printed"),
    line: z.string(),
  }),
);

const signInStep = z.object({
  kind: z.enum(signInStepKinds),
  state: z.enum(["done", "failed", "waiting", "unreached"]),
  time: time.nullable(),
  problem: z.enum(signInProblems).nullable(),
  detail: text,
});

const signInAttempt = named(
  "SignInAttempt",
  z.object({
    id: z.string(),
    clientId: text,
    clientName: text,
    agent: text,
    network: text.describe("null for those who may not see it"),
    startedAt: time,
    lastAt: time,
    state: z.enum(["connected", "failed", "waiting", "unfinished"]),
    problem: z.enum(signInProblems).nullable(),
    endedAt: z.enum(signInStepKinds).describe("the failed step, or the last one that succeeded"),
    steps: listOf(signInStep),
    isProven: z.boolean().describe("a member did something in it, or valid credentials came with it"),
    person: text.describe("email address of the member who signed in"),
    key: text.describe("name of the API key"),
    explanation: z.object({ title: z.string(), text: z.string() }).nullable(),
  }),
);

const nextCursor = z.string().nullable().describe("pass it as `cursor`; null on the last page");
const seen = { firstSeen: time, lastSeen: time, calls: z.number().int(), errors: z.number().int() };

const session = named(
  "Session",
  z.object({
    id: z.string(),
    session: text.describe("its id in the request log; null: formed by principal, client and idle gap"),
    principal: z.string(),
    clientName: text,
    clientVersion: text,
    protocolVersion: text,
    deploymentId: z.uuid().nullable().describe("that of the newest call"),
    ...seen,
  }),
);

const user = named(
  "User",
  z.object({
    principal: z.string(),
    clientName: text,
    clientVersion: text,
    ...seen,
    course: listOf(z.number()).describe("calls over the time range, oldest first"),
  }),
);

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
    requestPayload: z.unknown().describe("null unless the server's payloads are captured"),
    responsePayload: z.unknown(),
    requestTruncated: z.boolean(),
    responseTruncated: z.boolean(),
    lines: listOf(serverLine.extend({ deploymentId: z.uuid() })),
    hasMoreLines: z.boolean(),
  }),
  readServerLog: z.object({ deploymentId: z.uuid().nullable(), data: z.array(serverLine) }),
  listSignIns: z.object({
    attempts: listOf(signInAttempt),
    leftOut: z.number().int().describe("steps that were left out, because there were too many at a time"),
  }),
  listSessions: z.object({ data: z.array(session), nextCursor }),
  listUsers: z.object({ data: z.array(user), nextCursor }),
};
