import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { harnessFailureCodes } from "@towpath/core/build/contract";
import { z } from "zod";
import { bridges, type HarnessStatus, prewarmObstacles } from "../../port/servers.ts";
import { storableText } from "../process/lines.ts";

const maxStatusBytes = 256 * 1024;

// It is kept in builds and logs, and quotes what a tenant wrote.
const text = z.string().transform(storableText);

const harnessStatusSchema = z.discriminatedUnion("state", [
  z.object({
    state: z.literal("ready"),
    kind: text,
    frameworks: z.record(text, text),
    importMs: z.number(),
    bridge: z.enum(bridges).optional(),
    incomplete: z.object({ reason: text, tools: z.array(text) }).optional(),
    prewarm: z.enum(["used", ...prewarmObstacles]).optional(),
  }),
  z.object({
    state: z.literal("failed"),
    code: z.enum(harnessFailureCodes),
    message: text,
    file: text.nullable(),
    line: z.number().nullable(),
    module: text.nullable(),
    candidates: z.array(text),
    traceback: text.nullable(),
  }),
]);

const prewarmStatusSchema = z.discriminatedUnion("state", [
  /** It has imported the frameworks and waits for its server. */
  z.object({ state: z.literal("prewarmed") }),
  z.object({ state: z.literal("unsuitable"), reason: text }),
]);
export type PrewarmStatus = z.infer<typeof prewarmStatusSchema>;

/** What the harness said; null while it has said nothing (or nothing that is well-formed). */
export const readHarnessStatus = (path: string): Promise<HarnessStatus | null> => readStatus(path, harnessStatusSchema);

/** The same of an interpreter that has no server yet. */
export const readPrewarmStatus = (path: string): Promise<PrewarmStatus | null> => readStatus(path, prewarmStatusSchema);

async function readStatus<Status>(path: string, schema: z.ZodType<Status>): Promise<Status | null> {
  try {
    const status = schema.safeParse(JSON.parse((await readBounded(path, maxStatusBytes)) ?? ""));
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
