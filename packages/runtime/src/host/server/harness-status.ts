import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { harnessFailureCodes } from "@towpath/core/delivery/build/contract";
import { z } from "zod";
import { bridges, type HarnessStatus, prewarmObstacles } from "../../port/servers.ts";
import { storableText } from "../process/lines.ts";

export const maxStatusBytes = 256 * 1024;

// Stored in builds and logs; quotes a tenant's text.
const text = z.string().transform(storableText);

const readySchema = z.object({
  state: z.literal("ready"),
  kind: text,
  frameworks: z.record(text, text),
  importMs: z.number(),
  bridge: z.enum(bridges).optional(),
  incomplete: z.object({ reason: text, tools: z.array(text) }).optional(),
  prewarm: z.enum(["used", ...prewarmObstacles]).optional(),
});
export type Ready = Extract<HarnessStatus, { state: "ready" }>;

const failedSchema = z.object({
  state: z.literal("failed"),
  code: z.enum(harnessFailureCodes),
  message: text,
  file: text.nullable(),
  line: z.number().nullable(),
  module: text.nullable(),
  candidates: z.array(text),
  traceback: text.nullable(),
});
type Failed = Extract<HarnessStatus, { state: "failed" }>;

const prewarmStatusSchema = z.discriminatedUnion("state", [
  /** It has imported the frameworks and waits for its server. */
  z.object({ state: z.literal("prewarmed") }),
  z.object({ state: z.literal("unsuitable"), reason: text }),
]);
export type PrewarmStatus = z.infer<typeof prewarmStatusSchema>;

/** The status of a server that is ready; null if it is malformed. */
export const parseReady = (text: string): Ready | null => parseStatus(text, readySchema);

/** The same of a start that failed. */
export const parseFailure = (text: string): Failed | null => parseStatus(text, failedSchema);

/** Why the harness could not serve; null if there is no well-formed report. */
export const readFailure = (path: string): Promise<Failed | null> => readStatus(path, failedSchema);

/** The status of an interpreter that has no server yet. */
export const readPrewarmStatus = (path: string): Promise<PrewarmStatus | null> => readStatus(path, prewarmStatusSchema);

export const parsePrewarmStatus = (text: string): PrewarmStatus | null => parseStatus(text, prewarmStatusSchema);

async function readStatus<Status>(path: string, schema: z.ZodType<Status>): Promise<Status | null> {
  return parseStatus((await readBounded(path, maxStatusBytes)) ?? "", schema);
}

function parseStatus<Status>(text: string, schema: z.ZodType<Status>): Status | null {
  try {
    const status = schema.safeParse(JSON.parse(text));
    return status.success ? status.data : null;
  } catch {
    return null;
  }
}

/**
 * Reads a file that a tenant controls: doesn't follow links, wait for pipes, or read beyond the limit. Null if it is
 * empty or not an ordinary file.
 */
export async function readBounded(path: string, maxBytes: number): Promise<string | null> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const { size } = await file.stat().then((stats) => (stats.isFile() ? stats : { size: 0 }));
    if (size === 0 || size > maxBytes) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } catch {
    return null;
  } finally {
    await file.close();
  }
}
