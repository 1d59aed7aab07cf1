import { z } from "zod";
import type { CallResult } from "../inspector.schema.ts";
import { serverCallSchema } from "../inspector.schema.ts";
import { callWithoutSecrets } from "../share/sensitive.ts";
import { type CallRecord, maxRecords, newRecord } from "./call-record.ts";

/** The person and server of the calls: several people may use a browser. */
export type Place = { readonly userId: string; readonly projectId: string };

const prefix = "towpath:inspector:";
const keyOf = ({ userId, projectId }: Place) => `${prefix}${userId}:${projectId}`;
const limits = { resultLength: 32_000, totalLength: 500_000, days: 30 };

const resultSchema = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    result: z.record(z.string(), z.unknown()),
    durationMs: z.number(),
    connectMs: z.number(),
    protocolVersion: z.string(),
  }),
  z.object({ ok: z.literal(false), code: z.string(), rpcCode: z.number().nullable(), message: z.string() }),
]);
const recordSchema = z.object({
  id: z.string(),
  time: z.number(),
  item: z.string(),
  call: serverCallSchema,
  hidden: z.array(z.string()),
  outcome: resultSchema,
  requestId: z.string().nullable(),
  isResultDropped: z.boolean(),
});

/** The part of the browser's storage that is used here. */
type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Calls of an earlier visit, newest first; empty if they can't be read. Removes those of other people. */
export function readCalls(store: Store, place: Place, now: number): readonly CallRecord[] {
  const oldest = now - limits.days * 86_400_000;
  try {
    const keys = Array.from({ length: store.length }, (_, index) => store.key(index) ?? "");
    for (const key of keys)
      if (key.startsWith(prefix) && !key.startsWith(`${prefix}${place.userId}:`)) store.removeItem(key);
    const found = z.array(recordSchema).parse(JSON.parse(store.getItem(keyOf(place)) ?? "[]"));
    return found.filter(({ time }) => time > oldest).map((kept) => ({ ...newRecord(kept), ...kept }));
  } catch {
    return [];
  }
}

/**
 * Stores the ended calls, without secret arguments, results that contain one of them, and large results.
 */
export function keepCalls(
  store: Store,
  place: Place,
  records: readonly CallRecord[],
  schemaOf: (record: CallRecord) => unknown,
): void {
  try {
    const done = records.filter(({ outcome }) => outcome !== null).slice(0, maxRecords);
    let room = limits.totalLength;
    const kept = done
      .map((record) => JSON.stringify(keptOf(record, schemaOf(record))))
      .filter((text) => {
        room -= text.length;
        return room >= 0;
      });
    if (kept.length === 0) store.removeItem(keyOf(place));
    else store.setItem(keyOf(place), `[${kept.join(",")}]`);
  } catch {
    // The browser's storage is disabled or full.
  }
}

function keptOf(record: CallRecord, schema: unknown): z.infer<typeof recordSchema> {
  const { id, time, item, requestId } = record;
  const { call, hidden } = callWithoutSecrets(record.call, schema);
  const outcome = record.outcome as CallResult;
  const text = JSON.stringify(outcome);
  const isResultDropped =
    record.isResultDropped || text.length > limits.resultLength || shows(text, secretsOf(record, call));
  return {
    id,
    time,
    item,
    call,
    requestId,
    isResultDropped,
    hidden: [...new Set([...record.hidden, ...hidden])],
    outcome: isResultDropped ? withoutContent(outcome) : outcome,
  };
}

const withoutContent = (outcome: CallResult): CallResult =>
  outcome.ok
    ? { ...outcome, result: outcome.result.isError === true ? { isError: true } : {} }
    : { ...outcome, message: "The message wasn't kept." };

/** Texts of the arguments that aren't in `kept`. */
function secretsOf(record: CallRecord, kept: CallRecord["call"]): readonly string[] {
  const others = new Set(textsIn(kept));
  return textsIn(record.call).filter((text) => !others.has(text) && text.length >= 4);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const shows = (text: string, secrets: readonly string[]) =>
  secrets.some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)));
