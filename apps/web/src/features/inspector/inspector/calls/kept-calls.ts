import { isObject, isText } from "~/features/shared/project-screen/json.ts";
import type { CallResult, ServerCall } from "../server-call.ts";
import { callWithoutSecrets } from "../share/sensitive.ts";
import { type CallRecord, maxRecords, newRecord } from "./call-record.ts";
import { keysOf, type Place, prefix, type Store } from "./kept-keys.ts";

const keyOf = ({ userId, projectId }: Place) => `${prefix}${userId}:${projectId}`;
const limits = { resultLength: 32_000, totalLength: 500_000, days: 30 };

type KeptCall = Pick<CallRecord, "id" | "time" | "item" | "call" | "hidden" | "requestId" | "isResultDropped"> & {
  readonly outcome: CallResult;
};

function isCall(call: unknown): call is ServerCall {
  if (!isObject(call)) return false;
  if (call.kind === "resource") return isText(call.uri);
  if (!isText(call.name) || !isObject(call.arguments)) return false;
  return call.kind === "tool" || (call.kind === "prompt" && Object.values(call.arguments).every(isText));
}

function isOutcome(outcome: unknown): outcome is CallResult {
  if (!isObject(outcome)) return false;
  const { ok, result, durationMs, connectMs, protocolVersion, code, rpcCode, message } = outcome;
  if (ok === false) return isText(code) && isText(message) && (rpcCode === null || typeof rpcCode === "number");
  const isTimed = typeof durationMs === "number" && typeof connectMs === "number";
  return ok === true && isObject(result) && isTimed && isText(protocolVersion);
}

/** An earlier version of the page may have kept it in another shape. */
function isKept(kept: unknown): kept is KeptCall {
  if (!isObject(kept)) return false;
  const { id, time, item, call, hidden, outcome, requestId, isResultDropped } = kept;
  if (!isText(id) || typeof time !== "number" || !isText(item) || !isCall(call) || !isOutcome(outcome)) return false;
  if (!Array.isArray(hidden) || !hidden.every(isText)) return false;
  return (requestId === null || isText(requestId)) && typeof isResultDropped === "boolean";
}

/** Calls of an earlier visit, newest first; empty if they can't be read. Removes those of other people. */
export function readCalls(store: Store, place: Place, now: number): readonly CallRecord[] {
  const oldest = now - limits.days * 86_400_000;
  try {
    for (const key of keysOf(store)) if (!key.startsWith(`${prefix}${place.userId}:`)) store.removeItem(key);
    const found: unknown = JSON.parse(store.getItem(keyOf(place)) ?? "[]");
    if (!Array.isArray(found) || !found.every(isKept)) return [];
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

function keptOf(record: CallRecord, schema: unknown): KeptCall {
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
