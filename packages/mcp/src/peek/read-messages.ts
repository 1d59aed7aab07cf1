import { isUtf8 } from "node:buffer";
import { compileShape, JsonScanner } from "./json-scanner.ts";

/** The request in one message of a body. */
type StatedMessage = {
  method: string | null;
  /** `params.name`: of the tool or prompt. */
  name: string | null;
};

export type StatedMessages = { isBatch: boolean; messages: readonly StatedMessage[] };

/** The members that determine a message's request. */
const shape = compileShape({ method: true, params: { name: true } });

/**
 * All messages of a request's body, of any size: for decisions, where `peekRequest` is for the log. Null for a
 * body that two parsers could read differently, so that the server might run what was not checked: not UTF-8 (Python's
 * `json` detects UTF-16 and UTF-32), not strictly JSON (`NaN`, a byte order mark), one of these members given twice, or a
 * batch within a batch.
 */
export function readMessages(body: Buffer): StatedMessages | null {
  if (!isUtf8(body)) return null;
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
  if (statesTwice(body)) return null;
  const items: unknown[] = Array.isArray(value) ? value : [value];
  if (items.some(Array.isArray)) return null;
  return { isBatch: Array.isArray(value), messages: items.map(statedBy) };
}

function statesTwice(body: Buffer): boolean {
  const scanner = new JsonScanner(shape, { budget: Number.POSITIVE_INFINITY, onMessage: () => {} });
  scanner.push(body);
  return scanner.hasRepeats;
}

function statedBy(message: unknown): StatedMessage {
  const { method, params } = membersOf(message);
  return { method: text(method), name: text(membersOf(params).name) };
}

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
