import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { harnessFailureCodes } from "@towpath/core/build/contract";
import { z } from "zod";
import { bridges, type HarnessStatus, prewarmObstacles } from "../../port/servers.ts";
import { storableText } from "../process/lines.ts";

export const maxStatusBytes = 256 * 1024;

// It is kept in builds and logs, and quotes what a tenant wrote.
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

/** What a server that is ready says of its start; null if that is not well-formed. */
export const parseReady = (text: string): Ready | null => parseStatus(text, readySchema);

/** Why the harness could not serve; null while it has reported nothing, or nothing that is well-formed. */
export const readFailure = (path: string): Promise<Failed | null> => readStatus(path, failedSchema);

/** The same of an interpreter that has no server yet. */
export const readPrewarmStatus = (path: string): Promise<PrewarmStatus | null> => readStatus(path, prewarmStatusSchema);

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
 * A file of the tenant's: it is not followed when it is a link, not waited for when it is a pipe, not read beyond a
 * limit. Null when it is empty, or none of these.
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
