import { checkCaller } from "@towpath/auth/credentials";
import type { RequestLogRow } from "@towpath/logs";
import { type Redactor, withoutSecretMembers } from "@towpath/secrets/redaction";
import type { Logged } from "../call/states.ts";

/** A call that may be replayed: only read-only tools, or those that the project names, and no bigger request. */
const maxBytes = 16 * 1024;

/** A request that succeeded, whose arguments are still to be looked at. */
export type Candidate = { readonly tool: string; readonly body: Buffer; readonly redactor: Redactor };
type Arguments = Readonly<Record<string, unknown>>;

/** What a recorded call may add to the sample; null: nothing. Cheap, and reads no body: it runs for each call. */
export function candidateOf(
  { received, principal, body, peek }: Logged,
  rows: readonly RequestLogRow[],
): Candidate | null {
  const { replay } = received.route;
  const [row, ...others] = rows;
  if (replay === null || row === undefined || others.length > 0) return null;
  if (row.method !== "tools/call" || row.outcome !== "ok" || row.deploymentId === null) return null;
  if (peek?.kind !== "request" || peek.target === null || !replay.tools.includes(peek.target)) return null;
  if (principal?.id === checkCaller || !body || body.length > maxBytes) return null;
  const { redactor } = received.answer;
  return redactor === null ? null : { tool: peek.target, body, redactor };
}

/**
 * The arguments of a candidate; null where they can't be replayed as they were: redaction would change them, the call is
 * part of a conversation (a task, an answer to a question), or a number would be written otherwise.
 */
export function argumentsOf({ tool, body, redactor }: Candidate): Arguments | null {
  try {
    const { params } = parseExactly(body.toString("utf8")) as { params?: Arguments };
    const { name, arguments: given = {}, _meta, ...more } = params ?? {};
    if (name !== tool || Object.keys(more).length > 0) return null;
    if (typeof given !== "object" || given === null || Array.isArray(given)) return null;
    const kept = redactor.json(withoutSecretMembers(given));
    return JSON.stringify(kept) === JSON.stringify(given) ? (given as Arguments) : null;
  } catch {
    return null;
  }
}

/** @throws Error also for a number that JavaScript would write otherwise, such as 1.0, or would round */
function parseExactly(text: string): unknown {
  const revive = (_name: string, value: unknown, { source }: { readonly source?: string }) => {
    if (typeof value === "number" && String(value) !== source) throw new Error("A number can't be kept as it is.");
    return value;
  };
  // The source of values is not in the types yet.
  return JSON.parse(text, revive as (name: string, value: unknown) => unknown);
}

/** The same for calls whose arguments have the same names and types. */
export const shapeOf = (given: Arguments): string =>
  Object.entries(given)
    .map(([name, value]) => `${name}:${value === null ? "null" : Array.isArray(value) ? "array" : typeof value}`)
    .toSorted()
    .join("\n");

/** The same for equal arguments, in any order of their members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
